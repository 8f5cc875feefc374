"""Operations that have no derivative, but are recorded all the same, so that backward can name them in its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from microtape.errors import AutogradError
from microtape.ops.shared.kinds import Promoting
from microtape.tape.operation import call


class UndefinedBackward(Promoting):
    __slots__ = ("compute", "function_name")
    operands = ()

    def __init__(self, function_name: str, compute: Callable[..., Any]) -> None:
        super().__init__()
        self.function_name = function_name
        self.compute = compute

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::NotImplemented"

    def forward(self, *arrays: Any) -> Any:
        return self.compute(*arrays)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Raise AutogradError, naming the function."""
        raise AutogradError(
            f"derivative for aten::{self.function_name} is not implemented", ("recorded", self.call_site)
        )


UndefinedBackward.__name__ = "NotImplemented"


def call_undefined(function_name: str, compute: Callable[..., Any], *operands: Any) -> Any:
    """`operation.call` for a function without a derivative."""
    return call(UndefinedBackward(function_name, compute), *operands)
