"""How candidates are chosen. Each function gives a text, which ``exploration=`` and the command line take."""

from __future__ import annotations

from . import _core

#: The names of all rules.
explorations: tuple[str, ...] = _core.exploration_names()


def ucb(alpha: float = _core.default_alpha, *, epsilon: float = 0.0) -> str:
    """The highest upper confidence bound, ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``: the paper's rule.

    Parameters
    ----------
    alpha : how much uncertainty attracts, at least 0
    epsilon : with this probability any candidate is chosen, each as likely as the others; every rule has it

    >>> import goblin
    >>> goblin.ucb(0.3, epsilon=0.05)
    'ucb:0.3+epsilon:0.05'
    """
    return _core.exploration("ucb", {"alpha": alpha}, epsilon)


def printed_bound(noise: float = 1.0, delta: float = 0.1, norm: float = 1.0, *, epsilon: float = 0.0) -> str:
    """The same with the widths of the paper's figures 1 and 2.

    Parameters
    ----------
    noise : how noisy rewards are, at least 0
    delta : the bound may fail with this probability
    norm : an upper bound on the length of the true vectors, at least 0

    >>> import goblin
    >>> goblin.printed_bound(noise=0.5)
    'printed_bound:0.5:0.1:1'
    """
    return _core.exploration("printed_bound", {"noise": noise, "delta": delta, "norm": norm}, epsilon)


def thompson(v: float, *, epsilon: float = 0.0) -> str:
    """The best candidate for a vector that is drawn from what is believed, ``w_i + v chol(C_i) z``.

    Parameters
    ----------
    v : a standard deviation: that of a reward's noise; between 0 and 1e100

    >>> import goblin
    >>> goblin.thompson(0.2)
    'thompson:0.2'
    """
    return _core.exploration("thompson", {"v": v}, epsilon)


def epsilon_greedy(epsilon: float) -> str:
    """The highest mean; with probability ``epsilon`` any candidate.

    >>> import goblin
    >>> goblin.epsilon_greedy(0.05)
    'epsilon_greedy:0.05'
    """
    return _core.exploration("greedy", {}, epsilon)


def greedy() -> str:
    """The highest mean, always.

    >>> import goblin
    >>> goblin.greedy()
    'greedy'
    """
    return _core.exploration("greedy", {}, 0.0)


def square_cb(gamma: float, *, epsilon: float = 0.0) -> str:
    """At random: each of K candidates with probability ``1 / (K + gamma (highest mean - its mean))``, the best with
    the rest.

    Parameters
    ----------
    gamma : at least 0; the larger, the more often the best one

    >>> import goblin
    >>> goblin.square_cb(100)
    'square_cb:100'
    """
    return _core.exploration("square_cb", {"gamma": gamma}, epsilon)
