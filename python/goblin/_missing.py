"""What to say where a value is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ADVICE = {
    "number": "; where a number is missing, fill it in, with the mean of its column for instance, or leave the row out",
    "reward": "; a reward that is not known is left out, with its row",
}


def advice(of: str) -> str:
    """What to do about a missing ``"number"`` or ``"reward"``: the end of a message."""
    return _ADVICE[of]


def check_finite(name: str, array: NDArray[np.float64], of: str) -> None:
    """Refuses an array with a nan or an infinity, and says where it stands."""
    good = np.isfinite(array)
    if not good.all():
        place = tuple(int(k) for k in np.argwhere(~good)[0])
        remedy = advice(of) if np.isnan(array[place]) else ""
        raise ValueError(f"{name}{list(place)}: {array[place]} (must be finite){remedy}")


def first_missing(given: Any, name: str) -> str | None:
    """The message about the first value that stands for a missing one, where there is one: None, nan, pandas.NA."""
    try:
        array = np.asarray(given, dtype=object)
    except ValueError:
        return None
    for place, value in np.ndenumerate(array):
        if (
            value is None
            or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, float) and np.isnan(value))
        ):
            shown = ", ".join(str(k) for k in place)
            of = "reward" if name == "rewards" else "number"
            return f"{name}[{shown}]: {value!r} (must be a number){advice(of)}"
    return None
