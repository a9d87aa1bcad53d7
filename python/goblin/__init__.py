"""goblin: contextual bandits that learn over a social graph.

What one user's click teaches, the user's friends get to know too:

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2, alpha=0.1)
>>> items = [[1.0, 0.0], [0.0, 1.0]]
>>> bandit.update("ann", items[1], 1.0)
>>> bandit.select("bob", items)
1

- policies: ``GobLin``, ``LinUcbSin``, ``LinUcbInd``, ``GobLinMacro``, ``GobLinBlock``, ``GobLinHub``, ``LinUcbHash``,
  ``Club``, ``DynUcb``; ``policies`` has their names, ``load`` reads a model file; ``write_events`` writes a log for
  ``goblin fit``
- exploration: ``ucb``, ``printed_bound``, ``thompson``, ``epsilon_greedy``, ``greedy``, ``square_cb``
- graphs: ``Graph``, ``cluster``, ``networks``
- worlds: ``Cliques``, ``Linear``, ``Catalogue`` of a ``Dataset``; ``datasets``
- experiments: ``simulate``, ``sweep``

``help(goblin.GobLin)`` explains the algorithm.
"""

from . import datasets, networks
from ._bandits import (
    Bandit,
    Club,
    DynUcb,
    GobLin,
    GobLinBlock,
    GobLinHub,
    GobLinMacro,
    LinUcbHash,
    LinUcbInd,
    LinUcbSin,
    load,
    policies,
)
from ._core import DataError
from ._events import write_events
from ._experiment import Sweep, Trace, simulate, sweep
from ._explanation import Contribution, Explanation, WidthShares
from ._exploration import epsilon_greedy, explorations, greedy, printed_bound, square_cb, thompson, ucb
from ._graph import Clustering, Graph, cluster
from ._types import Decision, Evidence, Round, Scores, UnknownUser
from ._worlds import Catalogue, Cliques, Dataset, Linear, World

__version__ = "0.1.0"

__all__ = [
    "Bandit",
    "Catalogue",
    "Cliques",
    "Club",
    "Clustering",
    "Contribution",
    "DataError",
    "Dataset",
    "Decision",
    "DynUcb",
    "Evidence",
    "Explanation",
    "GobLin",
    "GobLinBlock",
    "GobLinHub",
    "GobLinMacro",
    "Graph",
    "LinUcbHash",
    "LinUcbInd",
    "LinUcbSin",
    "Linear",
    "Round",
    "Scores",
    "Sweep",
    "Trace",
    "UnknownUser",
    "WidthShares",
    "World",
    "cluster",
    "datasets",
    "epsilon_greedy",
    "explorations",
    "greedy",
    "load",
    "networks",
    "policies",
    "printed_bound",
    "simulate",
    "square_cb",
    "sweep",
    "thompson",
    "ucb",
    "write_events",
]
