"""Modules that hold modules or parameters: Sequential, lists, dictionaries."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from microtape.nn.module import Module, in_lines, indented
from microtape.nn.parameter import Parameter
from microtape.nn.registry import typename
from microtape.tensors.tensor import Tensor

_M = TypeVar("_M", bound="_Numbered")


class _Numbered(Module):
    """Common: a sequence of modules, which are named by their numbers unless given names."""

    def _key(self, index: Any) -> str:
        """The name of the module at `index`. Raises IndexError if there is none."""
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[int(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        for key in list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        self._modules = {str(i): module for i, module in enumerate(self._modules.values())}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self: _M, module: Module) -> _M:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: _M, modules: Iterable[Module]) -> _M:
        """Add modules at the end. Returns self."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Add a module before that at `index`; the numbers of those behind it rise."""
        modules = list(self)
        modules.insert(index, module)
        self._modules = {str(i): one for i, one in enumerate(modules)}

    def pop(self, key: int | slice) -> Any:
        """Remove the module at `key`. Returns it."""
        removed = self[key]
        del self[key]
        return removed

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError


class Sequential(_Numbered):
    """Modules one after the other: `Sequential(a, b)(x)` is `b(a(x))`. An OrderedDict gives them names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else [(str(i), module) for i, module in enumerate(args)]:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """What the last module makes of it."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before that at `index`. Returns self. Raises AssertionError or IndexError as torch does."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential().extend(self).__iadd__(other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, other: Any) -> Sequential:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__


class ModuleList(_Numbered):
    """A list of modules, whose parameters are found; it is not called itself."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(list(self)[index]) if isinstance(index, slice) else self._modules[self._key(index)]

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end. Returns self. Raises TypeError if they are not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    __iadd__ = extend

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        groups: list[tuple[list[int], str]] = []  # neighbours with the same text share a line
        for number, text in enumerate(map(repr, self)):
            if groups and groups[-1][1] == text:
                groups[-1][0].append(number)
            else:
                groups.append(([number], text))
        lines = []
        for numbers, text in groups:
            several = f"({numbers[0]}-{numbers[-1]}): {len(numbers)} x {text}"
            lines.append(indented(several if len(numbers) > 1 else f"({numbers[0]}): {text}"))
        return f"{self._get_name()}({in_lines(lines)})"


class _Dictionary(Module):
    """Common: what a ModuleDict and a ParameterDict do as dictionaries."""

    def _entries(self) -> dict[str, Any]:
        raise NotImplementedError

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError

    def __getitem__(self, key: str) -> Any:
        return self._entries()[key]

    def __len__(self) -> int:
        return len(self._entries())

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __contains__(self, key: str) -> bool:
        return key in self._entries()

    def keys(self) -> Any:
        """The keys."""
        return self._entries().keys()

    def values(self) -> Any:
        """The values."""
        return self._entries().values()

    def items(self) -> Any:
        """(key, value) pairs."""
        return self._entries().items()

    def update(self, entries: Any) -> None:
        """Add the entries of a dictionary, or (key, value) pairs. Raises TypeError or ValueError for other things."""
        name = self._get_name()
        if not isinstance(entries, Iterable):
            raise TypeError(
                f"{name}.update should be called with an iterable of key/value pairs, but got {type(entries).__name__}"
            )
        if isinstance(entries, Mapping | _Dictionary):
            for key, value in entries.items():
                self[key] = value
            return
        for number, entry in enumerate(entries):
            if len(entry) != 2:
                raise ValueError(f"{name} update sequence element #{number} has length {len(entry)}; 2 is required")
            self[entry[0]] = entry[1]

    def pop(self, key: str) -> Any:
        """Remove an entry. Returns its value."""
        value = self[key]
        delattr(self, key)
        return value

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def clear(self) -> None:
        """Remove all entries."""
        for key in list(self):
            delattr(self, key)


class ModuleDict(_Dictionary):
    """A dictionary of modules, whose parameters are found; it is not called itself."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _entries(self) -> dict[str, Any]:
        return self._modules

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)


class ParameterDict(_Dictionary):
    """A dictionary of parameters, which are found; a tensor becomes a parameter."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters if type(parameters) is not dict else sorted(parameters.items()))

    def _entries(self) -> dict[str, Any]:
        return self._parameters

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, _as_parameter(value))

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return "\n".join(f"  ({key}): {_described(value, typename(value))}" for key, value in self.items())


class ParameterList(Module):
    """A list of parameters, which are found; a tensor becomes a parameter."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(list(self)[index]) if isinstance(index, slice) else self._parameters[self._key(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._key(index), _as_parameter(value))

    def _key(self, index: Any) -> str:
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end. Returns self."""
        setattr(self, str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end. Returns self. Raises TypeError if they are not iterable."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self) -> str:
        """A line for each parameter."""
        kinds = [f"microtape.{value.dtype.name}" for value in self]
        return "\n".join(f"  ({i}): {_described(self[i], kind)}" for i, kind in enumerate(kinds))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError."""
        raise RuntimeError("ParameterList should not be called.")


def _as_parameter(value: Any) -> Parameter:
    """The value as a parameter. Raises TypeError if it is no tensor: other values are kept in a plain list."""
    return value if isinstance(value, Parameter) else Parameter(value)


def _described(value: Any, kind: str) -> str:
    return f"Parameter containing: [{kind} of size {'x'.join(map(str, value.shape))}]"
