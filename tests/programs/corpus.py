"""The programs, what is expected of each, and their recordings.

`broken/` and `healthy/` hold programs as users write them: nothing in a program says what is wrong with it. What the
first finding has to be stands in `expected.toml`, which names the culprit's line by its text. `healthy/` looks
suspicious, but is right; so are the bundled examples, the lessons and the programs of the documentation, unless
`expected.toml` says why not. `pytorch/` holds programs for PyTorch in the same way, and in `models` whole models, which
are healthy. `own_engines/` holds programs that are engines themselves, and write their recording with a
`RecordingWriter`.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import tempfile
import tomllib
import types
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from microtape.recording.engines import ProgramRecorder
from microtape.recording.findings import Finding, FindingKind, findings
from microtape.recording.model.model import Recording
from microtape.recording.model.options import Check

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MOST_PASSES = 40  # of one program


class Expected(NamedTuple):
    """What the first finding of a broken program has to be."""

    kinds: tuple[FindingKind, ...]  # usually one
    lines: tuple[int, ...]  # any of them is right
    notice: bool  # whether a notice suffices


class Verdict(NamedTuple):
    """Whether the first finding of a broken program is the expected one."""

    program: Path
    expected: Expected
    found: tuple[Finding, ...]

    @property
    def misses(self) -> tuple[str, ...]:
        """What is wrong with the first finding; empty if nothing is."""
        if not self.found:
            return ("nothing found",)
        first = self.found[0]
        wrong = []
        if first.kind not in self.expected.kinds:
            wrong.append("kind")
        if first.place is None or first.place.file != self.program.name:
            wrong.append("place")
        elif not any(first.place.line <= line <= first.place.end_line for line in self.expected.lines):
            wrong.append("line")
        if first.severity == "notice" and not self.expected.notice:
            wrong.append("severity")
        return tuple(wrong)


def faults_of(recording: Recording) -> list[str]:
    """What microtape has failed at, in recording the program and in looking for what is wrong with it."""
    found = [line for one in findings(recording) if one.kind == "fault" for line in one.explanation]
    return [*recording.faults, *found]


@cache
def table() -> dict[str, dict[str, dict[str, object]]]:
    """The contents of `expected.toml`."""
    return tomllib.loads((HERE / "expected.toml").read_text(encoding="utf-8"))


def broken_programs() -> list[Path]:
    """The programs of `broken/`."""
    return sorted((HERE / "broken").glob("*.py"))


def broken_torch_programs() -> list[Path]:
    """The programs for PyTorch of `pytorch/broken/`."""
    return sorted((HERE / "pytorch" / "broken").glob("*.py"))


def healthy_torch_programs() -> list[Path]:
    """The programs for PyTorch in which nothing is wrong."""
    return [path for folder in ("healthy", "models") for path in sorted((HERE / "pytorch" / folder).glob("*.py"))]


def own_engines(kind: Literal["broken", "healthy"]) -> list[Path]:
    """The programs of `own_engines/`."""
    return sorted((HERE / "own_engines" / kind).glob("*.py"))


def healthy_programs() -> list[Path]:
    """The programs in which nothing is wrong, wherever they are."""
    exceptions = {ROOT / path for path in table()["exceptions"]}
    examples = ("microtape/examples/*.py", "microtape/examples/modules/*.py")
    folders = ("tests/programs/healthy/*.py", *examples, "docs/programs/*.py")
    lessons = ("lessons/course/*/program.py", "lessons/course/*/solution.py")
    found = [path for pattern in (*folders, *lessons) for path in sorted(ROOT.glob(pattern))]
    return [path for path in found if path not in exceptions]


def expected(program: Path) -> Expected:
    """What `expected.toml` says of a broken program.

    Raises ValueError if it names a line that is not there, or is there twice.
    """
    folder = program.parent.parent.name
    entry = table()[folder if folder in ("pytorch", "own_engines") else "broken"][program.stem]
    text = [line.strip() for line in program.read_text(encoding="utf-8").splitlines()]
    lines = list(_strings(entry["line"]))
    if missing := [line for line in lines if text.count(line) != 1]:
        raise ValueError(f"expected.toml: {program.name} has not one line {missing[0]!r}, but {text.count(missing[0])}")
    kinds: tuple[FindingKind, ...] = tuple(_strings(entry["kind"]))  # type: ignore[assignment]
    return Expected(kinds, tuple(text.index(line) + 1 for line in lines), bool(entry.get("notice", False)))


def _strings(entry: object) -> Iterator[str]:
    """The strings of an entry that is one, or a list of them."""
    for one in entry if isinstance(entry, list) else [entry]:
        assert isinstance(one, str)
        yield one


def recording_of(engine: Path) -> Recording:
    """The recording that a program of `own_engines/` writes, run in its folder."""
    with contextlib.chdir(engine.parent):
        recording: Recording = runpy.run_path(engine.name)["writer"].recording
    return recording


class Enough(SystemExit):
    """Ends a program that has had as many passes as are recorded."""


def record_program(program: Path, *, check: Check = "functions") -> tuple[Recording, str]:
    """A recording of all passes of a program, and what it printed. It runs in this process, as `record_script` runs it.

    An exception of the program's is in the recording, as it is in one of `record_script`. What it writes is removed.
    """
    recorder = ProgramRecorder(program.name, root=str(program.parent), check=check, after_pass=_stop_in_the_end)
    main = types.ModuleType("__main__")  # no dict: its variables are the program's names, and no others
    main.__file__ = str(program)
    code = compile(program.read_bytes(), str(program), "exec", dont_inherit=True)
    output = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder),
        contextlib.redirect_stdout(output), warnings.catch_warnings(action="ignore"), recorder,
    ):  # fmt: skip
        try:
            exec(code, vars(main))
        except Enough:
            pass
        except Exception as error:
            if not any(one.has_failed for one in recorder.passes):
                error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this file's frame
                recorder.error = recorder.error_record(error)
    _end_as_a_process_would()
    return recorder.recording, output.getvalue()


@cache
def recorded(program: Path) -> Recording:
    """The recording of a program, made once: several tests look at it in different ways."""
    return record_program(program)[0]


def _end_as_a_process_would() -> None:
    """Leave nothing behind of what a program has set for its whole process."""
    torch, distributed = sys.modules.get("torch"), sys.modules.get("torch.distributed")
    if torch is not None:
        torch.set_grad_enabled(True)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def _stop_in_the_end(index: int) -> None:
    if index + 1 >= MOST_PASSES:
        raise Enough
