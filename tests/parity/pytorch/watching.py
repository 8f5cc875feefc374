"""What the tests of torch share: its versions, the nodes of a graph, hooks on them, the engine, calls of a program."""

from __future__ import annotations

import sys
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

ACCUMULATE_NR = 2**64 - 1  # the sequence number of all AccumulateGrad nodes
OWN_WARNINGS = (  # of what some versions of torch call themselves
    "ignore:.*torch.jit.*:DeprecationWarning",
    "ignore:.*torch.cpu.amp.autocast.*:FutureWarning",
    "ignore:Converting a tensor with requires_grad=True to a scalar:UserWarning",
)


def torch_since(version: str) -> bool:
    """Whether torch is of this version or newer. All differences between versions are told apart here.

    Each version from 2.4 to 2.14 was tried.
    """
    import torch

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.partition("+")[0].split(".")[:2]]

    return numbers(torch.__version__) >= numbers(version)


def replaced() -> tuple[Any, ...]:
    """What recorders replace while they watch, as it is now on this thread."""
    import torch

    any_torch: Any = torch
    function, compiler = any_torch.autograd.function, sys.modules.get("torch._dynamo.eval_frame")
    set_eval_frame = any_torch._C._dynamo.eval_frame.set_eval_frame
    owners = function.BackwardCFunction, function.FunctionCtx, any_torch.autograd.graph.saved_tensors_hooks
    return (
        any_torch.autograd.Variable._execution_engine, any_torch.nn.Module.__call__, any_torch.autograd.Function.apply,
        *[dict(vars(one)) for one in (*owners, any_torch.autograd.Function)], sys.gettrace(),
        any_torch._C._len_torch_function_stack(), any_torch.overrides.has_torch_function,
        any_torch.utils.swap_tensors, any_torch.utils.swap_tensors.__code__, warnings.showwarning, set_eval_frame,
        getattr(compiler, "set_eval_frame", set_eval_frame) is set_eval_frame,
    )  # fmt: skip


def walk(*roots: Any) -> tuple[list[Any], Counter[Any]]:
    """The nodes that the roots reach, and how many edges lead to each."""
    nodes, dependencies, waiting = dict.fromkeys(roots), Counter(), list(roots)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None:
                dependencies[node] += 1
                if node not in nodes:
                    nodes[node] = None
                    waiting.append(node)
    return list(nodes), dependencies


def name(node: Any) -> str:
    """The name of a node without the prefix that AccumulateGrad and CopySlices have."""
    return node.name().rpartition("::")[2]


def values(gradients: Iterable[Any]) -> list[Any]:
    """The gradients that a hook got, as lists of numbers."""
    return [None if one is None else one.tolist() for one in gradients]


Hook = Callable[..., None]


@contextmanager
def hooks(nodes: Iterable[Any], before: Hook | None = None, after: Hook | None = None) -> Iterator[None]:
    """Call `before(node, grad_outputs)` and `after(node, grad_inputs, grad_outputs)` as node hooks."""
    handles = []
    for node in nodes:
        if before:
            handles.append(node.register_prehook(lambda got, node=node: before(node, got)))
        if after:
            handles.append(node.register_hook(lambda made, got, node=node: after(node, made, got)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Call(NamedTuple):
    """A call of `run_backward`."""

    depth: int
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    caller: str  # the function nearest to the call that does not belong to torch
    thread: int


@contextmanager
def watched_engine() -> Iterator[list[Call]]:
    """Replace the attribute through which all of torch's Python reaches the engine, and list the calls."""
    import threading

    from torch.autograd import Variable

    original, calls, depth = Variable._execution_engine, [], 0

    class Engine(type(original)):
        def run_backward(self, *arguments, **keywords):
            nonlocal depth
            caller = outside_of_torch(sys._getframe(1)).f_code.co_name
            calls.append(Call(depth, arguments, keywords, caller, threading.get_ident()))
            depth += 1
            try:
                return super().run_backward(*arguments, **keywords)
            finally:
                depth -= 1

    Variable._execution_engine = Engine()
    try:
        yield calls
    finally:
        Variable._execution_engine = original


def outside_of_torch(frame: Any) -> Any:
    """The first frame from this one outwards whose code does not belong to torch."""
    while frame.f_globals.get("__name__", "").partition(".")[0] == "torch":
        frame = frame.f_back
    return frame


class Range(NamedTuple):
    """A call of an operation, and the sequence numbers that were given out during it."""

    start: int
    stop: int
    function: Any
    code: CodeType
    instruction: int

    @property
    def called(self) -> str:
        return getattr(self.function, "__name__", str(self.function))


@dataclass
class Ranges:
    """The calls of a program that made nodes."""

    made: list[Range] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)  # all calls, also those that made none

    def of(self, node: Any) -> Range | None:
        """The call that made a node."""
        number = node._sequence_nr()
        at = bisect_right(self.made, number, key=lambda one: one.start) - 1
        return self.made[at] if at >= 0 and number < self.made[at].stop else None


def note(noted: Ranges, start: int, function: Any, frame: Any) -> None:
    """Note the call that this frame made, if sequence numbers were given out since."""
    import torch

    if (stop := torch._C._autograd._get_sequence_nr()) != start:
        noted.made.append(Range(start, stop, function, frame.f_code, frame.f_lasti))


@cache
def mode_class() -> Any:
    """The mode of `ranges`. It is one class: for a class that it has not met, a function is compiled again."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __init__(self, noted):
            super().__init__()
            self.noted = noted

        def __torch_function__(self, function, types, args=(), kwargs=None):
            if torch.compiler.is_compiling():
                return function(*args, **(kwargs or {}))
            self.noted.seen.append(getattr(function, "__name__", str(function)))
            start = torch._C._autograd._get_sequence_nr()
            result = function(*args, **(kwargs or {}))
            note(self.noted, start, function, sys._getframe(1))
            return result

    return Mode


@contextmanager
def ranges() -> Iterator[Ranges]:
    """Note which sequence numbers each call gives out: of operations, and of `Function.apply`, which no mode sees."""
    import torch

    noted = Ranges()
    original = torch.autograd.Function.__dict__["apply"]

    def apply(cls, *arguments, **keywords):
        start = torch._C._autograd._get_sequence_nr()
        result = original.__get__(None, cls)(*arguments, **keywords)
        note(noted, start, cls, sys._getframe(1))
        return result

    torch.autograd.Function.apply = classmethod(apply)
    try:
        with mode_class()(noted):
            yield noted
    finally:
        torch.autograd.Function.apply = original
