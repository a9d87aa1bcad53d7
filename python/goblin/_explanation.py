"""Whose rewards an estimate came from: what ``Bandit.explain`` gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._experiment import _axes

_MORE, _NONE, _LESS = "#2b83e0", "#eef0f3", "#e0662a"  # as in the drawings of the command line


class Contribution(NamedTuple):
    """How much of an estimate came from the rewards of one user: ``value`` may be off by ``bound``, which is 0 but for
    the engine ``local``.
    """

    user: Any
    value: float
    rewards: int
    bound: float


class WidthShares(NamedTuple):
    """Where the square of a width comes from: from the noise in the user's ``own`` rewards and in those of ``others``,
    from the ``prior``, which is what no reward has told, and from what ``local`` did not look at. They add up to 1.
    """

    own: float
    others: float
    prior: float
    unexplained: float


class Place(NamedTuple):
    """Where ``plot`` draws a user."""

    user: Any
    x: float
    y: float
    value: float
    contributes: bool


@dataclass(frozen=True, repr=False)
class Explanation:
    """Whose rewards the estimate ``mean`` came from; ``print`` shows it as a table.

    user : whose estimate it is
    mean, width : the estimate, and the half width of its confidence interval
    width_shares : where the square of the width comes from
    contributions : the largest ones, the largest first: ``(user, value, rewards, bound)``
    rest, rest_count : the sum of all others, and of how many users
    unexplained : with the engine ``local``, how far the contributions and the rest can be from the exact mean; else 0
    per_node : evidence is kept for nodes only (``evidence_per_node``); then ``contributions``, ``edges`` and ``places``
        are about nodes, by number: clusters, or everybody
    engine : what kept the belief
    edges : ``(user, user, weight)``: how the contributors hang together with the user
    places : where ``plot`` draws each of them; the first is the user
    """

    user: Any
    mean: float
    width: float
    width_shares: WidthShares
    contributions: list[Contribution]
    rest: float
    rest_count: int
    unexplained: float
    per_node: bool
    engine: str
    edges: list[tuple[Any, Any, float]]
    places: list[Place]
    _text: str = field(compare=False)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The contributions as columns, for a frame: ``pandas.DataFrame(explained.columns())``."""
        users = np.empty(len(self.contributions), dtype=object)
        users[:] = [one.user for one in self.contributions]
        numbers = {name: [getattr(one, name) for one in self.contributions] for name in ("value", "rewards", "bound")}
        return {"user": users, **{name: np.array(values) for name, values in numbers.items()}}

    def plot(self, ax: Any = None) -> Any:
        """Draws who contributed with matplotlib, into the given axes or new ones, which it gives back.

        The user is in the middle, friends around, their friends behind them. The colour of a node is its contribution;
        an edge is as thick as its weight. Small nodes contribute little or nothing, and are on the way to others.
        """
        axes = _axes(ax)
        from matplotlib.collections import LineCollection
        from matplotlib.colors import LinearSegmentedColormap

        at = {place.user: (place.x, place.y) for place in self.places}
        heaviest = max((weight for _, _, weight in self.edges), default=1.0)
        axes.add_collection(
            LineCollection(
                [[at[a], at[b]] for a, b, _ in self.edges],
                linewidths=[0.7 + 2.5 * weight / heaviest for _, _, weight in self.edges],
                colors="#bcc2c9",
                zorder=1,
            )
        )
        largest = max((abs(place.value) for place in self.places), default=0.0) or 1.0
        nodes = axes.scatter(
            [place.x for place in self.places],
            [place.y for place in self.places],
            c=[place.value for place in self.places],
            s=[450.0 if place.contributes or place is self.places[0] else 60.0 for place in self.places],
            cmap=LinearSegmentedColormap.from_list("contribution", [_LESS, _NONE, _MORE]),
            vmin=-largest,
            vmax=largest,
            edgecolors=["#1c1e21"] + ["#5f6670"] * (len(self.places) - 1),
            linewidths=[2.0] + [0.8] * (len(self.places) - 1),
            zorder=2,
        )
        for place in self.places:
            axes.annotate(
                _shown(place.user) + (f"\n{place.value:+.3g}" if place.contributes else ""),
                (place.x, place.y),
                (0, -14 if place.contributes or place is self.places[0] else -7),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
                parse_math=False,
            )
        axes.figure.colorbar(nodes, ax=axes, label="contribution to the mean", shrink=0.7)
        title = f"{_shown(self.user)}: mean {self.mean:.4g}, width {self.width:.4g}"
        axes.set_title(title, parse_math=False)
        axes.margins(0.2)
        axes.set_aspect("equal")
        axes.set_axis_off()
        return axes

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        listed = len(self.contributions)
        return (
            f"Explanation({self.user!r}: mean {self.mean:g}, width {self.width:g}, {listed} "
            f"contribution{'s' * (listed != 1)}, rest {self.rest:g})"
        )


def _shown(user: Any) -> str:
    """A name for a drawing, which names of a model file with bytes that are no UTF-8 would break."""
    return str(user).encode("utf-8", "backslashreplace").decode()
