"""The recorder: a watcher of the engine that makes a recording of what it sees.

It copies arrays while the program runs, because the engine adds into its buffers in place and users overwrite theirs.
It holds every object that it has seen, so that no id is reused before the recording is made.
"""

from __future__ import annotations

import dataclasses
import sys
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from microtape.backward.engine import GraphTask
from microtape.basics.call_site import user_frame
from microtape.basics.collector import paused, seldom
from microtape.basics.fresh_stack import stack_ident
from microtape.errors import AutogradError
from microtape.recording.model.model import ErrorRecord, HookCall, Pass, Recording
from microtape.recording.writing.copies import copied
from microtape.recording.writing.finite_differences import GradientChecker
from microtape.recording.writing.node_text import hook_name, op_of
from microtape.recording.writing.open_pass import OpenPass
from microtape.recording.writing.sources import Sources
from microtape.recording.writing.tape import Tape
from microtape.recording.writing.tape_records import tape_records
from microtape.tape.grad_mode import mode
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import Watcher, watch


class Recorder(Watcher):
    """A `Watcher` that makes a `Recording` of what this thread does between entering and leaving it.

    `wants(n)` says whether to keep the pass with index n; a pass that is not wanted is forgotten when it ends, and the
    tape with it. `after_pass(n)` is called at the end of every outermost pass. With `check`, gradients are checked by
    finite differences.
    """

    def __init__(
        self,
        title: str = "record()",
        *,
        root: str | None = None,
        wants: Callable[[int], bool] = lambda index: True,
        after_pass: Callable[[int], None] = lambda index: None,
        check: bool = False,
    ) -> None:
        self.title = title
        self.checker = GradientChecker() if check else None
        self.wants = wants
        self.after_pass = after_pass
        self.sources = Sources(root)
        self.tape = Tape(self.sources)
        self.passes: list[Pass] = []
        self.count = 0  # how many passes have begun
        self.open: list[OpenPass] = []  # several where backward is called inside backward
        self.error: ErrorRecord | None = None
        self._thread = stack_ident()
        self._stale = False  # whether `forget` was called
        self._before: Any = None

    def __enter__(self) -> Recorder:
        watch.join(self, first=True)  # before watchers that change what is saved
        seldom.begin()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        watch.leave(self)
        seldom.end()

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        with paused():
            return self._recording()

    def _recording(self) -> Recording:
        borders = self.tape.border_records()  # first, because this may add tensors
        nodes, tensors = tape_records(self.tape)
        passes = (*self.passes, *(one.finish(None) for one in self.open if self.wants(one.index)))
        return Recording(
            title=self.title,
            nodes=nodes,
            tensors=tensors,
            passes=tuple(sorted(passes, key=lambda one: one.index)),
            sources=self.sources.texts(),
            error=self.error,
            scopes=tuple(self.tape.scopes),
            borders=borders,
            checks=tuple(self.checker.found) if self.checker is not None else (),
            freed=tuple(self.tape.freed),
        )

    def forget(self) -> None:
        """Forget the passes and the tape as soon as something new is recorded; the count of passes continues."""
        self._stale = True

    def _begin_anew(self) -> None:
        self._stale = False
        self.passes.clear()
        self.tape = Tape(self.sources)
        if self.checker is not None:
            self.checker = GradientChecker()

    # Watcher

    def operation(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        if self._elsewhere():
            return
        if self._stale:
            self._begin_anew()
        current = self.open[-1] if self.open else None
        made_by = current.node if current is not None else None
        made = self.tape.add(node, operands, outputs, in_place, current.index if current is not None else None, made_by)
        if current is not None:
            current.made.append(made)
        if self.checker is not None:
            self.checker.remember(node, operands, outputs, in_place)

    def unrecorded(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.tape.borders.crossed(op_of(node), operands, outputs, in_place, len(self.tape.nodes))

    def called(self, node: Node, args: Sequence[Any], raw: Sequence[Any], outputs: Sequence[Any]) -> None:
        """See Watcher."""
        if not self._withdrawn() and node not in self.tape.ids:
            self.tape.borders.crossed(op_of(node), args, outputs, False, len(self.tape.nodes))

    def without_history(self, op: str, operands: Sequence[TensorState], output: TensorState) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.tape.borders.crossed(op, operands, (output,), operands[0] is output, len(self.tape.nodes))

    def value_taken(self, op: str, tensor: TensorState, value: Any) -> None:
        """See Watcher."""
        if not self._withdrawn():
            self.tape.borders.left(op, tensor, value)

    def tensor_made(self, value: Any, tensor: TensorState) -> None:
        """See Watcher."""
        if not self._withdrawn():
            known = self.tape.borders.entered(value, tensor, len(self.tape.nodes))
            if known is not None:
                self.tape.same(known, tensor)

    def task_started(self, task: GraphTask) -> None:
        """See Watcher."""
        if self._elsewhere():
            return
        if self._stale:
            self._begin_anew()
        self.tape.adopt(task.dependencies)
        for tensor in [one for one in task.inputs if isinstance(one, TensorState)]:
            self.tape.adopt_tensor(tensor)
        if not self.open:
            self.tape.find_names(user_frame(sys._getframe(1)))
        self.open.append(OpenPass(self.tape, task, self.count))
        self.count += 1

    def node_started(self, task: GraphTask, node: Node, gradient: Any) -> None:
        """See Watcher."""
        if not self._elsewhere():
            self.open[-1].start(node, gradient)

    def delivered(self, task: GraphTask, node: Node, output: int, term: Any, total: Any) -> None:
        """See Watcher."""
        if not self._elsewhere() and node is not task.root:
            self.open[-1].deliver(node, output, term, total)

    def hook_ran(self, task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
        """See Watcher."""
        if not self._elsewhere():
            self.open[-1].hooks.append(HookCall(kind, hook_name(hook), copied(before), copied(after)))

    def node_finished(self, task: GraphTask, node: Node, gradients: Any, freed: bool) -> None:
        """See Watcher."""
        if self._elsewhere():
            return
        self.open[-1].end(gradients, freed, None)
        if self.checker is not None:
            step = self.open[-1].steps[-1]
            if all(one.kind != "node post" for one in step.hooks):  # else a hook may have replaced its gradients
                self.checker.check(node, step.node, self.open[-1].index, step.grad_outputs, step.grad_inputs)

    def task_finished(self, task: GraphTask, error: BaseException | None) -> None:
        """See Watcher."""
        if self._elsewhere():
            return
        ended = self.open.pop()
        if self.wants(ended.index):
            self.passes.append(ended.finish(self.error_record(error) if error is not None else None))
        elif not self.open:
            self.tape = Tape(self.sources)
        if not self.open:
            self.after_pass(ended.index)

    def _withdrawn(self) -> bool:
        """Whether a missing history is intended: inside backward, a Function's forward, or microtape's own code."""
        inside_forward = not mode.forward_ad and not mode.inference
        return bool(self.open) or inside_forward or mode.internal or self._elsewhere()

    def _elsewhere(self) -> bool:
        return stack_ident() != self._thread

    def error_record(self, error: BaseException) -> ErrorRecord:
        """An exception as data, with only the user's frames."""
        places = []
        if isinstance(error, AutogradError):
            places = [(role, self.sources.place(site)) for role, site in error.places]
        raised = [frame for frame in traceback.extract_tb(error.__traceback__) if not self.sources.is_ours(frame)]
        text = "".join(traceback.format_list(raised)) + "".join(traceback.format_exception_only(error))
        return ErrorRecord(
            type(error).__name__,
            error.summary if isinstance(error, AutogradError) else str(error),
            tuple((role, place) for role, place in places if place is not None),
            text,
        )


def record(function: Callable[..., Any] | None = None, /, *args: Any, **kwargs: Any) -> Any:
    """Record a program: `with record() as r: ...; r.recording`, or `recording = record(loss.backward)`.

    Called with a function, `record` runs it and returns the Recording; an exception that the function raises is stored
    in the recording instead of being raised. As a context manager, it lets exceptions through. Recordings may be
    nested. NB: only the thread that makes the recording is watched.
    """
    if function is None:
        return Recorder()
    with Recorder() as recorder:
        try:
            function(*args, **kwargs)
        except Exception as error:
            if not any(one.error is not None for one in recorder.passes):
                recorder.error = recorder.error_record(error)
    return recorder.recording


def snapshot(outputs: Any, frame: FrameType | None = None) -> Recording:
    """The graph behind tensors or nodes as it is now, without running anything; values that are gone are missing.

    Variable names are looked up from `frame` outwards, by default from the caller's.
    """
    recorder = Recorder("graph")
    tape = recorder.tape
    items = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    for item in items:
        if isinstance(item, Node):
            tape.adopt([item])
        else:
            tape.adopt_tensor(item)
    tape.find_names(user_frame(frame if frame is not None else sys._getframe(1)))
    return dataclasses.replace(recorder.recording, options={"snapshot": True})
