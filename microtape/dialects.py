"""The interfaces of other systems with PyTorch's autograd, for their users. microtape itself does not use them.

R torch    `NamedFunction` and `autograd_function`: saved tensors, needed gradients and returned gradients by name, and
           functions that are called directly; `grad(only_inputs=False)`
libtorch   `CppFunction`: lists of tensors, and `ctx.saved_data`
OneFlow    `backward(outputs, out_grads, ...)`, and with its other names, `backward(tensors=, grad_tensors=)`
"""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from microtape.errors import GradientError, UnusedInputError
from microtape.functions.function import Function
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.tensor_state import edge_of
from microtape.tensors import differentiate
from microtape.tensors.tensor import Tensor


class _Context:
    """A ctx in another dialect; delegates all other attributes to the real ctx."""

    def __init__(self, ctx: Any, cls: Any) -> None:
        vars(self).update(ctx=ctx, cls=cls)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["ctx"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.ctx, name, value)


class NamedContext(_Context):
    """R torch's ctx: saved values and arguments have names."""

    def save_for_backward(self, **values: Any) -> None:
        """Save tensors and any other objects for backward, as attributes of `ctx.saved`."""
        tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        self.ctx.save_for_backward(*tensors.values())
        self.ctx.saved_names_of_tensors = tuple(tensors)
        self.ctx.saved_others = {name: value for name, value in values.items() if name not in tensors}

    @property
    def saved(self) -> SimpleNamespace:
        """The saved values as attributes. Raises ModifiedInPlaceError or FreedGraphError like `saved_tensors`."""
        tensors = zip(self.ctx.saved_names_of_tensors, self.ctx.saved_tensors, strict=True)
        return SimpleNamespace(**self.ctx.saved_others, **dict(tensors))

    saved_variables = saved

    @property
    def needs_input_grad(self) -> Any:
        """Whether each argument of forward requires grad, by name and by position."""
        return self.cls.needs(*self.ctx.needs_input_grad)


class CppContext(_Context):
    """libtorch's ctx: lists of tensors, and a dict for other values."""

    @property
    def saved_data(self) -> dict[str, Any]:
        """A dict for values other than tensors."""
        if "saved_data" not in vars(self.ctx):
            self.ctx.saved_data = {}
        data: dict[str, Any] = vars(self.ctx)["saved_data"]
        return data

    def save_for_backward(self, to_save: Sequence[Tensor | None]) -> None:
        """Save a list of tensors for backward, which reads it with `get_saved_variables`."""
        self.ctx.save_for_backward(*to_save)

    def get_saved_variables(self) -> list[Tensor | None]:
        """The saved tensors."""
        return list(self.ctx.saved_tensors)

    def mark_dirty(self, inputs: Sequence[Tensor]) -> None:
        """Declare the inputs that forward has written to."""
        self.ctx.mark_dirty(*inputs)

    def mark_non_differentiable(self, outputs: Sequence[Tensor]) -> None:
        """Declare the outputs that have no derivative."""
        self.ctx.mark_non_differentiable(*outputs)


class _DialectFunction(Function):
    """Base of the two classes below, whose subclasses write forward and backward in a dialect."""

    context: ClassVar[type[_Context]]
    written: ClassVar[tuple[Any, Any]]  # forward and backward as the user wrote them

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        forward, backward = vars(cls).get("forward"), vars(cls).get("backward")
        if forward is None or not hasattr(cls, "context"):
            return
        cls.written = cls.forward, cls.backward if backward is not None else Function.backward
        cls.names = tuple(inspect.signature(cls.forward).parameters)[1:]
        cls.needs = namedtuple("needs_input_grad", cls.names, rename=True, defaults=(False,) * len(cls.names))  # type: ignore[misc]

        @functools.wraps(cls.written[0])  # with its parameters, so that arguments can be given by name
        def forward_in_dialect(ctx: Any, *args: Any) -> Any:
            return cls.call_forward(cls.context(ctx, cls), *args)

        cls.forward = staticmethod(forward_in_dialect)  # type: ignore[method-assign]
        cls.backward = staticmethod(lambda ctx, *grads: cls.call_backward(cls.context(ctx, cls), *grads))  # type: ignore[method-assign]

    names: ClassVar[tuple[str, ...]]
    needs: ClassVar[Any]

    @classmethod
    def call_forward(cls, ctx: Any, *args: Any) -> Any:
        """Call the user's forward, whose list of tensors becomes a tuple: several outputs."""
        returned = cls.written[0](ctx, *args)
        return tuple(returned) if isinstance(returned, list) else returned

    @classmethod
    def call_backward(cls, ctx: Any, *grads: Any) -> Any:
        """Call the user's backward, and return its gradients in the order of forward's arguments."""
        raise NotImplementedError


class NamedFunction(_DialectFunction):
    """A Function in the style of R torch.

    `forward(ctx, input, ...)` saves by name, `ctx.save_for_backward(input=input)`; `backward(ctx, grad)` reads
    `ctx.saved.input` and `ctx.needs_input_grad.input`, and returns a dict from argument names to gradients, each of the
    shape of its argument; gradients that are not needed may be missing. Raises GradientError for a name that is not an
    argument of forward.

    A subclass is called like a function, `MulConstant(x, 2)`, which is the same as `MulConstant.apply(x, 2)`. A list of
    tensors that `forward` returns is several outputs.
    """

    context = NamedContext

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """The result of `apply`."""
        return cls.apply(*args, **kwargs)

    @classmethod
    def call_backward(cls, ctx: Any, *grads: Any) -> Any:
        """See _DialectFunction."""
        returned = cls.written[1](ctx, *grads)
        if not isinstance(returned, dict):
            return returned
        for name in returned:
            if name not in cls.names:
                raise GradientError(
                    f"{cls.__name__}.backward returned a gradient for '{name}', but forward's arguments are "
                    f"{', '.join(cls.names)}"
                )
        return tuple(returned.get(name) for name in cls.names[: len(ctx.ctx.needs_input_grad)])


def autograd_function(forward: Callable[..., Any], backward: Callable[..., Any]) -> type[NamedFunction]:
    """The NamedFunction with this forward and this backward, as R torch's function of this name makes it."""
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(forward.__name__, (NamedFunction,), members)


class CppFunction(_DialectFunction):
    """A Function in the style of libtorch.

    `forward(ctx, ...)` keeps values other than tensors in `ctx.saved_data["name"]` and returns a tensor or a list of
    tensors; `backward(ctx, grad_outputs)` is given a list of gradients, one for each output, and returns a list of
    gradients, one for each argument.
    """

    context = CppContext

    @classmethod
    def call_backward(cls, ctx: Any, *grads: Any) -> Any:
        """See _DialectFunction."""
        returned = cls.written[1](ctx, list(grads))
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
    """`autograd.grad` as in R torch: `only_inputs=False` also adds the gradients of the other leaves to their `.grad`.

    Returns a gradient for each input, of its shape and dtype; None for one that the outputs do not depend on, for which
    UnusedInputError is raised unless `allow_unused`. NB: PyTorch no longer supports `only_inputs`, and ignores it.
    """
    wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    others = [] if only_inputs else [leaf for leaf in _leaves_behind(outputs) if not any(leaf is one for one in wanted)]
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


def _leaves_behind(outputs: Any) -> list[Tensor]:
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


def backward(
    outputs: Any = None,
    out_grads: Any = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    *,
    tensors: Any = None,
    grad_tensors: Any = None,
) -> None:
    """`autograd.backward` with OneFlow's names and defaults: the graph is kept only with `retain_graph=True`.

    `out_grads` have the shapes of `outputs`; `tensors` and `grad_tensors` are other names of the two. Raises TypeError
    unless one of `outputs` and `tensors` is given, and otherwise as `autograd.backward` does.
    """
    for name, one, other in (("outputs", outputs, tensors), ("out_grads", out_grads, grad_tensors)):
        if one is not None and other is not None:
            raise TypeError(f"backward() got multiple values for argument '{name}'")
    roots = tensors if outputs is None else outputs
    if roots is None:
        raise TypeError("backward() missing 1 required positional argument: 'outputs'")
    differentiate.backward(roots, grad_tensors if out_grads is None else out_grads, retain_graph, create_graph)


__all__ = ["CppContext", "CppFunction", "NamedContext", "NamedFunction", "autograd_function", "backward", "grad"]
