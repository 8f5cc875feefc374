"""Calls of the user's functions by the engine: forward and backward of Functions, hooks, recomputations.

Note [What happens in a call]
  While a function of the user's runs, the recorder is told of every operation. Each becomes a step of the innermost
  open call, with the local variables of the user's function at that moment. The start and the end of the function
  itself are seen by a trace function (`sys.settrace`). It is active only while such a function runs, and never while
  a debugger or a coverage tool uses one of its own; without it, the last step has no line. A call has a budget of
  steps, and after very many not even the last ones are looked at: a solver may compute for as long as it likes in one
  backward. A segment has a budget of calls: a call beyond it is kept only if it raises.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType
from typing import Any, ClassVar, NamedTuple, cast

from microtape.basics.call_site import LIBRARY_FILES, CallSite
from microtape.functions.function_node import Context
from microtape.recording.model.calls import CallKind, CallStepKind
from microtape.recording.model.model import CallRecord, CallStep, ErrorRecord, FunctionRecord, Operand, Place, Variable
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.names.node_text import hook_name
from microtape.recording.writing.names.variable_names import is_tensor
from microtape.recording.writing.tape import Tape
from microtape.tape.node import Node
from microtape.tape.tensor_state import version_number

FIRST, LAST = 200, 50  # how many steps of a call are kept
LONG = 2000  # steps after which only the end of a call is kept, instead of its last steps
CALLS = 1000  # of a segment, or of sealed ones together
_ITEMS = 8  # a longer list of tensors is not shown item by item
_VARIABLES = 50
_OPTIMIZED = 1  # the flag of a function's code: its variables are its own, unlike those of a module


class CallBudget:
    """Says for how many more calls there is room; those count that are held."""

    def __init__(self) -> None:
        self.held: weakref.WeakSet[Call] = weakref.WeakSet()
        self._left_out = 0

    def has_room(self) -> bool:
        """Whether there is room for another call; if not, the call is counted as left out."""
        room = len(self.held) < CALLS
        self._left_out += not room
        return room

    @property
    def note(self) -> tuple[str, ...]:
        """The line that says how many calls are missing, if any are."""
        if not self._left_out:
            return ()
        return (f"{self._left_out:,} calls of Functions and hooks were not kept, after the first {CALLS:,}",)


def notes_of(budgets: Iterable[CallBudget]) -> list[str]:
    """The notes of these budgets, each of which is asked once."""
    return [note for one in dict.fromkeys(budgets) for note in one.note]


class Calls:
    """The calls of one segment, and what the Functions among them promised."""

    def __init__(self, budget: CallBudget | None = None) -> None:
        self.budget = budget if budget is not None else CallBudget()
        self.functions: list[FunctionRecord] = []
        self.numbers: dict[Node, int] = {}  # of the Functions that wrote into a view: the CopySlices they are inside of
        self._kept: list[Call] = []

    def begin(self, call: Call) -> None:
        """Number a new call, if there is room for it."""
        if self.budget.has_room():
            self._keep(call)

    def _keep(self, call: Call) -> None:
        call.number = len(self._kept)
        self._kept.append(call)
        self.budget.held.add(call)

    def end(self, call: Call) -> None:
        """Keep a call that failed in any case."""
        if call.number is None and call.error is not None:
            self._keep(call)

    def records(self) -> tuple[CallRecord, ...]:
        """The records of all calls, those included that have not ended."""
        return tuple([self._record(one) for one in self._kept])

    def _record(self, call: Call) -> CallRecord:
        """The record of a call; if that fails, one without steps: other records refer to it by its number."""
        assert call.number is not None
        with call.tape.faults.noting(f"what happened in {call.name}"):
            return call.record(self._number(call))
        return CallRecord(
            call.number, cast("CallKind", call.kind), call.name, None, None, None, None, None, (), 0, 0, None
        )

    def _number(self, call: Call) -> int | None:
        if call.node is None:
            return None
        return call.tape.ids.get(call.node, self.numbers.get(call.node))


class Kinds(NamedTuple):
    """What the values and the functions of an engine are."""

    is_tensor: Callable[[Any], bool]
    version: Callable[[Any], int]  # of a tensor
    attributes: Callable[[Any], Sequence[tuple[str, Any]] | None]  # that the user has set on a ctx; None: it is none
    is_library: Callable[[str], bool]  # whether a file is not the user's


class Call:
    """One call of a function of the user's, while it runs and afterwards."""

    kinds: ClassVar[Kinds]

    def __init__(
        self,
        kind: str,
        function: Callable[..., Any],
        tape: Tape,
        depth: int,
        *,
        node: Node | None,
        pass_: int | None,
        step: int | None,
        outer: Call | None,
    ) -> None:
        self.kind, self.tape, self.depth = kind, tape, depth
        self.node, self.pass_, self.step, self.outer = node, pass_, step, outer
        self.number: int | None = None
        self.code = code_of(function, self.kinds.is_library)
        self.name = _name_of(function, self.code)
        self.error: ErrorRecord | None = None
        self.first: list[CallStep] = []
        self.last: deque[CallStep] = deque(maxlen=LAST)
        self.count = 0
        self.left_at: Place | None = None  # the line at which the function returned or was left by an exception
        self.variables: tuple[Variable, ...] = ()  # when it was left
        self.objects: list[tuple[str, Any]] = []
        self._known: dict[str, tuple[Any, int, Variable]] = {}  # each variable as it was last: value, version, record
        self.inner: dict[Node, int | None] = {}  # the Functions that were called in here: the numbers of those calls

    def add(
        self,
        kind: CallStepKind,
        op: str,
        frame: FrameType | None,
        operands: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        *,
        in_place: bool = False,
        constants: Sequence[str] = (),
        node: int | None = None,
        inner: int | None = None,
    ) -> None:
        """Note a step, at the place of this frame of the user's."""
        if self.is_long and kind not in ("return", "raise"):
            self.leave_out()
            return
        if frame is None:
            place, variables = self.left_at, self.variables
        else:
            site = CallSite(frame.f_code, frame.f_lasti)
            sources = self.tape.sources
            place = sources.definition(frame.f_code) if kind == "enter" else sources.place(site)
            variables = self._variables_of(frame)
        made = tuple(map(self.tape.operand_inside, outputs))
        given = [self.tape.operand_inside(one) for one in operands[in_place:]]
        if in_place:
            given.insert(0, self.tape.overwritten(outputs[0], operands[0]))
        given += [Operand(None, text) for text in constants]
        step = CallStep(kind, op, place, tuple(given), made, in_place, variables, node, inner)
        self.count += 1
        if len(self.first) < FIRST:
            self.first.append(step)
        else:
            self.last.append(step)

    @property
    def is_long(self) -> bool:
        """Whether only the end of the call is still to be noted."""
        return self.count >= LONG

    def leave_out(self) -> None:
        """Count a step that is not noted."""
        self.count += 1
        self.last.clear()

    def complete(self, function: Node, outputs: Sequence[Any], number: int | None) -> None:
        """Add to the step of a Function that was called in here what it returned, and the number of its node."""
        inner = self.inner.pop(function, None)
        steps: Any = self.last or self.first
        for at in range(len(steps) - 1, -1, -1):
            if inner is not None and steps[at].kind == "call" and steps[at].inner == inner:
                steps[at] = steps[at]._replace(outputs=tuple(map(self.tape.operand_inside, outputs)), node=number)
                return

    def entered(self, frame: FrameType) -> None:
        """The function is about to begin, in this frame."""
        self.add("enter", self.name, frame)

    def leaving(self, frame: FrameType) -> None:
        """The function returns, or an exception leaves it."""
        self.left_at = self.tape.sources.place(CallSite(frame.f_code, frame.f_lasti))
        self.variables = self._variables_of(frame)
        self.objects = list(_objects_in(frame, self.kinds))

    def raised(self, error: ErrorRecord, frame: FrameType | None) -> None:
        """The function was left by an exception; `frame` is where it was raised, if not in an inner call."""
        self.error = error
        self.add("raise", error.type, frame)

    def forget(self) -> None:
        """Let go of the values in the function."""
        self.objects, self._known = [], {}

    def returned(self, value: Any) -> None:
        """The function has returned."""
        self.add("return", "return", None, outputs=value if type(value) is tuple else (value,))

    def _variables_of(self, frame: FrameType) -> tuple[Variable, ...]:
        found: list[Variable] = []
        for name, value in islice(_objects_in(frame, self.kinds), _VARIABLES):
            version = self.kinds.version(value) if self.kinds.is_tensor(value) else 0
            known = self._known.get(name)
            kind = type(value)
            is_mutable = kind is list or kind is dict  # it may look different now
            if known is None or known[0] is not value or known[1] != version or is_mutable:
                known = self._known[name] = value, version, Variable(name, self.tape.operand_inside(value))
            found.append(known[2])
        return tuple(found)

    def record(self, node: int | None) -> CallRecord:
        """The record; of a call that has not ended, as far as it has come."""
        assert self.number is not None
        steps = (*self.first, *self.last)
        return CallRecord(
            id=self.number,
            kind=cast("CallKind", self.kind),
            name=self.name,
            node=node,
            pass_=self.pass_,
            step=self.step,
            outer=self.outer.number if self.outer is not None else None,
            place=_definition(self.code, self.tape),
            steps=steps,
            left_out=self.count - len(steps),
            left_out_at=len(self.first),
            error=self.error,
        )


class FrameTrace:
    """A trace function that tells a call of the start and the end of its function.

    See Note [What happens in a call].
    """

    def __init__(self, call: Call, faults: Faults) -> None:
        self.call, self.faults = call, faults
        self.began = False
        self.before: FrameTrace | None = None

    @classmethod
    def install(cls, call: Call, faults: Faults) -> FrameTrace | None:
        """Trace what follows, unless somebody else does."""
        before: Any = sys.gettrace()
        if call.code is None or not (before is None or isinstance(before, FrameTrace)):
            return None
        trace = cls(call, faults)
        trace.before = before
        sys.settrace(trace)
        return trace

    def remove(self) -> None:
        """Go on with the trace function of the outer call."""
        current: Any = sys.gettrace()
        if current is self:
            sys.settrace(self.before)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A new frame begins: trace it if it is the function's."""
        if self.began or frame.f_code is not self.call.code:
            return None
        self.began = True
        frame.f_trace_lines = False
        with self.faults.noting(f"the start of {self.call.name}"):
            self.call.entered(frame)
        return self._in_function

    def _in_function(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            with self.faults.noting(f"the end of {self.call.name}"):
                self.call.leaving(frame)
        return self._in_function


def _is_ours(file: str) -> bool:
    return file in LIBRARY_FILES


def code_of(function: Any, is_library: Callable[[str], bool] = _is_ours) -> CodeType | None:
    """The code of a function, below a decorator of the library's; None if it is not written in Python.

    Attributes of other objects are not looked at: that may run the user's code.
    """
    kind = type(function)
    if kind is CodeType:
        code: CodeType = function
        return code
    if kind is MethodType:
        return code_of(function.__func__, is_library)
    if kind is functools.partial:
        return code_of(function.func, is_library)
    if kind is FunctionType:
        wrapped = vars(function).get("__wrapped__")
        code = function.__code__
        return code_of(wrapped, is_library) if wrapped is not None and is_library(code.co_filename) else code
    if issubclass(kind, type | BuiltinFunctionType):
        return None
    called = next((vars(one)["__call__"] for one in kind.__mro__ if "__call__" in vars(one)), None)
    return called.__code__ if type(called) is FunctionType else None


def is_users(function: Any, is_library: Callable[[str], bool] = _is_ours) -> bool:
    """Whether a function is worth a call of its own: it is not one of the library's."""
    code = code_of(function, is_library)
    return code is not None and not is_library(code.co_filename)


def _name_of(function: Any, code: CodeType | None) -> str:
    name = code.co_qualname if code is not None else hook_name(function)
    return name.rpartition("<locals>.")[2]


def _definition(code: CodeType | None, tape: Tape) -> Place | None:
    """The line of the function's `def`."""
    if code is None:
        return None
    return tape.sources.definition(code)


def _objects_in(frame: FrameType, kinds: Kinds) -> Iterator[tuple[str, Any]]:
    """The variables of a function, with the attributes of ctx and the tensors in short lists."""
    if not frame.f_code.co_flags & _OPTIMIZED:
        return
    for name, value in list(frame.f_locals.items()):
        kind = type(value)
        if name.startswith("."):
            continue  # the iterator of a comprehension
        attributes = kinds.attributes(value)
        if attributes is not None:
            yield from [(f"{name}.{key}", one) for key, one in attributes]
        elif (kind is list or kind is tuple) and 0 < len(value) <= _ITEMS and any(map(kinds.is_tensor, value)):
            yield from [(f"{name}[{i}]", one) for i, one in enumerate(value)]
        else:
            yield name, value


def attributes_of(ctx: Context) -> list[tuple[str, Any]]:
    """The attributes that the user has set on ctx."""
    return [(name, value) for name, value in vars(ctx).items() if name not in ("_node", "materialize_non_diff_grads")]


def _of_ctx(value: Any) -> list[tuple[str, Any]] | None:
    return attributes_of(value) if type(value) is Context else None


Call.kinds = Kinds(is_tensor, version_number, _of_ctx, _is_ours)
