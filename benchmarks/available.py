"""Which engines are installed."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.engines import Autograd, Engine, Micrograd, MissingError, MyGrad, Numpy, Tinygrad, Torch
from benchmarks.formulas import Formulas

ENGINES: dict[str, Callable[[], Engine]] = {
    "numpy": Numpy,
    "formulas": Formulas,
    "microtape": lambda: Torch("microtape"),
    "torch": lambda: Torch("torch"),
    "autograd": Autograd,
    "mygrad": MyGrad,
    "micrograd": Micrograd,
    "tinygrad": Tinygrad,
}
"""In the order in which tables show them."""


def available() -> tuple[dict[str, Engine], dict[str, str]]:
    """The installed engines, and for each other engine the reason why it is missing."""
    engines, missing = {}, {}
    for name, make in ENGINES.items():
        try:
            engines[name] = make()
        except ModuleNotFoundError:
            missing[name] = "not installed"
        except MissingError as error:
            missing[name] = str(error).splitlines()[0]
    return engines, missing
