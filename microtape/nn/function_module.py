"""Modules that are a function of `nn.functional` with options: activations, losses, pools."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from microtape.nn.module import Module

REQUIRED = inspect.Parameter.empty


class FunctionModule(Module):
    """Common: a subclass names its function, and its options in their order with the usual values.

    Each option is an attribute; the function gets them by name. Raises TypeError for arguments that do not fit.
    """

    function: ClassVar[Callable[..., Any]]
    options: ClassVar[dict[str, Any]] = {}
    shown: ClassVar[tuple[str, ...]] = ()  # those in the module's text

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=usual)
                for name, usual in cls.options.items()
            ]
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = type(self).__signature__.bind(*args, **kwargs)  # type: ignore[attr-defined]
        given.apply_defaults()
        for name, value in given.arguments.items():
            self._set_option(name, value)

    def _set_option(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def given(self) -> dict[str, Any]:
        """The options that the function gets."""
        return {name: getattr(self, name) for name in self.options}

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the function makes of the inputs; its docstring has the shapes and errors."""
        return type(self).function(*inputs, **named, **self.given())

    def extra_repr(self) -> str:
        """The options in the module's text; `inplace` only where it is chosen."""
        options = [f"{name}={getattr(self, name)!r}" for name in self.shown]
        return ", ".join([*options, *(["inplace=True"] if getattr(self, "inplace", False) else [])])
