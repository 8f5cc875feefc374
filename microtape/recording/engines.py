"""Records a program on whichever engine it uses: microtape's own, or PyTorch's.

A recorder of each engine watches until the first backward pass begins; the one whose engine runs it goes on, and the
other leaves. torch is never imported here: its recorder comes once the program has imported it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, cast, overload

from microtape.basics.after_import import AfterImport
from microtape.basics.call_site import CallSite, user_frame, user_site
from microtape.basics.followed_threads import Threads
from microtape.basics.fresh_stack import stack_ident
from microtape.recording.choosing.loops import LoopRecorder
from microtape.recording.model.displayed import Displayed
from microtape.recording.model.model import ErrorRecord, Recording
from microtape.recording.model.options import NAMES, Check, Engine
from microtape.recording.writing.faults import AFTER_A_PASS
from microtape.recording.writing.recorder import Recorder
from microtape.recording.writing.snapshot import snapshot as own_snapshot
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import Watcher, watch

if TYPE_CHECKING:
    from microtape.recording.pytorch.recorder import TorchRecorder

_OTHER = "the program also calls backward on {other}, which is not recorded here; --engine {option} records that"
_OF_LOOPS = ("until", "passes", "every", "thread", "save")
_P = ParamSpec("_P")
_TORCH = "microtape.recording.pytorch.recorder"
_TORCH_SNAPSHOT = "microtape.recording.pytorch.snapshot"


class ProgramRecorder(Displayed):
    """Records a program, whichever engine it uses; used like `Recorder`.

    Args:
        title: the title of the recording.
        root: the folder to which the paths in it are relative; by default the current one.
        after_pass: called after each recorded pass with its index.
        check: which gradients to check by finite differences.
        engine: the engine to record. None: the one whose backward runs first.
        thread: record only the threads of this name; `main` is the first one. None: all that the program starts.
    """

    def __init__(
        self,
        title: str = "record()",
        root: str | None = None,
        after_pass: Callable[[int], None] = lambda index: None,
        check: Check | None = None,
        engine: Engine | None = None,
        thread: str | None = None,
    ) -> None:
        self._options = {"title": title, "root": root, "after_pass": after_pass, "check": check, "thread": thread}
        self._engine, self._thread = engine, thread
        self._own = Recorder(title, root=root, after_pass=after_pass, check=check, thread=thread)
        self._torch: TorchRecorder | None = None
        self._also: Engine | None = None  # an engine that was used, but is not recorded
        self._asleep = False
        self._self = cast(ProgramRecorder, weakref.proxy(self))  # what it holds must not keep it alive
        self._passes = _Passes(self._self, self._own, after_pass)
        self._inside = contextlib.ExitStack()
        self._importing = AfterImport("torch", lambda me=self._self: me.torch_came())  # type: ignore[misc]

    @property
    def current(self) -> Recorder | TorchRecorder:
        """The recorder of the engine that is recorded; before the first pass, of the one that the program has used."""
        if self._torch is not None and (self._engine == "torch" or (self._engine is None and not self._own_is_used())):
            return self._torch
        return self._own

    def _own_is_used(self) -> bool:
        return any(one.tape.nodes or one.tape.borders.were_crossed for one in self._own.segments)

    def __enter__(self) -> ProgramRecorder:
        with contextlib.ExitStack() as stack:
            if self._engine != "torch":
                stack.enter_context(self._own)
            stack.callback(watch.leave, self._passes)
            watch.join(self._passes, first=True)
            stack.callback(self._importing.stop)
            self._inside = stack.pop_all()
        if self._engine != "microtape":
            self._importing.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._inside.close()

    def torch_came(self) -> None:
        """The program has imported torch, perhaps before this recorder was entered once more."""
        if self._torch is None:
            recorder: TorchRecorder = importlib.import_module(_TORCH).TorchRecorder(**self._options)
            recorder.before_pass = functools.partial(type(self).chosen, self._self, "torch")  # a method would hold it
            recorder.asleep = self._asleep
            self._torch = recorder
        self._inside.enter_context(self._torch)

    def chosen(self, engine: Engine) -> bool:
        """A pass of this engine begins. Returns whether it is recorded."""
        if self._engine is None:
            self._engine = engine
            if engine == "torch":
                self._own.sleep()
            elif self._torch is not None:
                self._torch.sleep()
        if self._engine != engine:
            self._also = engine
        return self._engine == engine

    def __repr__(self) -> str:
        """`<Recorder with <Recording of 'record()': 3 nodes, 1 pass, 3 steps>>`"""
        return f"<Recorder with {self.recording!r}>"

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        found = self.current.recording
        notes = self.notes
        return dataclasses.replace(found, notes=(*found.notes, *notes)) if notes else found

    @property
    def threads(self) -> Threads:
        """The threads that are recorded."""
        return self.current.threads

    @property
    def notes(self) -> tuple[str, ...]:
        """What the recording does not say by itself: that another engine was used, or one thread asked for."""
        found = []
        if self._thread is not None:
            found.append(f"only the thread {self._thread} is recorded")
        if self._also is not None:
            found.append(_OTHER.format(other=NAMES[self._also], option=self._also))
        return tuple(found)

    def sleep(self) -> None:
        """Only count the passes from now on, which costs next to nothing."""
        self._asleep = True
        self._own_sleeps()
        if self._torch is not None:
            self._torch.sleep()

    def _own_sleeps(self) -> None:
        if self._engine != "torch":  # else its recorder has been put to sleep, or has never begun
            self._own.sleep()

    def wake(self) -> None:
        """Record again, in a new segment."""
        self._asleep = False
        if self._engine != "torch":
            self._own.wake()
            watch.leave(self._passes)
            watch.join(self._passes, first=True)
        if self._torch is not None and self._engine != "microtape":
            self._torch.wake()

    # What both recorders have

    @property
    def passes(self) -> list[Any]:
        """The passes of the current segment."""
        return self.current.passes

    @property
    def segments(self) -> list[Any]:
        """See Note [Segments]."""
        return self.current.segments

    @property
    def count(self) -> int:
        """How many passes have begun."""
        return self.current.count

    @property
    def fault_lines(self) -> tuple[str, ...]:
        """What could not be recorded by a fault of ours."""
        return self.current.faults.lines

    @property
    def error(self) -> ErrorRecord | None:
        """An exception that the program raised outside of a pass."""
        return self.current.error

    @error.setter
    def error(self, error: ErrorRecord | None) -> None:
        self.current.error = error

    def error_record(self, error: BaseException) -> ErrorRecord:
        """An exception as data, with only the user's frames."""
        return self.current.error_record(error)

    def begin_segment(self) -> None:
        """Record what follows in a new segment."""
        self.current.begin_segment()

    def seal(self) -> None:
        """End the segment, which stays, and record what follows in a new one."""
        self.current.seal()

    def additions(self) -> Iterator[Recording]:
        """What the sealed segments add to the recording, except those that were asked for before."""
        for added in self.current.additions():
            yield dataclasses.replace(added, notes=(*added.notes, *self.notes))

    def refuse(self, stop: Callable[[], NoReturn]) -> None:
        """From now on, let a pass of torch end the program by calling `stop`."""
        if self._torch is not None:
            self._torch.before_pass = stop

    def stop(self) -> None:
        """Record nothing any more, as in a fork of the program."""
        self._own_sleeps()
        watch.leave(self._passes)
        if self._torch is not None:
            self._torch.stop()
        self._importing.stop()


class _Passes(Watcher):
    """Tells of the passes of microtape's own engine, and counts those that its recorder sleeps through."""

    def __init__(self, recorder: ProgramRecorder, own: Recorder, after_pass: Callable[[int], None]) -> None:
        self._recorder, self._own, self._after_pass = recorder, own, after_pass
        self._counted: dict[int, list[tuple[Any, int]]] = {}  # by thread: the passes that run and are only counted

    def task_started(self, task: Any) -> None:
        """See Watcher."""
        here = stack_ident()
        if here in self._own.threads and self._recorder.chosen("microtape") and self._own.asleep:
            self._counted.setdefault(here, []).append((task, self._own.count))
            self._own.count += 1

    def task_finished(self, task: Any, error: BaseException | None) -> None:
        """See Watcher."""
        running = self._counted.get(stack_ident())
        if running and running[-1][0] is task:
            _, index = running.pop()
            if not running:
                with self._own.lock, self._own.faults.noting(AFTER_A_PASS):
                    self._after_pass(index)


@overload
def record(
    *,
    until: str | None = None,
    passes: str | None = None,
    every: int | None = None,
    thread: str | None = None,
    save: str | os.PathLike[str] | None = None,
) -> ProgramRecorder | LoopRecorder: ...


@overload
def record(function: Callable[_P, object], /, *args: _P.args, **kwargs: _P.kwargs) -> Recording: ...


def record(function: Any = ..., /, *args: Any, **kwargs: Any) -> Any:
    """Record a program: `with record() as r: ...; r.recording`, or `recording = record(loss.backward)`.

    Around a loop, `with record(until="nan", save="nan.tape"):` keeps only the pass where it happens and writes it at
    once; `passes="3-5"` and `every=100` keep other passes, and `thread="main"` those of one thread.

    Called with a function, `record` runs it and returns the Recording; an exception that the function raises is stored
    in the recording instead of being raised. As a context manager, it lets exceptions through. Recordings may be
    nested. Programs on PyTorch are recorded as well, also if they import it inside. The thread that makes the recording
    is watched, and those that it starts; see Note [Passes of threads].

    Args:
        function: what to call, with its arguments. Left out: `record` is a context manager.
        args, kwargs: the arguments of the function. Around a loop, keywords are those that follow.
        until: keep the first pass where this happens: `"nan"`, `"error"` or a condition such as `"grad.max() > 10"`.
        passes: keep these passes: `"7"` or `"3-5"`. Until then nothing is recorded.
        every: keep the sizes of each pass whose number this divides, and the last such pass. Goes with `until`, too.
        thread: record only the threads of this name; `"main"` is the first one.
        save: the file to write. None: none. Where a program runs as several processes, its name gets their rank.

    Returns:
        The Recording of the function; or a context manager whose `recording` is what was recorded, or kept, so far.

    Raises:
        TypeError: `function` cannot be called, at all or with these arguments, or there is no such argument.
        RecordingError: an argument of a loop is wrong, or its file cannot be written.
    """
    if function is ...:
        if unknown := sorted(kwargs.keys() - _OF_LOOPS):
            raise TypeError(f"record() has no argument {unknown[0]!r}: around a loop it takes {', '.join(_OF_LOOPS)}")
        return LoopRecorder(ProgramRecorder, **kwargs) if kwargs else ProgramRecorder()
    _check_call(function, args, kwargs)
    recorder = ProgramRecorder()
    with recorder:
        try:
            function(*args, **kwargs)
        except Exception as error:
            if not any(one.has_failed for one in recorder.passes):
                recorder.error = _with_line(recorder.error_record(error), recorder, user_site())
    return recorder.recording


def _check_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise TypeError for a call that cannot be made: it is no error of the program, to be recorded."""
    if not callable(function):
        kind = "None" if function is None else type(function).__name__
        raise TypeError(f"record() takes a function, as in record(loss.backward), not {kind}")
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"record() cannot call {getattr(function, '__qualname__', 'the function')}: {error}") from None
    except ValueError:  # a function in C may not tell its arguments
        return


def _with_line(error: ErrorRecord, recorder: ProgramRecorder, site: CallSite | None) -> ErrorRecord:
    """The error of a function without lines of its own, as in `record(loss.backward)`, with the line of the call."""
    if site is None or any(role == "raised" for role, _ in error.places):
        return error
    return error._replace(places=(*error.places, ("raised", recorder.current.sources.place(site))))


def snapshot(outputs: Any, frame: FrameType | None = None) -> Recording:
    """The graph behind tensors or nodes as it is now, without running anything; values that are gone are missing.

    Variable names are looked up from `frame` outwards, by default from the caller's.
    """
    frame = frame if frame is not None else user_frame(sys._getframe(1))
    items = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    if any(not isinstance(one, TensorState | Node) for one in items):
        found: Recording = importlib.import_module(_TORCH_SNAPSHOT).snapshot(items, frame)
        return found
    return own_snapshot(items, frame)


def is_torch(value: Any) -> bool:
    """Whether this is a tensor or a node of PyTorch's; does not import it."""
    torch = _torch()
    if torch is None or isinstance(value, TensorState | Node):
        return False
    return isinstance(value, torch.Tensor) or (hasattr(value, "next_functions") and hasattr(value, "_sequence_nr"))


def _torch() -> Any:
    """torch, if the program has imported it; None also where `import torch` has given it microtape."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.__name__ == "torch" else None
