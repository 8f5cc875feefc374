"""The forms of systems that are not PyTorch but have its autograd, for those who come from there. Nothing uses them.

R torch    `NamedFunction`: saved tensors, needed gradients and returned gradients by name; `grad(only_inputs=False)`
libtorch   `CppFunction`: lists of tensors, and `ctx.saved_data`
OneFlow    `backward(outputs, out_grads, ...)`
"""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from microtape.errors import GradientError, UnusedInputError
from microtape.functions.function import Function
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.tensor_state import edge_of
from microtape.tensors import differentiate
from microtape.tensors.tensor import Tensor


class _Context:
    """A ctx in another dialect: what it does not know itself, the real one does."""

    def __init__(self, ctx: Any, cls: Any) -> None:
        vars(self).update(ctx=ctx, cls=cls)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["ctx"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.ctx, name, value)


class NamedContext(_Context):
    """R torch's ctx: what is saved has names, and so have the arguments."""

    def save_for_backward(self, **values: Any) -> None:
        """Keep tensors, and any other objects, for backward, which finds them as attributes of `ctx.saved`."""
        tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        self.ctx.save_for_backward(*tensors.values())
        self.ctx.saved_names_of_tensors = tuple(tensors)
        self.ctx.saved_others = {name: value for name, value in values.items() if name not in tensors}

    @property
    def saved(self) -> SimpleNamespace:
        """What was saved, by name."""
        tensors = zip(self.ctx.saved_names_of_tensors, self.ctx.saved_tensors, strict=True)
        return SimpleNamespace(**self.ctx.saved_others, **dict(tensors))

    saved_variables = saved

    @property
    def needs_input_grad(self) -> Any:
        """Which arguments of forward require grad, by name and by position."""
        return self.cls.needs(*self.ctx.needs_input_grad)


class CppContext(_Context):
    """libtorch's ctx: lists of tensors, and a dict for the rest."""

    @property
    def saved_data(self) -> dict[str, Any]:
        """A dict for what is not a tensor."""
        if "saved_data" not in vars(self.ctx):
            self.ctx.saved_data = {}
        data: dict[str, Any] = vars(self.ctx)["saved_data"]
        return data

    def save_for_backward(self, to_save: Sequence[Tensor | None]) -> None:
        """Keep a list of tensors for backward, which gets it from `get_saved_variables`."""
        self.ctx.save_for_backward(*to_save)

    def get_saved_variables(self) -> list[Tensor | None]:
        """The tensors that were saved."""
        return list(self.ctx.saved_tensors)

    def mark_dirty(self, inputs: Sequence[Tensor]) -> None:
        """Declare a list of inputs that forward has written to."""
        self.ctx.mark_dirty(*inputs)

    def mark_non_differentiable(self, outputs: Sequence[Tensor]) -> None:
        """Declare a list of outputs that have no derivative."""
        self.ctx.mark_non_differentiable(*outputs)


class _DialectFunction(Function):
    """A Function whose methods are written in a dialect, by a subclass of one of the two below."""

    context: ClassVar[type[_Context]]
    spoken: ClassVar[tuple[Any, Any]]  # forward and backward as the user wrote them

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        forward, backward = vars(cls).get("forward"), vars(cls).get("backward")
        if forward is None or not hasattr(cls, "context"):
            return
        cls.spoken = cls.forward, cls.backward if backward is not None else Function.backward
        cls.names = tuple(inspect.signature(cls.forward).parameters)[1:]
        cls.needs = namedtuple("needs_input_grad", cls.names, rename=True, defaults=(False,) * len(cls.names))  # type: ignore[misc]

        @functools.wraps(cls.spoken[0])  # with its parameters, so that arguments can be given by name
        def say(ctx: Any, *args: Any) -> Any:
            return cls.say_forward(cls.context(ctx, cls), *args)

        cls.forward = staticmethod(say)  # type: ignore[method-assign]
        cls.backward = staticmethod(lambda ctx, *grads: cls.say_backward(cls.context(ctx, cls), *grads))  # type: ignore[method-assign]

    names: ClassVar[tuple[str, ...]]
    needs: ClassVar[Any]

    @classmethod
    def say_forward(cls, ctx: Any, *args: Any) -> Any:
        """Call the user's forward."""
        return cls.spoken[0](ctx, *args)

    @classmethod
    def say_backward(cls, ctx: Any, *grads: Any) -> Any:
        """Call the user's backward, and give what it returns in the order of forward's arguments."""
        raise NotImplementedError


class NamedFunction(_DialectFunction):
    """A Function in the manner of R torch.

    `forward(ctx, input, ...)` saves by name, `ctx.save_for_backward(input=input)`; `backward(ctx, grad)` reads
    `ctx.saved.input` and `ctx.needs_input_grad.input`, and returns a dict of gradients by argument name, in which those
    that are not needed may be missing. Raises GradientError for a name that is no argument of forward.
    """

    context = NamedContext

    @classmethod
    def say_backward(cls, ctx: Any, *grads: Any) -> Any:
        """See _DialectFunction."""
        returned = cls.spoken[1](ctx, *grads)
        if not isinstance(returned, dict):
            return returned
        for name in returned:
            if name not in cls.names:
                raise GradientError(
                    f"{cls.__name__}.backward returned a gradient for '{name}', but forward's arguments are "
                    f"{', '.join(cls.names)}"
                )
        return tuple(returned.get(name) for name in cls.names[: len(ctx.ctx.needs_input_grad)])


class CppFunction(_DialectFunction):
    """A Function in the manner of libtorch.

    `forward(ctx, ...)` keeps other values in `ctx.saved_data["name"]` and returns a tensor or a list of them;
    `backward(ctx, grad_outputs)` gets a list and returns a list.
    """

    context = CppContext

    @classmethod
    def say_forward(cls, ctx: Any, *args: Any) -> Any:
        """See _DialectFunction."""
        returned = cls.spoken[0](ctx, *args)
        return tuple(returned) if isinstance(returned, list) else returned

    @classmethod
    def say_backward(cls, ctx: Any, *grads: Any) -> Any:
        """See _DialectFunction."""
        returned = cls.spoken[1](ctx, list(grads))
        return tuple(returned) if isinstance(returned, list) else returned


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    only_inputs: bool = True,
) -> tuple[Any, ...]:
    """`autograd.grad` as R torch documents it: with `only_inputs=False`, other leaves' gradients add to their `.grad`.

    NB: torch has given the argument up, and ignores it.
    """
    wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    others = [] if only_inputs else [leaf for leaf in leaves_behind(outputs) if not any(leaf is one for one in wanted)]
    found = differentiate.grad(outputs, (*wanted, *others), grad_outputs, retain_graph, create_graph, allow_unused=True)
    for i, gradient in enumerate(found[: len(wanted)]):
        if gradient is None and not allow_unused:
            raise UnusedInputError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
    for leaf, gradient in zip(others, found[len(wanted) :], strict=True):
        if gradient is not None:
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
    return tuple(found[: len(wanted)])


def leaves_behind(outputs: Any) -> list[Tensor]:
    """The leaves that the outputs were computed from."""
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    stack = [node for node, _ in map(edge_of, roots) if node is not None]
    seen: set[Node] = set(stack)
    leaves = []
    while stack:
        node = stack.pop()
        if isinstance(node, AccumulateGrad):
            leaves.append(node.variable)
        for following in node.next_nodes:
            if following is not None and following not in seen:
                seen.add(following)
                stack.append(following)
    return leaves  # type: ignore[return-value]  # all tensors here are Tensors


def backward(outputs: Any, out_grads: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
    """`autograd.backward` with OneFlow's names and defaults: the graph stays only where `retain_graph` says so."""
    differentiate.backward(outputs, out_grads, retain_graph, create_graph)


__all__ = ["CppContext", "CppFunction", "NamedContext", "NamedFunction", "backward", "grad"]
