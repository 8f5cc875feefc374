"""Randomly generated programs, and how to run one on a module.

A program is a list of instructions such as ("binary", 3, 0, 2). The numbers, modulo the number of choices, select among
the operations and the tensors that exist when the instruction runs. So every list is a program; an invalid one raises
the same error on both sides.

Note [Gradients of gradients]
  The nodes that a recorded backward pass leaves in the graph depend on how derivatives are written: torch may have one
  node where microtape has three. Values, flags and errors are the same. Names, edges and the time when a leaf is
  evaluated among those nodes are different, and not compared where such nodes take part. A program ends at an error in
  such a pass.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.parity.observe import Event, Program, Raised, See, as_microtape, differences, reachable
from tests.parity.random_operations import BINARY, COPIES_FROM, FUNCTIONS, HOOKS, IN_PLACE, UNARY, VIEWS, functions_of

Instruction = tuple[Any, ...]

SHAPES = [(2, 3), (3,), (2, 3), (), (1, 3), (2, 1), (0,)]
CONTEXTS = ["no_grad", "enable_grad", "inference_mode", "saved_tensors_hooks", "save_on_cpu"]
MOST_TENSORS = 15


class Options(NamedTuple):
    """The options of a call of `backward` or `grad`."""

    retain_graph: bool | None
    create_graph: bool
    unused: str  # for unused inputs: an error, None, or zeros
    edges: str  # where to pass GradientEdges instead of tensors: "inputs", "roots" or nowhere
    implicit: bool  # omit the first gradient where it is optional
    ordered: bool  # whether to log the order of nodes


_number = st.integers(0, 40)
_roots = st.lists(_number, min_size=1, max_size=2)
_options = st.builds(
    Options,
    st.sampled_from([True, True, None, False]),
    st.sampled_from([False, False, True]),
    st.sampled_from(["none", "none", "zeros", "error"]),
    st.sampled_from(["", "", "", "", "inputs", "roots"]),
    st.booleans(),
    st.booleans(),
)
_backward = st.tuples(st.just("backward"), _roots, st.lists(_number, max_size=2), _options)
_grad = st.tuples(st.just("grad"), _roots, st.lists(_number, min_size=1, max_size=3), _options)
_simple: st.SearchStrategy[Instruction] = st.one_of(
    st.tuples(st.just("leaf"), _number, st.booleans()),
    *[st.tuples(st.just("unary"), _number, _number)] * 2,
    *[st.tuples(st.just("binary"), _number, _number, _number)] * 2,
    *[st.tuples(st.just("view"), _number, _number)] * 2,
    *[st.tuples(st.just("in_place"), _number, _number, _number)] * 2,
    *[st.tuples(st.just("function"), st.integers(0, FUNCTIONS - 1), _number, _number)] * 2,
    *[st.tuples(st.just("hook"), _number, _number, st.integers(0, 6))] * 2,
    st.tuples(st.just("remove_hook"), _number),
    st.tuples(st.just("flag"), _number, st.integers(0, 8)),
    st.tuples(st.just("look"), _number),
    st.tuples(st.just("drop"), _number),
    st.tuples(st.just("take_grad"), _number),
    *[_backward, _grad] * 2,
)
_within = st.tuples(st.just("within"), st.sampled_from(CONTEXTS), st.lists(_simple, min_size=1, max_size=5))
PROGRAMS: st.SearchStrategy[list[Instruction]] = st.lists(st.one_of(*[_simple] * 6, _within), min_size=10, max_size=30)


def listing(instructions: list[Instruction], step: int = 1, indent: str = "") -> list[str]:
    """The program as lines, numbered like the observations."""
    lines = []
    for instruction in instructions:
        inside = instruction[-1] if instruction[0] == "within" else []
        lines.append(f"{step:4} {indent}{instruction[:-1] if inside else instruction}")
        lines += listing(inside, step + 1, indent + "    ")
        step += 1 + len(inside)
    return lines


class Steps(See):
    """A See that logs the number of the instruction instead of the line."""

    step = 0
    has_created_graph = False  # whether a pass has run with `create_graph=True`

    def _add(self, seen: Any) -> None:
        self.events.append(Event(self.step, seen))

    def value(self, *tensors: Any) -> None:
        """As in See, but for a recorded gradient of zeros without requires_grad, which depends on the formulas."""
        seen = [None if tensor is None else self._value(tensor) for tensor in tensors]
        if self.has_created_graph:
            seen = [one if one is None or one.array.any() else one._replace(requires_grad=False) for one in seen]
        self._add(seen)

    def _raised(self, error: BaseException) -> Raised:
        return Raised(type(error), as_microtape(getattr(error, "summary", None) or str(error)), 0)


def program_of(instructions: list[Instruction]) -> Program:
    """The instructions as a program for `observe.run`."""

    def program(mt: Any, see: See) -> None:
        assert isinstance(see, Steps)
        machine = Machine(mt, see)
        with contextlib.suppress(ProgramEnd):
            for instruction in instructions:
                machine.run(instruction)
        for tensor in machine.tensors:
            see.step += 1
            with see.raising():
                machine.look_at(tensor)
            see.value(tensor.grad if tensor.is_leaf else None)

    return program


class ProgramEnd(Exception):  # noqa: N818 - not an error
    """Ends a program whose remaining instructions cannot be compared; see Note [Gradients of gradients]."""


class Machine:
    """The state of a program, and a method for each instruction."""

    def __init__(self, mt: Any, see: Steps) -> None:
        self.mt, self.see = mt, see
        self.functions = functions_of(mt, self.note_values)
        self.register_multi_grad_hook = mt.autograd.graph.register_multi_grad_hook
        x, y = self.values((2, 3), 1).requires_grad_(), self.values((3,), 2).requires_grad_()
        product = x * y
        self.tensors: list[Any] = [x, y, self.values((2, 3), 3), product, product[0], product.tanh()]
        self.handles: list[Any] = []
        self.notes: list[tuple[str, list[Any]]] = []  # what hooks and Functions saw in the present pass
        self.recorded_passes: list[tuple[int, int]] = []  # the sequence numbers before and after each

    def values(self, shape: tuple[int, ...], seed: int) -> Any:
        """A tensor of small numbers, which depend on the seed."""
        count = 1
        for size in shape:
            count *= size
        numbers = [((7 * i + 3 * seed) % 11 - 5) / 4 for i in range(count)]
        return self.mt.tensor(numbers, dtype=self.mt.float64).reshape(shape).clone()

    def tensor(self, number: int) -> Any:
        """The tensor that `number` selects."""
        return self.tensors[number % len(self.tensors)]

    def in_graph(self, number: int, *, leaves: bool = True) -> Any:
        """Mostly a tensor that requires grad; without `leaves`, mostly one that may be written to."""
        some = [one for one in self.tensors if (one.requires_grad if leaves else one.grad_fn or not one.requires_grad)]
        return some[number % len(some)] if some and number % 8 else self.tensor(number)

    def look_at(self, tensor: Any) -> None:
        """Log a tensor with all its flags; of an inference tensor, which has no version, only the values."""
        if tensor.is_inference():
            self.see.value(tensor)
        else:
            self.see(tensor)

    def note(self, kind: str, *tensors: Any) -> None:
        """Keep what a hook or a Function has seen until the end of the pass."""
        seen = [None if tensor is None else self.see._value(tensor) for tensor in tensors]
        self.notes.append((kind, seen))

    def note_values(self, *tensors: Any) -> None:
        """`note` for the backward of a Function."""
        self.note("backward", *tensors)

    def run(self, instruction: Instruction) -> None:
        """Run one instruction, and log its results or its error."""
        self.see.step += 1
        name, *arguments = instruction
        try:
            result = getattr(self, name)(*arguments)
        except Exception as error:
            if isinstance(error, ProgramEnd):
                raise
            self.see._add(self.see._raised(error))
            for tensor in self.tensors:  # so that it does not matter how many were read before the error
                with contextlib.suppress(RuntimeError):
                    _ = tensor.grad_fn
            return
        self.keep(result)

    def keep(self, result: Any) -> None:
        """Add the tensors of a result to the program's tensors."""
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, self.mt.Tensor) and len(self.tensors) < MOST_TENSORS:
                self.tensors.append(tensor)
                self.look_at(tensor)

    # The instructions

    def leaf(self, number: int, requires_grad: bool) -> Any:
        shape = SHAPES[number % len(SHAPES)]
        tensor = self.values(shape, number)
        return tensor if tensor.is_inference() else tensor.requires_grad_(requires_grad)  # see programs_inference

    def unary(self, which: int, x: int) -> Any:
        tensor = self.tensor(x)
        computed = tensor.is_inference() and not self.mt.is_inference_mode_enabled()  # in torch, a copy is at version 1
        return UNARY[which % (COPIES_FROM if computed else len(UNARY))](tensor)

    def binary(self, which: int, x: int, y: int) -> Any:
        return BINARY[which % len(BINARY)](self.tensor(x), self.tensor(y))

    def view(self, which: int, x: int) -> Any:
        return VIEWS[which % len(VIEWS)](self.tensor(x))

    def in_place(self, which: int, x: int, y: int) -> None:
        target, other = self.in_graph(x, leaves=False), self.tensor(y)
        if other is not target and np.may_share_memory(target.detach().numpy(), other.detach().numpy()):
            other = other.detach().clone()  # torch does not define writes to memory that the operation reads
        if self.may_be_written_to(target):
            IN_PLACE[which % len(IN_PLACE)](target, other)

    def function(self, which: int, x: int, y: int) -> Any:
        tensor = self.tensor(x)
        if not self.may_be_written_to(tensor):
            return None
        return self.functions[which].apply(tensor, self.tensor(y), 3.0)

    def may_be_written_to(self, tensor: Any) -> bool:
        """Whether the mode allows a write. If not, torch writes first and raises afterwards."""
        return not tensor.is_inference() or self.mt.is_inference_mode_enabled()

    def within(self, name: str, instructions: list[Instruction]) -> None:
        with self.context(name):
            for instruction in instructions:
                self.run(instruction)

    def context(self, name: str) -> Any:
        graph = self.mt.autograd.graph
        if name == "saved_tensors_hooks":
            return graph.saved_tensors_hooks(lambda saved: saved.detach().clone(), lambda kept: kept)
        return graph.save_on_cpu() if name == "save_on_cpu" else getattr(self.mt, name)()

    def hook(self, x: int, which: int, kind: int) -> None:
        tensor, change, number = self.in_graph(x), HOOKS[which % len(HOOKS)], len(self.handles)
        for one in self.tensors:  # torch 2.13 crashes in register_hook if it must regenerate a view's grad_fn
            with contextlib.suppress(RuntimeError):
                _ = one.grad_fn

        def on_tensor(gradient: Any) -> Any:
            self.note(f"hook {number}", gradient)
            return None if gradient is None else change(gradient)

        def before_node(gradients: Any) -> Any:
            self.note(f"pre-hook {number}", *gradients)
            changed = tuple(None if gradient is None else change(gradient) for gradient in gradients)
            return None if which % 2 or any(a is None for a in changed) else changed

        def after_node(gradients: Any, arrived: Any) -> Any:
            self.note(f"post-hook {number}", *gradients, *arrived)
            changed = tuple(None if gradient is None else change(gradient) for gradient in gradients)
            return None if which % 2 or any(a is None for a in changed) else changed

        if kind <= 2:
            handle = tensor.register_hook(on_tensor)
        elif kind == 3:
            handle = tensor.register_post_accumulate_grad_hook(lambda leaf: self.note(f"accumulated {number}", leaf))
        elif kind == 6 and not self.mt.is_inference_mode_enabled():
            several = [one for one in (tensor, self.in_graph(which)) if one.requires_grad]
            if which % 2:
                handle = self.register_multi_grad_hook(several, lambda g: self.note(f"any {number}", g), mode="any")
            else:
                handle = self.register_multi_grad_hook(several, lambda gs: self.note(f"all {number}", *gs), mode="all")
        elif kind == 6 or tensor.grad_fn is None:
            return
        else:
            node = tensor.grad_fn
            handle = node.register_prehook(before_node) if kind == 4 else node.register_hook(after_node)
        self.handles.append(handle)

    def remove_hook(self, number: int) -> None:
        if self.handles:
            self.handles[number % len(self.handles)].remove()

    def flag(self, x: int, which: int) -> None:
        tensor = self.tensor(x)
        if which == 0 and not (tensor.is_inference() and self.mt.is_inference_mode_enabled()):
            tensor.requires_grad_()
        elif which == 1:
            tensor.requires_grad_(False)
        elif which == 2 and not self.mt.is_inference_mode_enabled():
            tensor.detach_()
        elif which in (3, 4):
            tensor.retain_grad()
        elif which == 5:
            tensor.grad = None
        elif which == 6:
            tensor.grad = self.normal_values(tensor, 7)
        elif which == 7 and not tensor.is_inference():
            tensor.data = self.normal_values(tensor, 8)
        elif tensor.is_leaf and tensor.grad is not None:
            with self.mt.no_grad():
                tensor.grad.zero_()

    def normal_values(self, tensor: Any, seed: int) -> Any:
        """Values shaped like `tensor`, not an inference tensor in any mode; see `may_be_written_to`."""
        with self.mt.inference_mode(False):
            return self.values(tuple(tensor.shape), seed).to(tensor.dtype)

    def look(self, x: int) -> None:
        tensor = self.tensor(x)
        self.look_at(tensor)
        self.see.value(tensor.grad)
        if tensor.grad_fn is not None and not self.is_second_order([tensor]):
            self.see.graph(tensor)

    def drop(self, x: int) -> None:
        if len(self.tensors) > 4:
            del self.tensors[x % len(self.tensors)]

    def take_grad(self, x: int) -> Any:
        tensor = self.tensor(x)
        return tensor.grad * 1 if tensor.is_leaf and is_something(tensor.grad) else None

    def backward(self, roots: list[int], inputs: list[int], options: Options) -> None:
        if self.mt.is_inference_mode_enabled():
            return  # torch adds later gradients first, and raises afterwards
        tensors, gradients = self.first_gradients(roots, options)
        wanted = [self.as_input(number, options) for number in inputs] or None
        with self.watched(tensors, options):
            self.mt.autograd.backward(tensors, gradients, options.retain_graph, options.create_graph, inputs=wanted)
        self.see.value(*[one.grad for one in self.tensors if one.grad_fn is None or one.retains_grad])

    def grad(self, roots: list[int], inputs: list[int], options: Options) -> Any:
        if self.mt.is_inference_mode_enabled():
            return None
        tensors, gradients = self.first_gradients(roots, options)
        wanted = [self.as_input(number, options) for number in inputs]
        with self.watched(tensors, options):
            found = self.mt.autograd.grad(
                tensors,
                wanted,
                gradients,
                options.retain_graph,
                options.create_graph,
                allow_unused=True if options.unused == "none" else None,
                materialize_grads=options.unused == "zeros",
            )
        self.see.value(*found)
        return tuple(one * 1 for one in found if is_something(one)) if options.create_graph else None

    # Shared by backward and grad

    def as_input(self, number: int, options: Options) -> Any:
        tensor = self.in_graph(number)
        return self.edge(tensor) if options.edges == "inputs" else tensor

    def edge(self, tensor: Any) -> Any:
        inside = self.mt.is_inference_mode_enabled()  # where torch does not find the edge of a leaf
        return tensor if inside else self.mt.autograd.graph.get_gradient_edge(tensor)

    def first_gradients(self, roots: list[int], options: Options) -> tuple[list[Any], list[Any]]:
        tensors = [self.in_graph(number) for number in roots]
        gradients = [self.first_gradient(tensor, options) for tensor in tensors]
        if options.edges == "roots":
            return [self.edge(tensor) for tensor in tensors], gradients
        return tensors, gradients

    def first_gradient(self, tensor: Any, options: Options) -> Any:
        if tensor.numel() == 1 and options.implicit:
            return None
        return self.values(tuple(tensor.shape), 5) if tensor.dtype == self.mt.float64 else None

    @contextlib.contextmanager
    def watched(self, roots: list[Any], options: Options) -> Iterator[None]:
        """Log the order of nodes in the pass inside, and what its hooks and Functions see."""
        tensors = [root for root in roots if isinstance(root, self.mt.Tensor)]
        second_order = options.create_graph or len(tensors) < len(roots) or self.is_second_order(tensors)
        order = self.see.order(*tensors) if options.ordered and not second_order else contextlib.nullcontext()
        self.notes, before = [], self.next_sequence_nr()
        self.see.has_created_graph |= options.create_graph
        try:
            with order:
                yield
        except Exception as error:
            if second_order:
                self.see._add(self.see._raised(error))
                raise ProgramEnd from error
            self.see._add(self.notes)
            raise
        finally:
            if options.create_graph:
                self.recorded_passes.append((before, self.next_sequence_nr()))
        self.see._add(sorted(self.notes, key=lambda note: note[0]) if second_order else self.notes)

    def next_sequence_nr(self) -> int:
        with self.mt.inference_mode(False), self.mt.enable_grad():
            return int((self.mt.ones(1, requires_grad=True) * 1).grad_fn._sequence_nr())

    def is_second_order(self, tensors: list[Any]) -> bool:
        """Whether these tensors reach nodes of a recorded backward pass."""
        numbers = [node._sequence_nr() for node in reachable(tensors)] if self.recorded_passes else []
        return any(first < number < last for number in numbers for first, last in self.recorded_passes)


def is_something(gradient: Any) -> bool:
    """Whether the gradient is defined and not all zeros."""
    return gradient is not None and bool(gradient.detach().numpy().any())


TORCH_GIVES_UP = (
    "INTERNAL ASSERT",  # a bug in torch
    "Use of index_put_ on expanded tensors",  # torch will soon raise an error for this, as microtape does
    "a single memory location",  # depends on strides of dimensions of size 1; harmless, but raised in backward too
)
"""Messages of torch after which a program is not compared."""

FORBIDDEN = ("A view was created in", "is a view and", "Inference tensors cannot be saved")

LENIENT = [
    "PyTorch fails with an INTERNAL ASSERT on some programs with several mistakes",
    "writing through an index into an expanded tensor raises an error; PyTorch warns that it soon will",
    "only dimensions of more than one element decide whether elements share memory; PyTorch also looks at the "
    "strides of the others",
    "an operation with two mistakes, one of which is writing to a forbidden view or saving an inference tensor, may "
    "raise the error of either",
    "the message about an overwritten saved tensor says which output of its node it is; PyTorch says 0 for some",
    "writing to an inference tensor outside of inference mode raises an error and writes nothing; PyTorch writes first",
    "a copy of an inference tensor is at version 0; PyTorch's is at 1",
    "whether a gradient of zeros from `create_graph=True` requires grad depends on how the derivative is written",
    "`get_gradient_edge` of a leaf works in inference mode; PyTorch's fails with an AttributeError",
]
"""Differences that random programs avoid or tolerate, for the page of known differences."""


def differences_but_known(theirs: list[Event], ours: list[Event]) -> list[str]:
    """Like `differences`, without known ones; of a statement with two mistakes, either error is accepted."""
    if any(text in repr(event) for event in theirs for text in TORCH_GIVES_UP):
        return []
    for event, other in zip(theirs, ours, strict=False):
        for one in (event, other):
            if isinstance(one.seen, Raised):  # torch says 0 for every output
                one.seen = one.seen._replace(message=re.sub(r"output \d+ of", "output 0 of", one.seen.message))
        wrong = isinstance(event.seen, Raised) and isinstance(other.seen, Raised)
        if wrong and any(text in event.seen.message for text in FORBIDDEN):
            event.seen = other.seen
    return differences(theirs, ours)
