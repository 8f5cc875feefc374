"""Runs a program on one of the two modules and keeps what can be observed after each statement."""

from __future__ import annotations

import re
import threading
import traceback
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.parity.observe import Flags, Value, as_microtape
from tests.parity.random.program import THREAD, Block, Program, Statement, compiled

WRITE = re.compile(r"(\w+)(\.\w+_\(|\[.*\] = )")
"""The beginning of a statement that writes to the tensor of this name."""


@dataclass
class Seen:
    """What one statement did: its error, what it logged, the tensors that it assigned, and all gradients."""

    number: int
    source: str
    error: tuple[type[Exception], str] | None = None  # its class, and the first line of its text
    log: list[tuple[Any, ...]] = field(default_factory=list)
    results: list[tuple[str, Any]] = field(default_factory=list)
    gradients: list[tuple[str, Any]] = field(default_factory=list)
    in_level: bool = False  # whether a dual level is open
    had_level: bool = False  # whether one has been open
    raised_in: str = ""  # the function of the program that raised the error
    past: frozenset[str] = frozenset()  # what has happened before that may explain a difference
    in_thread: bool = False  # whether it runs in a thread of its own
    shares_gradient: bool = False  # whether the engine has left a gradient in memory that something else also has


class Session:
    """The state of a program that runs on `mt`: its variables, and what has been seen."""

    def __init__(self, mt: Any) -> None:
        self.mt = mt
        self.seen: list[Seen] = []
        self.now = Seen(0, "")
        self.second_order = False  # see Note [Gradients of gradients] in compare
        self.level = self.had_level = False  # whether a dual level is open, or has been
        self.past: set[str] = set()
        self.of_gradients: set[str] = set()  # names of tensors computed from gradients: how often the engine has
        # written to them, and of what they are views, is its own affair
        self.names: dict[str, Any] = {
            "mt": mt,
            "fw": mt.autograd.forward_ad,
            "checkpoint": mt.utils.checkpoint.checkpoint,
            "log": self.log,
            "show": self.show,
            "plus": lambda a, b: b if a is None else a + b,
            "watch_nodes": self.watch_nodes,
        }
        self.given = set(self.names) | {"__builtins__"}

    # What a program calls

    def log(self, label: str, *seen: Any) -> None:
        """Keep what a hook or a Function sees: tensors by value, and the grad mode."""
        if not isinstance(label, str):
            raise TypeError("the label of what is logged is a text")
        self.now.log.append((label, *[self.described(one) for one in seen], self.mt.is_grad_enabled()))

    def show(self, tensor: Any) -> None:
        """Keep a tensor with all its flags."""
        of_gradient = any(self.names[name] is tensor for name in self.of_gradients if name in self.names)
        self.now.log.append(("show", self.described(tensor), self.flags(tensor, of_gradient)))

    def watch_nodes(self, root: Any) -> None:
        """Log when each node that the root reaches now is evaluated."""
        nodes: dict[Any, str] = {}
        stack = [root.grad_fn]
        while stack:
            node = stack.pop()
            if node is not None and node not in nodes:
                leaf = "AccumulateGrad" in node.name()
                nodes[node] = label = f"{'leaf' if leaf else 'node'} {len(nodes)} {node.name()}"
                node.register_prehook(lambda gradients, label=label: self.log(label))
                stack.extend(to for to, _ in reversed(node.next_functions))

    # Observing

    def value(self, tensor: Any) -> Value:
        """The values of a tensor and whether it requires grad. `force`: some zeros have no memory in torch."""
        return Value(np.array(tensor.detach().numpy(force=True)), tensor.requires_grad)

    def described(self, thing: Any) -> Any:
        """A value that the outcomes on both modules can be compared by."""
        if isinstance(thing, self.mt.Tensor):
            return self.value(thing)
        if isinstance(thing, tuple | list):
            return [self.described(one) for one in thing]
        if isinstance(thing, bool | int | float | None):
            return thing
        return as_microtape(re.sub(r"^<\S+ object at \w+>$", "an object", str(thing)))

    def flags(self, tensor: Any, of_gradient: bool = False) -> Any:
        """The autograd attributes of a tensor; not all of an inference tensor, which has no version, of a gradient,
        and of a tensor that a recorded pass may have computed."""
        if tensor.is_inference() or self.second_order or of_gradient:
            return tensor.is_leaf, tensor._is_view() if not self.second_order and not of_gradient else None
        node = tensor.grad_fn
        return Flags(
            tensor.is_leaf,
            tensor._version,
            tensor._is_view(),
            tensor.output_nr,
            node.name() if node is not None else None,
            tensor.retains_grad,
        )

    def tensors(self) -> list[tuple[str, Any]]:
        """The program's variables that are tensors."""
        return [(name, one) for name, one in list(self.names.items()) if isinstance(one, self.mt.Tensor)]

    def gradients(self) -> list[tuple[str, Any]]:
        """The values of every `.grad`, and whether it is that of a leaf."""
        found = []
        for name, tensor in self.tensors():
            with suppress(RuntimeError):  # a view whose history may not be regenerated
                if tensor.is_leaf or tensor.retains_grad:
                    gradient = tensor.grad
                    if gradient is not None or tensor.requires_grad:
                        found.append((name, None if gradient is None else self.value(gradient), tensor.is_leaf))
        return found

    def gradient_is_shared(self, results: Collection[str]) -> bool:
        """Whether one of these results of `grad`, or a `.grad`, is in memory that another tensor has, too."""
        held: list[tuple[Any, np.ndarray, bool]] = []
        for name, tensor in self.tensors():
            held.append((tensor, np.asarray(tensor.detach().numpy(force=True)), name in results))
            gradient = self.gradient_of(tensor)
            if gradient is not None:
                held.append((gradient, np.asarray(gradient.detach().numpy(force=True)), False))
        own = [place for place, (_, _, is_result) in enumerate(held) if is_result]
        own += [place for place in range(1, len(held)) if held[place][0] is self.gradient_of(held[place - 1][0])]
        return any(
            (held[place][2] and tensor is held[place][0])
            or (tensor is not held[place][0] and np.may_share_memory(held[place][1], array))
            for place in own
            for other, (tensor, array, _) in enumerate(held)
            if other != place
        )

    def gradient_of(self, tensor: Any) -> Any:
        """The `.grad` of a tensor, None where there is none."""
        with suppress(RuntimeError):
            return tensor.grad if tensor.is_leaf or tensor.retains_grad else None
        return None

    # Running

    def run(self, program: Program) -> list[Seen]:
        """Run a whole program, and look at all its tensors in the end."""
        with quiet():
            for statement in program:
                self.do(statement)
            self.end()
        return self.seen

    def do(self, statement: Statement) -> None:
        """Run one statement."""
        if isinstance(statement, str):
            self.guarded(statement, lambda: self.execute(statement))
        else:
            with self.inside(statement.header) as entered:
                if entered:
                    self.body(statement)

    def body(self, block: Block) -> None:
        """Run the statements of a block."""

        def work() -> None:
            for statement in block.body:
                self.do(statement)

        in_thread(work) if block.header == THREAD else work()

    def execute(self, source: str) -> None:
        """Run the source of a statement, and look at what it assigns."""
        code, names = compiled(source)
        if ".register_" in source:  # torch 2.13 crashes in register_hook if it must regenerate a view's grad_fn
            for _, tensor in self.tensors():
                with suppress(RuntimeError):
                    _ = tensor.grad_fn
        self.second_order |= "create_graph=True" in source
        replaced = re.match(r"(\w+)\.data = ", source)
        before = self.names[replaced[1]].shape if replaced else None
        later = [(one, one.grad_fn) for _, one in self.tensors() if self.is_later_output(one)]
        exec(code, self.names)
        if any(one.grad_fn is not node for one, node in later):
            self.past.add("a later output that retains its gradient was overwritten")
        if source.startswith("def ") and "for g in gs:" in source:
            self.past.add("a node's hook writes to gradients")
        if source.startswith("def ") and re.search(r"\bg\.\w+_\(", source):
            self.past.add("a tensor's hook writes to a gradient")
        if source.startswith("class ") and ".backward()" in source:
            self.past.add("a Function's backward runs a pass")
        if source.startswith("class ") and "mark_dirty(" in source:
            self.past.add("a Function writes to its argument")
        if source.startswith("def unpack_") and "return x * 2" in source:
            self.past.add("an unpack hook changes values")
        if source.startswith("class ") and "    g0.mul_(3)" in source:
            self.past.add("a backward writes to gradients")
        if source.startswith("def ") and ".remove()" in source:
            self.past.add("a hook removes another")
        if threading.current_thread() is not threading.main_thread():
            self.past.add("nodes were recorded in a thread")
        if self.had_level and ".data = " in source:
            self.past.add("data was replaced after a level")
        if replaced and self.names[replaced[1]].shape != before:
            self.past.add("data of another shape was assigned")
        if "use_reentrant=True" in source:
            self.past.add("a checkpoint is re-entrant")
        if "autograd.grad(" in source or self.uses_gradient(source):
            self.of_gradients.update(names)
        else:
            self.of_gradients.difference_update(names)
        if "unpack_dual(" in source:  # so is that of a tangent
            self.of_gradients.update(names[1:])
        for name in names:
            thing = self.names[name]
            if isinstance(thing, self.mt.Tensor):
                version = None if thing.is_inference() or name in self.of_gradients else thing._version
                self.now.results.append((name, (self.value(thing), version, thing.is_leaf, self.tangent(thing))))
                if thing.is_inference():
                    self.past.add("there are inference tensors")
                    if thing.requires_grad:
                        self.past.add("an inference tensor requires grad")
            else:
                self.now.results.append((name, type(thing).__name__ if isinstance(thing, bool | float | None) else ""))
        if self.level:
            named = [self.names.get(name) for name in re.findall(r"\w+", source)]
            tangents = [self.tangent(one) for one in named if isinstance(one, self.mt.Tensor)]
            if any(tangent is not None and tangent.requires_grad for tangent in tangents):
                self.past.add("tangents have a history")
            if "checkpoint(" in source:
                self.past.add("a checkpoint ran in a level")

    def uses_gradient(self, source: str) -> bool:
        """Whether the statement names a tensor that is computed from gradients."""
        return not self.of_gradients.isdisjoint(re.findall(r"\w+", source))

    def is_later_output(self, tensor: Any) -> bool:
        """Whether this is one of several outputs, but not the first, and retains its gradient."""
        return not tensor._is_view() and tensor.retains_grad and tensor.output_nr > 0

    def tangent(self, tensor: Any) -> Any:
        """The values of the tangent of a tensor, if a dual level is open."""
        if not self.level:
            return None
        tangent = self.mt.autograd.forward_ad.unpack_dual(tensor).tangent
        return None if tangent is None else self.value(tangent)

    def guarded(self, source: str, work: Any) -> None:
        """Do `work`, the statement `source`; its error is seen, and so are all gradients if it ran a pass."""
        in_thread = threading.current_thread() is not threading.main_thread()
        self.now = Seen(len(self.seen), source, in_level=self.level, had_level=self.had_level, in_thread=in_thread)
        of_gradient = {"a gradient is used"} if self.uses_gradient(source) else set()
        self.now.past = frozenset(self.past | of_gradient)
        self.seen.append(self.now)
        try:
            work()
        except Exception as error:
            text = as_microtape(getattr(error, "summary", None) or str(error)).partition("\n")[0]
            self.now.error = type(error), text
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__) if frame.name in self.names]
            self.now.raised_in = frames[-1] if frames else ""
            unfinished = "pack hook is modifying|Inference tensors cannot be saved"
            if self.level:  # then the write of the tangent was not completed
                unfinished += "|used in an in-place operation"
            if self.now.raised_in.startswith("pack") or re.search(unfinished, text):
                self.past.add("a write was not completed")
        if "backward" in source or "grad" in source or self.now.error:
            self.now.gradients = self.gradients()
        if "backward(" in source or "autograd.grad(" in source:
            self.now.shares_gradient = self.gradient_is_shared([name for name, _ in self.now.results])

    @contextmanager
    def inside(self, header: str) -> Iterator[bool]:
        """Enter the context manager of a block; yields whether that raised no error."""
        if header == THREAD:
            self.guarded(header, lambda: None)
            yield True
            return
        manager: list[Any] = []

        def enter() -> None:
            code = compiled(header.removeprefix("with ").removesuffix(":").join(["manager = ", ""]))[0]
            exec(code, self.names)
            manager.append(self.names.pop("manager"))
            manager[0].__enter__()

        level = self.level
        self.guarded(header, enter)
        entered = self.now.error is None
        self.level |= entered and "dual_level" in header
        self.had_level |= self.level
        try:
            yield entered
        finally:
            self.level = level
            if entered:
                self.guarded(f"end of {header}", lambda: manager[0].__exit__(None, None, None))

    def end(self) -> None:
        """Look at all tensors."""

        def look() -> None:
            for name, tensor in self.tensors():
                try:
                    self.now.results.append((name, (self.value(tensor), self.flags(tensor, name in self.of_gradients))))
                except RuntimeError as error:
                    self.now.results.append((name, as_microtape(str(error)).partition("\n")[0]))

        self.guarded("the end", look)
        self.now.gradients = self.gradients()
        self.mt.set_grad_enabled(True)


def in_thread(work: Any) -> None:
    """Do `work` in a thread, and wait for it."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings: the handwritten programs compare them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
