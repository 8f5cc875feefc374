"""Numbers, shapes and arrays as short text, written the same way in pictures, the stepper and the trace.

Nothing here depends on a terminal: widths are counted in characters, and `ascii=True` keeps to plain ASCII.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize

if TYPE_CHECKING:
    import numpy.typing as npt

DIGITS = 4
"""The significant digits of a number, unless more are needed or less have room."""
FEW = 6
"""An array of at most this many numbers is always listed, if need be only its first numbers."""
_SHORTEST_STATISTICS = len("0 ± 0 [0, 0]")
_LONG_NUMBER = re.compile(r"\d+\.\d{5,}(e[-+]?\d+)?")
_NEGLIGIBLE = 0.1  # standard deviations: a mean so small is about zero, as that of most gradients
_MOST = 17  # that tell all numbers of float64 apart
_FEWEST = 2  # significant digits of each number in a list or a description
_LARGEST_LIST = 64  # longer arrays are described rather than listed, however wide the line
_REMEMBERED = 500  # texts of recorded arrays: a stepper writes mostly the same ones at every step


def format_number(x: Any, digits: int = DIGITS) -> str:
    """A number to `digits` significant digits: `0.7319`, `-3`, `1.2e-7`, `nan`, `-inf`, `1+2j`, `True`.

    Takes Python and numpy scalars and 0-d arrays. Integers are exact. Below a million, a float's whole part is never
    rounded away (`12345.67` is `12346`). Only zero is written as `0`, and negative zero keeps its sign.
    """
    if isinstance(x, np.ndarray | np.generic):
        x = x.item()
    if isinstance(x, bool | int):
        return str(x)
    if isinstance(x, complex):
        imaginary = format_number(x.imag, digits)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{format_number(x.real, digits)}{sign}{imaginary}j"
    x = float(x)
    text = f"{x:.{digits}g}"
    if "e" not in text and abs(x) < 999_999:  # most numbers are right already
        return text
    if not math.isfinite(x):
        return str(x)
    mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if -4 <= power < 6:
        return _without_trailing_zeros(f"{x:.{max(digits - 1 - power, 0)}f}")
    return f"{_without_trailing_zeros(mantissa)}e{power}"


def format_argument(text: str) -> str:
    """An argument as a line has room for it: `2.828` for `2.8284271247461903`, and `alpha=1.673`."""
    return _LONG_NUMBER.sub(lambda found: format_number(float(found[0])), text)


def format_different(x: Any, y: Any) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see the difference."""
    for digits in range(3, _MOST + 1):
        texts = format_number(x, digits), format_number(y, digits)
        if texts[0] != texts[1]:
            break
    return texts


def digits_of_sum(total: Value | float | None, *terms: Value | float | None) -> int:
    """How many digits of a sum of numbers tell it from each of its terms, for 1 + 0.0004 is not 1; 4 for arrays."""
    if not _is_number(total) or not np.isfinite(total):
        return DIGITS
    for digits in range(DIGITS, _MOST):
        text = format_number(total, digits)
        if all(not _is_number(one) or one == total or format_number(one, digits) != text for one in terms):
            return digits
    return _MOST


def _is_number(value: Value | float | None) -> TypeGuard[npt.NDArray[Any] | float]:
    return isinstance(value, float) or (isinstance(value, np.ndarray | np.generic) and not value.ndim)


def format_shape(shape: tuple[int, ...], *, ascii: bool = False) -> str:
    """`32×4` (`32x4` in ASCII), `8` for a vector of eight, `scalar` for no dimensions."""
    return ("x" if ascii else "×").join(map(str, shape)) if shape else "scalar"


def format_value(value: Value | None, width: int, *, digits: int = DIGITS, ascii: bool = False) -> str:
    """An array, a summary or None on one line of at most `width` characters.

    A small array is listed whole, `[1, 2.5, -3]` or nested, with fewer digits if that makes it fit; of one with a FEW
    numbers the first are listed, `[1, 2.5, …`. Otherwise it is described by its mean ± standard deviation and its
    extent, `0.12 ± 0.9 [-3.1, 2.8] 2 NaN`, as fully as the width allows; a count of NaN or Inf is the last part to be
    left out. In a narrow column the mean ± the standard deviation loses its digits, then its spaces, `-3e-5±0.001`, and
    a mean that is far smaller is about zero, `~0±0.001`. None is `None`, which is not zero. No number is ever cut
    short: where nothing fits, the text is an ellipsis.
    """
    if isinstance(value, np.ndarray) and value.ndim and not value.flags.writeable:
        return _written_before(_Recorded(value), width, digits, ascii)
    return _written(value, width, digits, ascii)


class _Recorded:
    """A read-only array as a dictionary key: the same object always has the same text."""

    __slots__ = ("array",)

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Recorded) and self.array is other.array


@lru_cache(_REMEMBERED)
def _written_before(one: _Recorded, width: int, digits: int, ascii: bool) -> str:
    return _written(one.array, width, digits, ascii)


@lru_cache(_REMEMBERED)
def _summarized_before(one: _Recorded) -> Summary:
    return summarize(one.array, pictures=False)


def _written(value: Value | None, width: int, digits: int, ascii: bool) -> str:
    for text in _candidates(value, digits, ascii, width):
        if len(text) <= width:
            return text
    ellipsis = "..." if ascii else "…"
    return ellipsis[: max(width, 0)]


def _candidates(value: Value | None, digits: int, ascii: bool, width: int) -> Iterator[str]:
    """Texts for the value, the best first."""
    if value is None:
        yield "None"
    elif isinstance(value, Summary):
        yield from _descriptions(value, digits, ascii, width)
    elif value.ndim == 0:
        yield from _numbers(value.item(), digits)
    else:
        if 0 < value.size <= _LARGEST_LIST and 3 * value.size <= width:  # each has a digit, a comma and a space
            yield from _shortened(partial(_listed, value.tolist()), digits, width)
        fixed = not value.flags.writeable
        about = _summarized_before(_Recorded(value)) if fixed else summarize(value, pictures=False)
        if 0 < value.size <= FEW and not about.nans + about.infs and about.min != about.max:
            yield from _begun(_listed(value.tolist(), _FEWEST), "..." if ascii else "…", width)
        yield from _descriptions(about, digits, ascii, width)


def _numbers(x: Any, digits: int) -> Iterator[str]:
    yield from (format_number(x, fewer) for fewer in range(digits, 0, -1))
    if isinstance(x, int) and not isinstance(x, bool):
        yield from (format_number(float(x), fewer) for fewer in range(digits, 0, -1))


def _shortened(write: Callable[[int], str], digits: int, width: int) -> Iterator[str]:
    """A text with fewer and fewer digits; nothing if even the shortest would be too long."""
    fewest = min(digits, _FEWEST)
    if len(write(fewest)) <= width:
        yield from map(write, range(digits, fewest - 1, -1))


def _begun(text: str, ellipsis: str, width: int) -> Iterator[str]:
    """The beginning of a list, `[[1, 2, …`; nothing if the first number does not fit."""
    end = text.rfind(", ", 0, max(width - len(ellipsis), 0)) + len(", ")
    if len(", ") <= end <= width - len(ellipsis):
        yield text[:end] + ellipsis


def _listed(x: Any, digits: int) -> str:
    """A number or a nested list of numbers; an empty dimension is `[]`."""
    if not isinstance(x, list):
        return format_number(x, digits)
    return "[" + ", ".join([_listed(row, digits) for row in x]) + "]"


def not_finite_counts(about: Summary, *, signed: bool = True) -> Iterator[tuple[int, str]]:
    """`3 NaN`, `1 +Inf`, `2 -Inf`, without those of which there are none; `3 Inf` if signs are not wanted or known."""
    infinite, negative = [(about.infs, "Inf")], about.negative_infs
    if signed and negative is not None:
        infinite = [(about.infs - negative, "+Inf"), (negative, "-Inf")]
    yield from ((count, what) for count, what in [(about.nans, "NaN"), *infinite] if count)


def _descriptions(about: Summary, digits: int, ascii: bool, width: int) -> Iterator[str]:
    """Texts for an array that is not listed."""
    size, bad = math.prod(about.shape), _not_finite(about)
    if size == 0:
        yield "[]"
    elif about.dtype == "bool":
        yield f"{size - about.zeros} of {size} True"
        yield f"{size - about.zeros}/{size}"
    elif about.min is None or about.max is None or about.mean is None or about.std is None:
        yield bad
    elif about.min == about.max and not about.nans + about.infs and not about.dtype.startswith("complex"):
        yield from (f"all {number}" for number in _numbers(about.min, digits))
    else:
        yield from _statistics((about.mean, about.std, about.min, about.max), about, digits, ascii, width, bad)
    if about.nans or about.infs:
        yield bad
        yield _not_finite(about, signed=False)
        yield "NaN" if about.nans else "Inf"


def _statistics(
    numbers: tuple[float, ...], about: Summary, digits: int, ascii: bool, width: int, bad: str
) -> Iterator[str]:
    of = "|z| " if about.dtype.startswith("complex") else ""
    plus_minus = "+-" if ascii else "±"
    zeros = f"{about.zeros} {'zero' if about.zeros == 1 else 'zeros'}" if about.zeros else ""

    def extent(tail: str, fewer: int) -> str:
        mean, std, low, high = [format_number(x, fewer) for x in numbers]
        return _join(f"{of}{mean} {plus_minus} {std} [{low}, {high}]", tail, bad)

    if width >= _SHORTEST_STATISTICS:  # else nothing fits: the tape's columns are narrow
        for tail in (zeros, "") if zeros else ("",):
            yield from _shortened(partial(extent, tail), digits, width)
    mean, std = (format_number(x, min(digits, _FEWEST)) for x in numbers[:2])
    yield _join(f"{of}{mean} {plus_minus} {std}", bad)
    if not bad:
        yield f"{mean} {plus_minus} {std}"
        roughly = [format_number(x, 1) for x in numbers[:2]]
        yield f" {plus_minus} ".join(roughly)
        yield plus_minus.join(roughly)
        if abs(numbers[0]) < _NEGLIGIBLE * numbers[1]:
            yield f"~0{plus_minus}{roughly[1]}"


def _not_finite(about: Summary, *, signed: bool = True) -> str:
    """`3 NaN 1 -Inf`, `all NaN`, or an empty text."""
    size = math.prod(about.shape)
    counts = not_finite_counts(about, signed=signed)
    return _join(*(f"all {what}" if count == size else f"{count} {what}" for count, what in counts))


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _without_trailing_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
