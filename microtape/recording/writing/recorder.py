"""The recorder: a watcher of the engine that makes a recording of what it sees.

It copies arrays while the program runs, because the engine adds into its buffers in place and users overwrite theirs.
It holds every object that it has seen, so that no id is reused before the recording is made. Its own faults do not
reach the program; see Note [A recorder that fails].
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from microtape.backward.engine import GraphTask
from microtape.basics.call_site import user_frame
from microtape.basics.collector import paused, seldom
from microtape.basics.followed_threads import Threads
from microtape.basics.fresh_stack import stack_ident
from microtape.recording.checking.finite_differences import GradientChecker
from microtape.recording.model.displayed import Displayed
from microtape.recording.model.model import CUT_SHORT, ErrorRecord, HookCall, Recording
from microtape.recording.model.options import Check
from microtape.recording.writing.aliases import MAKING, Aliases
from microtape.recording.writing.calls.call import CallBudget, Calls, notes_of
from microtape.recording.writing.calls.call_stack import CallStack
from microtape.recording.writing.copies import copied
from microtape.recording.writing.errors import error_record
from microtape.recording.writing.faults import AFTER_A_PASS, MISSING_WITHOUT, OF_PASSES, Faults, shielded
from microtape.recording.writing.joining import Additions, joined
from microtape.recording.writing.names.node_text import given_operands, hook_name, op_of
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.open_pass import LostPass, OpenPass
from microtape.recording.writing.passes_of_threads import PassesOfThreads
from microtape.recording.writing.segment import FreedNodes, Segment
from microtape.recording.writing.tape import Copies, Tape
from microtape.recording.writing.updates import Updates
from microtape.tape.grad_mode import mode
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import Watcher, watch


class Recorder(Watcher, Displayed):
    """A `Watcher` that makes a `Recording` of what happens between entering and leaving it.

    It watches the thread that made it, and those that this one starts; see Note [Passes of threads].

    `after_pass(n)` is called at the end of every outermost pass, where n is its index. `check` says which gradients are
    checked by finite differences. With `thread`, only the threads of that name are recorded. See Note [Segments].
    """

    def __init__(
        self,
        title: str = "record()",
        *,
        root: str | None = None,
        after_pass: Callable[[int], None] = lambda index: None,
        check: Check | None = None,
        thread: str | None = None,
    ) -> None:
        self.title = title
        self.check = check
        self.after_pass = after_pass
        self.sources = Sources(root)
        self.faults = Faults()
        self.aliases = Aliases()
        self.segments: list[Segment] = []
        self.begin_segment()
        self.count = 0  # how many passes have begun
        self.freed: FreedNodes = WeakKeyDictionary()
        self._open: list[OpenPass | LostPass] = []  # several where backward is called inside backward
        self._is_to_seal = False  # whether the segment ends with the passes that are running
        self.error: ErrorRecord | None = None
        self.threads = Threads(thread)
        self.passes_of_threads = PassesOfThreads(self._progress)
        self.lock = self.passes_of_threads.lock
        self.asleep = False
        self._call_stacks: dict[int, CallStack] = {}  # by thread
        self._additions: Additions[Segment] = Additions(self.freed)
        self._before: Any = None

    def __enter__(self) -> Recorder:
        if not self.asleep:
            self.threads.__enter__()
            watch.join(self, first=True)  # before watchers that change what is saved
            seldom.begin()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not self.asleep:
            watch.leave(self)
            for one in self._call_stacks.values():
                one.abandon()
            seldom.end()
            self.threads.__exit__()

    def sleep(self) -> None:
        """Watch nothing until `wake`."""
        if not self.asleep:
            self.__exit__(None, None, None)
            self.asleep = True

    def wake(self) -> None:
        """Watch again, and record in a new segment."""
        if self.asleep:
            self.asleep = False
            self.__enter__()
        self.begin_segment()

    @property
    def open(self) -> Sequence[OpenPass | LostPass]:
        """The passes that are running in this thread, as far as they are recorded; the innermost last."""
        return self._open if self.passes_of_threads.is_recorded_here() else ()

    def _progress(self) -> tuple[int, int]:
        """How far the recorded pass has come."""
        return (self._open[-1].index, len(self._open[-1].steps)) if self._open else (-1, 0)

    @property
    def call_stack(self) -> CallStack:
        """The calls that are running in this thread."""
        return self._call_stacks.get(ident := stack_ident()) or self._call_stacks.setdefault(ident, CallStack(self))

    def __repr__(self) -> str:
        """`<Recorder with <Recording of 'record()': 3 nodes, 1 pass, 3 steps>>`"""
        return f"<Recorder with {self.recording!r}>"

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        with paused():
            return self._recording()

    def _recording(self) -> Recording:
        unfinished = [found for one in self._open if (found := one.finish(None)) is not None]
        return dataclasses.replace(
            joined(self.segments, unfinished, self.freed, self.sources, self.count),
            title=self.title,
            sources=self.sources.texts(),
            error=self.error,
            notes=(*self._notes, *notes_of(one.calls.budget for one in self.segments)),
        )

    def seal(self) -> None:
        """End the segment, which stays: the next one does not copy again what this one has copied."""
        self._begin_segment(self.tape.copies, self.calls.budget)

    def additions(self) -> Iterator[Recording]:
        """What the sealed segments add to the recording, except those that were asked for before."""
        for segment in self._additions.new(self.segments[:-1]):
            added = self._additions.of(segment, self.sources, self.count)
            yield dataclasses.replace(added, title=self.title, notes=(*self._notes, *self.calls.budget.note))

    @property
    def _notes(self) -> tuple[str, ...]:
        return (*self.faults.lines, *self.passes_of_threads.notes())

    def begin_segment(self) -> None:
        """Record what follows in a new segment; the others are kept until they are removed from `segments`."""
        self._begin_segment()

    def _begin_segment(self, copies: Copies | None = None, budget: CallBudget | None = None) -> None:
        known = self.segments[-1].checker if self.segments else None
        checker = GradientChecker(self.check, known, self.sources.is_installed) if self.check is not None else None
        updates = self.segments[-1].updates.next_segment(self.count) if self.segments else Updates()
        tape, uses = Tape(self.sources, self.faults, copies), self.aliases.begin_segment()
        self.segments.append(Segment(tape, [], checker, updates, uses, Calls(budget)))
        self.tape, self.passes, self.checker, self.updates, _, self.calls = self.segments[-1]

    # Watcher

    @shielded
    def operation(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        open_here = self.open
        current = open_here[-1] if open_here else None
        made_by = current.node if current is not None else None
        index = current.index if current is not None else None
        call_stack = self.call_stack
        before = call_stack.arguments_of(node)
        given = given_operands(node, operands)
        made = self.tape.add(node, given, outputs, in_place, index, made_by, before)
        call_stack.note_operation(node, given, outputs, in_place, made)
        if self.checker is not None:
            with self.faults.noting(f"the check of the gradients of %{made}"):
                self.checker.remember(node, operands, outputs, in_place)
        self._note_use(node, operands, outputs, in_place)

    @shielded
    def unrecorded(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        if not self._withdrawn():
            on_tape = in_place and self.tape.holds(outputs[0])
            self.tape.borders.crossed(
                op_of(node), operands, outputs, in_place, len(self.tape.nodes), overwrites=on_tape
            )
            self._note_use(node, operands, outputs, in_place)
        else:
            self.call_stack.meet(operands)
        self.call_stack.note_operation(node, given_operands(node, operands), outputs, in_place, None)

    def _note_use(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        if self.aliases.concern(operands):
            self.aliases.used(op_of(node), (outputs[0], *operands[1:]) if in_place else operands)

    @shielded
    def called(self, node: Any, args: Sequence[Any], raw: Sequence[Any], outputs: Sequence[Any]) -> None:
        """See Watcher."""
        self.call_stack.function_called(node, args, raw, outputs)
        inside = self.call_stack.met_besides(args)
        if not self._withdrawn() and not node.next_nodes:
            self.tape.borders.crossed(op_of(node), args, outputs, False, len(self.tape.nodes), inside=inside)

    @shielded
    def without_history(self, op: str, operands: Sequence[TensorState], output: TensorState) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.tape.borders.crossed(op, operands, (output,), operands[0] is output, len(self.tape.nodes))
            if op in MAKING:
                self.aliases.made(operands[0], output)
            else:
                self.aliases.used(op, operands)
        else:
            self.call_stack.meet(operands)
        if op != "grad":  # whose pass was noted
            self.call_stack.note("operation", op, operands, (output,), in_place=operands[0] is output)

    @shielded
    def value_taken(self, op: str, tensor: TensorState, value: Any) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.tape.borders.left(op, tensor, value)
            self.aliases.used(op, (tensor,))
        self.call_stack.note("operation", op, (tensor,), (value,))

    @shielded
    def compared(self, op: str, operands: Sequence[TensorState]) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.aliases.used(op, operands)

    @shielded
    def tensor_made(self, value: Any, tensor: TensorState) -> None:
        """See Watcher."""
        if not self._withdrawn():
            known = self.tape.borders.entered(value, tensor, len(self.tape.nodes))
            if known is not None:
                self.tape.same(known, tensor)

    @shielded
    def writing(self, tensor: TensorState) -> None:
        """See Watcher."""
        if mode.internal:
            return
        if (leaf := self.updates.behind(tensor)) is not None:
            self._seal_passes(leaf)
        self.tape.keep(tensor)
        if not self.open:
            self.updates.writing(tensor, self.count)
        self.aliases.writing(tensor)

    @shielded
    def replacing(self, tensor: TensorState) -> None:
        """See Watcher."""
        if not mode.internal:
            self._seal_passes(tensor)

    def _seal_passes(self, leaf: TensorState) -> None:
        """End the segment if it has passes that know this version of the leaf, which is about to get another value.

        A pass that is running, which a hook of it may write behind, keeps the old value: the segment ends after it.
        """
        if self._open:
            self._is_to_seal = True
        elif self.passes and self.updates.is_as_reached(leaf):
            self.seal()

    @shielded
    def stepping(self, parameters: Sequence[TensorState]) -> None:
        """See Watcher."""
        self.updates.stepping(parameters)

    @shielded
    def stepped(self, parameters: Sequence[TensorState]) -> None:
        """See Watcher."""
        self.updates.stepped(parameters, self.count)

    @shielded
    def call_started(self, kind: str, node: Node | None, function: Callable[..., Any], args: Sequence[Any]) -> None:
        """See Watcher."""
        self.call_stack.begin(kind, node, function, args)
        if self.checker is not None and kind == "forward" and node is not None:
            with self.faults.noting(f"the check of the gradients of {node.name()}"):
                self.checker.calling(node, args)

    @shielded
    def call_ended(self, returned: Any, error: BaseException | None) -> None:
        """See Watcher."""
        self.call_stack.end(returned, error)

    @shielded
    def saved_read(self, node: Node, tensors: Sequence[Any]) -> None:
        """See Watcher."""
        self.call_stack.note("unpack", "saved_tensors", (), tensors)

    @shielded
    def task_started(self, task: GraphTask) -> None:
        """See Watcher."""
        if not self.passes_of_threads.begins(task, self.count):
            self.count += 1
            return
        self.call_stack.note("pass", "backward" if task.accumulate else "grad", (), inner=self.count)
        outermost = not self._open
        lost = LostPass(task, self.count)  # until everything about its start is known
        self._open.append(lost)
        self.count += 1
        roots = [node for node, _ in task.root.next_edges if node is not None]  # some may lead to none of the inputs
        self.tape.adopt([*task.dependencies, *roots])
        for tensor in [one for one in task.inputs if isinstance(one, TensorState)]:
            self.tape.adopt_tensor(tensor)
        if outermost:
            self.updates.pass_began(self.tape.leaves, lost.index)
            self.tape.find_names(user_frame(sys._getframe(1)))
        self._open[-1] = OpenPass(self.tape, task, lost.index)

    @shielded
    def node_started(self, task: GraphTask, node: Node, gradient: Any) -> None:
        """See Watcher."""
        if (current := self._current(task)) is not None:
            current.start(node, gradient)
            if self.checker is not None:
                with self.faults.noting(f"the check of the gradients of %{current.node}"):
                    self.checker.started(node)

    @shielded
    def delivered(self, task: GraphTask, node: Node, output: int, term: Any, total: Any) -> None:
        """See Watcher."""
        if node is not task.root and (current := self._current(task)) is not None:
            current.deliver(node, output, term, total)

    @shielded
    def hook_ran(self, task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
        """See Watcher."""
        if (current := self._current(task)) is not None:
            current.hooks.append(HookCall(kind, hook_name(hook), copied(before), copied(after)))

    @shielded
    def node_finished(self, task: GraphTask, node: Node, gradients: Any, freed: bool) -> None:
        """See Watcher."""
        if (current := self._current(task)) is None:
            return
        if freed:
            self.freed[node] = current.index, current.place
        current.end(gradients, freed, None)
        if self.checker is not None:
            step = current.steps[-1]
            with self.faults.noting(f"the check of the gradients of %{step.node}"):
                self.checker.check(node, current.index, step, create_graph=task.as_tensors)

    @shielded
    def task_finished(self, task: GraphTask, error: BaseException | None) -> None:
        """See Watcher."""
        self.passes_of_threads.ends(task)
        if not self.open or self.open[-1].task is not task:
            return  # it began before the recorder watched
        ended = self.open[-1]
        finished = ended.finish(self.error_record(error) if error is not None else None)
        if finished is not None:
            self.passes.append(finished)
        self._close()
        self._follow(ended.index)

    def _close(self) -> None:
        """The innermost pass has ended."""
        self._open.pop()
        if not self._open:
            self.passes_of_threads.free()

    def _current(self, task: GraphTask) -> OpenPass | None:
        """The pass of a task, unless it began before the recorder watched, or a fault has cut its recording short."""
        current = self._open[-1] if self._open else None
        if current is None or current.task is not task or current.cut is not None:
            return None
        return current if isinstance(current, OpenPass) else None  # a LostPass counts as cut short

    def _withdrawn(self) -> bool:
        """Whether a missing history is intended: inside backward, a Function's forward, or microtape's own code."""
        inside_forward = not mode.forward_ad and not mode.inference
        is_inside = bool(self.open) or self.passes_of_threads.is_beside()
        return is_inside or inside_forward or mode.internal

    # See Note [A recorder that fails]

    def failed(self, event: str, details: tuple[Any, ...], error: Exception) -> None:
        """A method above raised: note what is missing, and leave the rest in order."""
        current = self.open[-1] if self.open else None
        if event == "operation":
            with self.faults.noting("an operation"):
                self._adopt_instead(details[0], error, current)
        elif event not in OF_PASSES:
            self.faults.add(MISSING_WITHOUT[event], error)
        elif event == "task_started":
            if current is None or current.task is not details[0]:
                self._open.append(LostPass(details[0], self.count))
                self.count += 1
            self.faults.add(f"pass {self.count}", error)
        elif current is not None and current.task is details[0]:
            self._cut(current, error)
            if event == "task_finished":
                self._end_cut(current, details[1])
        else:
            self.faults.add("a step of a pass", error)

    def _adopt_instead(self, node: Node, error: Exception, current: OpenPass | LostPass | None) -> None:
        """Take what the graph still holds of an operation."""
        self.tape.adopt([node])
        number = self.tape.ids[node]
        entry = self.tape.nodes[number]
        if current is not None and entry.pass_ is None:
            entry.pass_, entry.made_by = current.index, current.node
        where = ""
        with contextlib.suppress(Exception):
            place = self.sources.place(node.call_site) if node.call_site is not None else None
            where = f" ({place.at})" if place is not None else ""
        self.faults.add(f"arguments and values of %{number} {type(node).__name__}{where}", error)

    def _cut(self, current: OpenPass | LostPass, error: Exception) -> None:
        """Keep a pass up to its last whole step."""
        if isinstance(current, OpenPass) and current.cut is None:
            node = f" (%{current.node} {type(current.current).__name__})" if current.node is not None else ""
            where = f"pass {current.index + 1} from step {len(current.steps) + 1} on{node}"
            current.cut_short()
            current.cut = ErrorRecord(CUT_SHORT, self.faults.add(where, error), (), "")

    def _end_cut(self, ended: OpenPass | LostPass, error: BaseException | None) -> None:
        """End a pass at whose end the recorder failed."""
        self._close()
        with self.faults.noting(f"pass {ended.index + 1}"):
            finished = ended.finish(self.error_record(error) if error is not None else None)
            if finished is not None:
                self.passes.append(finished)
        self._follow(ended.index)

    def _follow(self, index: int) -> None:
        """Do what is to be done once a pass and all that it is inside of have ended."""
        if not self._open:
            seldom.pass_ended()
            self.tape.pass_ended()
            with self.faults.noting(AFTER_A_PASS):
                self.after_pass(index)
            if self._is_to_seal:
                self._is_to_seal = False
                self.seal()

    def error_record(self, error: BaseException) -> ErrorRecord:
        """An exception as data, with only the user's frames.

        After a pass, what the program holds is on the tape of that pass, whose segment may have ended with it.
        """
        return error_record(error, self.sources, [one.tape for one in self.segments[-2:]])
