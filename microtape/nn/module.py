"""The base class of all modules.

A module has parameters and buffers, and modules as its parts. The file has what goes through all of them;
`registry.py` has how they are registered, `calls.py` what happens when a module is called, `state.py` state dicts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from microtape.basics.call_site import user_stacklevel
from microtape.basics.devices import check_device, device
from microtape.nn.calls import Called
from microtape.nn.parameter import Parameter
from microtape.nn.state import Stateful
from microtape.tape.grad_mode import no_grad
from microtape.tensors.tensor import Tensor

_M = TypeVar("_M", bound="Module")


class Module(Called, Stateful):
    """A part of a network: a subclass makes its parameters and parts in `__init__` and defines `forward`.

    A Parameter, Module or registered buffer that is an attribute is found by `parameters`, `state_dict`, `to`, ...
    """

    # Parameters, buffers and modules, by name

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(path, parameter) pairs: of this module and, if `recurse`, of its parts; a shared parameter counts once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, if `recurse`, of its parts."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(path, buffer) pairs, as `named_parameters`."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, if `recurse`, of its parts."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[Any]:
        seen: set[Any] = set()
        for path, module in self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]:
            for name, member in getattr(module, kind).items():
                if member is not None and member not in seen:
                    if remove_duplicate:
                        seen.add(member)
                    yield (f"{path}.{name}" if path else name), member

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) pairs of the parts of this module itself; a shared module counts once."""
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The parts of this module itself."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(path, module) pairs: this module, then its parts and theirs; `memo` holds the modules to leave out."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module, its parts and theirs."""
        return (module for _, module in self.named_modules())

    # One of them, by path

    def get_submodule(self, target: str) -> Module:
        """The module at the path `target`, "" for this one. Raises AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at the path `target`. Raises AttributeError if there is none."""
        return self._member(target, "_parameters", "an nn.Parameter")  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at the path `target`. Raises AttributeError if there is none."""
        return self._member(target, "_buffers", "a buffer")  # type: ignore[no-any-return]

    def _member(self, target: str, kind: str, description: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if getattr(module, kind).get(name) is None:
            raise AttributeError(f"`{name}` is not {description}")
        return getattr(module, name)

    # What is done to all of them

    def apply(self: _M, fn: Callable[[Module], Any]) -> _M:
        """Call `fn` with every part, then with this module. Returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self: _M, mode: bool = True) -> _M:
        """Switch this module and its parts to training or, if not `mode`, to evaluation. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: _M) -> _M:
        """Switch to evaluation: dropout does nothing, batch norm uses the running statistics. Returns self."""
        return self.train(False)

    def requires_grad_(self: _M, requires_grad: bool = True) -> _M:
        """Switch on or off whether the parameters require grad. Returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the `.grad` of all parameters to None, or to zeros."""
        for parameter in self.parameters():
            if parameter.grad is not None and set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                if parameter.grad.grad_fn is not None:
                    parameter.grad.detach_()
                else:
                    parameter.grad.requires_grad_(False)
                parameter.grad.zero_()

    def to(self: _M, *args: Any, **kwargs: Any) -> _M:
        """Convert all floating-point parameters and buffers: to a dtype, to the dtype of a tensor, to a device.

        Returns self. Raises TypeError for an integer dtype, RuntimeError for a device that is not the CPU.
        """
        target = kwargs.get("dtype")
        for one in [*args, kwargs.get("device")]:
            if isinstance(one, Tensor):
                target = one.dtype
            elif one is None or isinstance(one, str | device):
                check_device(one)
            elif not isinstance(one, bool):
                target = one
        if target is None:
            return self
        kind = getattr(target, "kind", None)
        if kind is None or kind not in "fc":
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target}"
            )
        if kind == "c":
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules "
                "might not work as expected when using complex tensors as parameters or buffers.",
                stacklevel=user_stacklevel(),
            )
        return self._converted(lambda tensor: tensor.to(target) if tensor.dtype.kind in "fc" else tensor)

    def type(self: _M, dst_type: Any) -> _M:
        """Convert all parameters and buffers to `dst_type`. Returns self."""
        return self._converted(lambda tensor: tensor.to(dst_type))

    def float(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float32. Returns self."""
        return self._converted(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)

    def double(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float64. Returns self."""
        return self._converted(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def half(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float16. Returns self."""
        return self._converted(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor)

    def cpu(self: _M) -> _M:
        """Return self: there is no other device."""
        return self

    def cuda(self: _M, device: Any = None) -> _M:
        """Raise RuntimeError: there is no device but the CPU."""
        return self.to("cuda")

    def _converted(self: _M, convert: Callable[[Any], Any]) -> _M:
        """Convert the memory of parameters and their gradients; the parameters stay the same objects."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    with no_grad():
                        grad = None if parameter.grad is None else convert(parameter.grad)
                        parameter.grad = None
                        parameter.data = convert(parameter)
                        parameter.grad = grad
            for name, buffer in module._buffers.items():
                module._buffers[name] = None if buffer is None else convert(buffer)
        return self

    # The text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What `repr` shows of the module itself, such as its sizes; a subclass may define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr().splitlines()
        parts = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if len(extra) == 1 and not parts:
            return f"{self._get_name()}({extra[0]})"
        return f"{self._get_name()}({in_lines([*extra, *parts])})"


def indented(text: str) -> str:
    """The text with all lines but the first moved to the right."""
    return text.replace("\n", "\n  ")


def in_lines(lines: list[str]) -> str:
    """The lines within the brackets of a module's text; nothing if there are none."""
    return "".join(f"\n  {line}" for line in lines) + ("\n" if lines else "")
