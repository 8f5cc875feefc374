"""torch's `utils` namespace: checkpointing, hooks that are not pickled, and, once it is asked for, `data`."""

import importlib
import typing

from microtape.absent import lacking as _lacking
from microtape.utils import checkpoint, hooks

if typing.TYPE_CHECKING:
    from microtape.utils import data as data

_refuse = _lacking(__name__)
__all__ = ["checkpoint", "data", "hooks"]


def __getattr__(name: str) -> typing.Any:
    if name == "data":
        return importlib.import_module("microtape.utils.data")
    return _refuse(name)
