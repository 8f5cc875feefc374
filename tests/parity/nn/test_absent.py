"""What `torch.nn` has and microtape does not have says in one line that it is not here, and what to do."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import microtape.nn.functional
import microtape.nn.init
import microtape.optim.lr_scheduler
import microtape.utils.data

MODULES = ("nn", "nn.functional", "nn.init", "optim", "optim.lr_scheduler", "utils.data")
_NOT_DOCUMENTED = ("_with_indices", "boolean_dispatch", "assert_int_or_pair", "native_channel_shuffle")


def documented(module: ModuleType) -> list[str]:
    """The classes, the functions of `nn.functional` that are not in place, and those of `nn.init`, which are."""
    names = {name: getattr(module, name) for name in dir(module) if name[0] != "_"}
    found = [
        name
        for name, value in names.items()
        if isinstance(value, type) and name[0].isupper() and value.__module__.startswith(module.__name__)
    ]
    if module.__name__ in ("torch.nn.functional", "torch.nn.init"):
        functions = [name for name, value in names.items() if inspect.isroutine(value) and "torch_function" not in name]
        in_place = module.__name__ == "torch.nn.init"
        found += [name for name in functions if name.endswith("_") == in_place]
    return [name for name in found if not name.endswith(_NOT_DOCUMENTED)]


@pytest.mark.parametrize("name", MODULES)
def test_what_is_not_here_says_what_to_do(name: str) -> None:
    import torch

    theirs, ours = torch, microtape
    for part in name.split("."):
        theirs, ours = getattr(theirs, part), getattr(ours, part)
    silent = []
    for wanted in documented(theirs):
        try:
            getattr(ours, wanted)
        except AttributeError as error:
            silent += [wanted] * ("run the program on PyTorch" not in str(error))
    assert not silent
