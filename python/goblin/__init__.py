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
- experiments: ``simulate``, ``sweep``; ``reproduce``, the paper's
- your own log: ``tune``, ``evaluate``, ``fit``
- a server, ``goblin serve``: ``Client``, ``ClientError``

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
from ._client import Accepted, Client, ClientError, Decided, RankedPlace
from ._core import DataError
from ._evaluate import Evaluation, evaluate
from ._events import write_events
from ._experiment import Sweep, Trace, simulate, sweep
from ._explanation import Contribution, Explanation, WidthShares
from ._exploration import epsilon_greedy, explorations, greedy, printed_bound, square_cb, thompson, ucb
from ._fit import fit
from ._graph import Clustering, Graph, cluster
from ._reproduce import Reproduction, reproduce
from ._tune import Tuning, tune
from ._types import Decision, Evidence, Ranking, Round, Scores, UnknownUser, UnknownUserWarning
from ._worlds import Catalogue, Cliques, Dataset, Linear, World

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "Bandit",
    "Catalogue",
    "Client",
    "ClientError",
    "Cliques",
    "Club",
    "Clustering",
    "Contribution",
    "DataError",
    "Dataset",
    "Decided",
    "Decision",
    "DynUcb",
    "Evaluation",
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
    "RankedPlace",
    "Ranking",
    "Reproduction",
    "Round",
    "Scores",
    "Sweep",
    "Trace",
    "Tuning",
    "UnknownUser",
    "UnknownUserWarning",
    "WidthShares",
    "World",
    "cluster",
    "datasets",
    "epsilon_greedy",
    "evaluate",
    "explorations",
    "fit",
    "greedy",
    "load",
    "networks",
    "policies",
    "printed_bound",
    "reproduce",
    "simulate",
    "square_cb",
    "sweep",
    "thompson",
    "tune",
    "ucb",
    "write_events",
]
