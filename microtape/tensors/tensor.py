"""The class Tensor: a thin facade over the state of a tensor, the operations and the engine."""

from __future__ import annotations

import copy
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.call_site import user_stacklevel
from microtape.errors import InferenceTensorError, InPlaceError
from microtape.tape.grad_mode import mode
from microtape.tape.in_place import write
from microtape.tape.inference import is_inference, mark_if_inference
from microtape.tape.leaf_grad import check_grad, grad_dtype_of, set_grad_dtype
from microtape.tape.node import NO_EDGE, Node, NodeHooks, RemovableHandle, add_hook
from microtape.tape.tensor_state import (
    INFERENCE,
    edge_of,
    ensure_meta,
    ensure_version,
    history_of,
    is_leaf,
    is_view,
    new_tensor,
    requires_grad,
    version_number,
)
from microtape.tape.views import keep_hooks
from microtape.tape.watch import watch
from microtape.tensors.attributes import Attributes
from microtape.tensors.copying import deep_copied, reduced
from microtape.tensors.dtype import dtype as Dtype  # noqa: N812 - a tensor has a property of that name
from microtape.tensors.dtype import public
from microtape.tensors.from_data import construct
from microtape.tensors.printing import represent

_ndarray = np.ndarray
_accumulating = threading.RLock()  # reentrant: accumulating may run operations, and their observers


class Tensor(Attributes):
    """An array that remembers how it was computed.

    Make one with `microtape.tensor`, `zeros`, ...; its attribute `array` is the numpy array, of any shape and dtype.
    `Tensor([1, 2])` and `Tensor(2, 3)` make one in the default dtype.
    """

    __slots__ = ()

    def __new__(cls, *data: Any) -> Any:
        """See `construct`. The engine makes its tensors with `new_tensor`, which does not call this."""
        return construct(cls, data, dtypes.get_default_dtype())

    def __repr__(self) -> str:
        return represent(self)

    def __format__(self, spec: str) -> str:
        return format(self.item() if not self.array.ndim else repr(self), spec)

    # The place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded; assigning to it is like `requires_grad_`."""
        return requires_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and not dtypes.is_differentiable(self.array.dtype):
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switch on or off whether operations on this leaf are recorded. Returns self.

        Raises RuntimeError for a dtype that is neither floating nor complex, for False on a non-leaf tensor, and for
        True on an inference tensor outside of inference mode.
        """
        if requires_grad and not dtypes.is_differentiable(self.array.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and is_inference(self) and not mode.inference:
            raise InferenceTensorError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if not is_leaf(self):
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
        elif self.meta is not None and self.meta.view is not None:
            self.meta.view.is_source = bool(requires_grad)
        else:
            self.edge = None if requires_grad else NO_EDGE
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation computed this tensor."""
        return history_of(self) is NO_EDGE

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that computed this tensor; None for a leaf."""
        return history_of(self)[0]

    @property
    def _grad_fn(self) -> Node | None:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def output_nr(self) -> int:
        """The index of this tensor among the outputs of its `grad_fn`."""
        return history_of(self)[1]

    def is_inference(self) -> bool:
        """Whether this tensor, or the base that it is a view of, was made in inference mode."""
        return is_inference(self)

    @property
    def _version(self) -> int:
        if self.version is INFERENCE:
            raise InferenceTensorError("Inference tensors do not track version counter.")
        return version_number(self)

    @property
    def _base(self) -> Any:
        return self.meta.view.base if self.meta is not None and self.meta.view is not None else None

    def _is_view(self) -> bool:
        return is_view(self)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, of this tensor's shape and `grad_dtype`; None until there is one.

        Assigning raises TypeError for a value that is neither a Tensor nor None, RuntimeError for another shape or
        dtype. Reading it on a non-leaf tensor without `retain_grad` warns.
        """
        meta = self.meta
        if meta is not None and meta.grad is not None:
            return meta.grad  # type: ignore[no-any-return]
        if (meta is None or not meta.retains_grad) and not is_leaf(self):
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
                "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
                "more information.",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
        return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        (self.meta or ensure_meta(self)).grad = value

    @grad.deleter
    def grad(self) -> None:
        ensure_meta(self).grad = None

    @property
    def grad_dtype(self) -> Dtype | None:
        """The dtype in which this leaf accumulates gradients; None: gradients keep the dtype in which they arrive.

        Raises RuntimeError on a non-leaf tensor, and for a dtype that is neither floating nor complex.
        """
        if not is_leaf(self):
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        found = grad_dtype_of(self)
        return None if found is None else public(found)

    @grad_dtype.setter
    def grad_dtype(self, dtype: Any) -> None:
        set_grad_dtype(self, dtype.dtype if isinstance(dtype, Dtype) else dtype)

    @property
    def data(self) -> Tensor:
        """A tensor with the same memory, without history, and with a version counter of its own.

        NB: backward therefore does not notice writes to `x.data`; prefer `x.detach()`.
        """
        result = new_tensor(type(self), self.array)
        result.version = INFERENCE if is_inference(self) else None
        if (watcher := watch.watcher) is not None:
            watcher.without_history("data", (self,), result)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if requires_grad(self) and not dtypes.is_differentiable(value.array.dtype):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if value.array is not self.array and (watcher := watch.watcher) is not None:  # `x.data -= y` sets what it was
            watcher.replacing(self)
        self.array = value.array

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def detach(self) -> Tensor:
        """A tensor with the same memory and version counter, without history: a leaf that does not require grad."""
        result = new_tensor(type(self), self.array)
        result.version = ensure_version(self)
        if (watcher := watch.watcher) is not None:
            watcher.without_history("detach", (self,), result)
        return result

    def detach_(self) -> Tensor:
        """Remove the history of this tensor in place. Returns self. Raises InPlaceError on a view.

        The hooks of its gradient stay, and run again once this tensor is a leaf that requires grad. As in torch,
        `detach_` has no effect in inference mode, and none on an inference tensor.
        """
        if mode.inference or is_inference(self):
            return self
        if is_view(self):
            raise InPlaceError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        if (watcher := watch.watcher) is not None:
            watcher.without_history("detach_", (self,), self)
        keep_hooks(self)
        self.edge = NO_EDGE
        ensure_version(self).touched = True  # unpacking has to check
        return self

    # Backward

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradients of this tensor and add them to the `.grad` of the leaves that it was computed from.

        `gradient` has this tensor's shape and defaults to ones if this tensor has one element. The other arguments and
        the errors raised are those of `microtape.autograd.backward`.
        """
        from microtape.tensors.differentiate import backward  # which needs this module

        backward(self, gradient, retain_graph, create_graph, inputs)

    def accumulate(self, gradient: Any, is_tensor: bool) -> None:
        """Add `gradient` to `.grad`, which may become that very array. Several threads may call this at once."""
        meta = self.meta or ensure_meta(self)
        with _accumulating:
            if meta.grad is None and is_tensor:
                recorded = mode.enabled  # else it is a Tensor for the sake of its tangent
                meta.grad = (
                    new_tensor(Tensor, np.empty_like(gradient.array)).copy_(gradient) if recorded else gradient.clone()
                )
            elif meta.grad is None:
                grad = new_tensor(Tensor, gradient if type(gradient) is _ndarray else np.asarray(gradient))
                meta.grad = mark_if_inference(grad) if mode.inference else grad
            elif is_tensor:
                meta.grad = meta.grad + gradient if mode.enabled else meta.grad.add_(gradient)
            else:
                try:
                    write(meta.grad, meta.grad.array + gradient)
                except ValueError:  # `.data` was set to another shape since; this raises an error that names both
                    meta.grad.add_(new_tensor(Tensor, np.asarray(gradient)))

    def retain_grad(self) -> None:
        """Let backward store this non-leaf tensor's gradient in `.grad`, too. Does nothing on a leaf.

        Raises RuntimeError if this tensor does not require grad.
        """
        if not requires_grad(self):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        meta = ensure_meta(self)
        if is_leaf(self) or meta.retains_grad:
            return
        node, output_nr = edge_of(self)
        assert node is not None
        node.ensure_hooks().retain[output_nr] = weakref.ref(self)
        meta.retains_grad = True

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf tensor."""
        return self.meta is not None and self.meta.retains_grad

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` when backward has computed this tensor's gradient.

        `grad` has this tensor's shape and dtype. A tensor that the hook returns replaces it, and must have the same
        shape and dtype. Raises RuntimeError if this tensor does not require grad.
        """
        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return add_hook(self._hooks().tensor.setdefault(edge_of(self)[1], {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(self)` after backward has added to this leaf's `.grad`. The hook must return None.

        Raises RuntimeError if this tensor does not require grad or is not a leaf.
        """
        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not is_leaf(self):
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return add_hook(self._hooks().post_accumulate, hook)

    def _hooks(self) -> NodeHooks:
        """Where this tensor's hooks are kept; a view that no gradient reaches now keeps them like a leaf."""
        node, _ = edge_of(self)
        if node is not None:
            return node.ensure_hooks()
        meta = ensure_meta(self)
        if meta.hooks is None:
            meta.hooks = NodeHooks()
        return meta.hooks

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not is_leaf(self):
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a "
                "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        array = deep_copied(self.array, memo)
        result = mark_if_inference(new_tensor(type(self), array, None if requires_grad(self) else NO_EDGE))
        memo[id(self)] = result
        if self.meta is not None and self.meta.grad is not None:
            ensure_meta(result).grad_dtype = self.meta.grad_dtype
            result.grad = self.meta.grad.__deepcopy__(memo)
        if self.__dict__:
            result.__dict__ = copy.deepcopy(self.__dict__, memo)
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self)


__all__ = ["Tensor"]
