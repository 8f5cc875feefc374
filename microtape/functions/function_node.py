"""The node of a custom Function, and the `ctx` through which the user's forward and backward access it.

Note [The ctx and its node]
  The `ctx` that `forward` and `backward` receive is a proxy of the node that is put into the graph. Attributes that the
  user sets are stored on ctx, so they cannot overwrite the node's own, whatever their names (`ctx.shape = x.shape`).
  An attribute that ctx does not have is looked up on the node, and one that the node does not have, as in
  `y.grad_fn.my_attribute`, is looked up on ctx. NB: in torch, ctx and node are one object.
  Each Function class has its own node class, named `<Function>Backward` as in torch.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from microtape.errors import FreedGraphError, GradientError
from microtape.tape.node import Node
from microtape.tape.saved import unpack
from microtape.tape.saved_attributes import RawSavedTensor, all_raw_saved
from microtape.tape.tensor_state import TensorState, new_tensor
from microtape.tape.watch import watch

if TYPE_CHECKING:
    from microtape.functions.function import Function


class Context:
    """The ctx of one call of a Function: the user's attributes, and access to the node's; see the Note above."""

    def __init__(self, node: FunctionNode) -> None:
        vars(self)["_node"] = weakref.ref(node)  # weak: the node refers to its ctx

    def __getattr__(self, name: str) -> Any:
        node = vars(self)["_node"]()
        if node is None or name == "ctx":
            raise AttributeError(f"ctx has no attribute '{name}'")
        return getattr(node, name)

    @property
    def materialize_grads(self) -> bool:
        """Whether backward gets zeros, rather than None, for undefined gradients; see `set_materialize_grads`."""
        node = vars(self)["_node"]()
        return bool(node.materialize_grads) if node is not None else True

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        vars(self)["_node"]().set_materialize_grads(value)

    @property
    def _materialize_non_diff_grads(self) -> bool:
        """Whether backward gets zeros, rather than None, for outputs that are not differentiable."""
        return bool(vars(self).get("materialize_non_diff_grads", True))

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_non_diff_grads received an invalid combination of arguments - got (), but expected "
                "(bool)"
            )
        vars(self)["materialize_non_diff_grads"] = value


def node_of(ctx: Context) -> FunctionNode | None:
    """The node of a ctx, unless it is gone."""
    return vars(ctx)["_node"]()  # type: ignore[no-any-return]


class FunctionNode(Node):
    """The node of one call of a Function, and the methods of its ctx; see Note [The ctx and its node]."""

    kind = "function"
    multi_output = True
    function: ClassVar[type[Function]]

    needs_input_grad: tuple[bool, ...]
    is_tensor_input: tuple[bool, ...]
    tensor_type: type[TensorState]

    def __init__(self) -> None:
        super().__init__()
        self.ctx = Context(self)
        self.to_save: tuple[TensorState | None, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.without_gradient: set[int] = set()  # the numbers of the outputs that are not differentiable
        self.accessed = False  # whether saved_tensors was read under clear_saved_tensors_on_access
        self.saved_for_forward: tuple[TensorState | None, ...] | None = None  # until jvp has run

    def __getattr__(self, name: str) -> Any:
        """Look the attribute up on ctx, where the user may have set it."""
        try:
            return vars(vars(self)["ctx"])[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

    # The methods of ctx

    def save_for_backward(self, *tensors: TensorState | None) -> None:
        """Save tensors, or None, for backward, which reads them as `ctx.saved_tensors`, checked for in-place writes.

        A second call replaces the first. If the call is recorded, it raises TypeError for any other value, which can
        be set as an attribute of ctx.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: TensorState | None) -> None:
        """Save tensors, or None, for `jvp`, which reads `ctx.saved_tensors`. Raises AssertionError for other values."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, TensorState):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: TensorState) -> None:
        """Declare the inputs that forward has written to in place; forward has to return each of them."""
        self.dirty = tensors

    def mark_non_differentiable(self, *outputs: TensorState) -> None:
        """Declare outputs without derivative: they do not require grad, and backward gets zeros as their gradients."""
        self.non_differentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets undefined gradients as zeros (True, the default) or as None.

        Raises TypeError if `value` is not a bool.
        """
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, a tuple in the order in which they were saved.

        Raises FreedGraphError after backward has freed them, ModifiedInPlaceError if one has been overwritten since.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self.accessed:
            raise FreedGraphError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.",
                ("forward", self.call_site),
            )
        tensors = tuple(unpack(self, True))
        if (watcher := watch.watcher) is not None:
            watcher.saved_read(self, tensors)
        if self.function.clear_saved_tensors_on_access:
            self.accessed, self.saved = True, ()
        return tensors

    @property
    def _raw_saved_tensors(self) -> tuple[RawSavedTensor, ...]:
        return all_raw_saved(self)

    # The methods that the engine calls

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Run the user's backward on Tensors and check the gradients that it returns. Raises GradientError."""
        arguments = [
            part if part is None or isinstance(part, TensorState) else new_tensor(self.tensor_type, np.asarray(part))
            for part in gradient
        ]
        returned = self.function.differentiate(self.ctx, *arguments)
        gradients = self._checked(returned if isinstance(returned, tuple) else (returned,))
        return gradients if create_graph else [g.array if g is not None else None for g in gradients]

    def materialized(self, gradients: Sequence[Any], create_graph: bool) -> list[Any]:
        """The outputs' gradients, with zeros in place of undefined ones unless `set_materialize_grads(False)`."""
        if not self.materialize_grads:
            return list(gradients)
        kept = () if self.ctx._materialize_non_diff_grads else self.without_gradient
        return [
            self._zeros(i, create_graph) if one is None and i not in kept else one for i, one in enumerate(gradients)
        ]

    def _zeros(self, output_nr: int, as_tensor: bool) -> Any:
        shape, dtype = self.output_spec(output_nr)
        if shape is None:
            return None  # that output is not a tensor
        zeros = np.zeros(shape, dtype)
        return new_tensor(self.tensor_type, zeros) if as_tensor else zeros

    def release(self) -> bool:
        """See Node.release. Afterwards `saved_tensors` raises FreedGraphError, even if nothing was saved."""
        freed, self.saved = bool(self.saved), None
        return freed

    def _checked(self, gradients: tuple[Any, ...]) -> list[Any]:
        count = len(self.is_tensor_input)
        if len(gradients) > count and all(extra is None for extra in gradients[count:]):
            gradients = gradients[:count]
        if len(gradients) != count:
            raise GradientError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(gradients)})",
                ("forward", self.call_site),
            )
        kept: list[Any] = []
        for i, (gradient, is_tensor) in enumerate(zip(gradients, self.is_tensor_input, strict=True)):
            if is_tensor:
                if gradient is not None and not isinstance(gradient, TensorState):
                    raise GradientError(
                        f"expected Variable or None (got {type(gradient).__name__})", ("forward", self.call_site)
                    )
                if gradient is not None:
                    self._check_real(len(kept), gradient)
                kept.append(gradient)
            elif gradient is not None:
                raise GradientError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable",
                    ("forward", self.call_site),
                )
        return kept

    def _check_real(self, output: int, gradient: TensorState) -> None:
        receiver = self.next_nodes[output]
        if receiver is None or gradient.array.dtype.kind != "c":
            return
        expected = receiver.output_spec(self.input_nrs[output])[1]
        if expected is None or expected.kind == "c":
            return
        raise GradientError(
            f"Function {self.name()} returned an invalid gradient at index {output} - got a complex one for a real "
            "input. Return its real part",
            ("forward", self.call_site),
        )
