"""The bundled examples with torch in their first line: the same order of nodes, gradients and errors."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

import microtape
from tests.parity.observe import Event, See, differences

FOLDER = Path(microtape.__file__).parent / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def observed(name: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The order of nodes in each pass of an example, its error, if any, and its tensors at the end."""
    file = str(FOLDER / f"{name}.py")
    source = Path(file).read_text().replace("import microtape as mt", f"import {module.__name__} as mt", 1)
    see = See(module, file)
    backward, grad = module.Tensor.backward, module.autograd.grad

    def watched_backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        with see.order(tensor):
            return backward(tensor, *args, **kwargs)

    def watched_grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        with see.order(outputs):
            return grad(outputs, *args, **kwargs)

    namespace: dict[str, Any] = {"__name__": "__main__"}
    with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(module.Tensor, "backward", watched_backward)
        patch.setattr(module.autograd, "grad", watched_grad)
        try:
            exec(compile(source, file, "exec"), namespace)
        except RuntimeError as error:
            see.events.append(Event(0, see._raised(error)))
    for variable, value in sorted(namespace.items()):
        if isinstance(value, module.Tensor):
            see(variable)
            see.value(value, value.grad if value.is_leaf else None)
    return see.events


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_does_on_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    theirs = observed(name, torch, monkeypatch)
    ours = observed(name, microtape, monkeypatch)
    assert [event for event in ours if isinstance(event.seen, list) and len(event.seen) > 2], "no pass was watched"
    assert not (found := differences(theirs, ours)), "\n".join(found)
