"""`%load_ext microtape`: the cell magic `%%microtape` records a cell, and shows a film of it or what is wrong in it.

Note [Recorded cells]
  IPython runs the cell as it runs any other, and prints the traceback of one that fails; afterwards the exception is
  raised again, without a second traceback, so that "run all" ends there. The magic's own line stays in the source, as a
  comment, so that lines are counted as the reader counts them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from microtape.recording.engines import ProgramRecorder
from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording
from microtape.recording.model.options import Check
from tui.shell.printing import put, safe
from tui.shell.spans import line, plain
from tui.words.diagnosis import Diagnosis
from viz.notebook import bundle

NAME = "microtape"
WIDTH = 100  # columns of what is printed in a notebook
USAGE = """%%microtape [--diagnose] [--pass N] [--step N] [--title TEXT] [--check] [--engine NAME]

Record what the cell does on microtape or PyTorch, and show a film of every backward pass."""


def load(shell: Any) -> None:
    """Give an IPython shell the magic."""

    def record(options: str, cell: str) -> None:
        record_cell(shell, options, cell)

    record.__doc__ = _parser().format_help()  # which %%microtape? shows
    shell.register_magic_function(record, "cell", NAME)


def record_cell(shell: Any, options: str, cell: str) -> None:
    """Run a cell in the shell, and show the recording of it. Raises what the cell raises, or UsageError."""
    asked = _parser().parse_args(_words(options))
    number = _number(shell)
    name = f"cell {number}"
    check: Check | None = "all" if asked.check else "functions" if asked.diagnose else None
    recorder = ProgramRecorder(asked.title or name, check=check, engine=asked.engine)
    with recorder, _counted_as(shell, number):
        result = shell.run_cell(f"# %%{NAME} {safe(options)}\n{cell}")  # no control character ends the comment
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, Exception) and not any(one.has_failed for one in recorder.passes):
            recorder.error = recorder.error_record(error)
    recording = recorder.recording
    if asked.diagnose:
        _diagnose(recording, name, failed=error is not None)
    elif not result.error_before_exec:
        _show(shell, recording, asked, name)
    if result.error_before_exec:  # IPython would print a SyntaxError again
        raise _ToldError(str(error))
    if error is not None:
        error._render_traceback_ = list  # see Note [Recorded cells]
        raise error


class _ToldError(Exception):
    """Ends a cell whose error has been printed."""

    def _render_traceback_(self) -> list[str]:
        return []


def _number(shell: Any) -> int:
    """The number of the cell that runs now: the last that was compiled. IPython may count on before or after a cell."""
    numbers: dict[str, int] = getattr(shell.compile, "_filename_map", {})
    return max(numbers.values(), default=shell.execution_count)


@contextlib.contextmanager
def _counted_as(shell: Any, number: int) -> Iterator[None]:
    """Let the shell give the code that it compiles meanwhile this number, in tracebacks and places."""
    cache = shell.compile.cache
    shell.compile.cache = lambda code, _number=0, raw_code=None: cache(code, number, raw_code=raw_code)
    try:
        yield
    finally:
        del shell.compile.cache


def _show(shell: Any, recording: Recording, asked: argparse.Namespace, name: str) -> None:
    if not recording.passes:
        put(f"{name} never called backward(): there is no pass to play")
        if not recording.nodes:
            return
    if asked.pass_ is not None and not 1 <= asked.pass_ <= len(recording.passes):
        _refuse(f"--pass {asked.pass_}: {name} has run {_passes(recording)}")
    pass_index = asked.pass_ - 1 if asked.pass_ is not None else None
    shown = recording.passes if pass_index is None else recording.passes[pass_index : pass_index + 1]
    most = sum(len(one.steps) + 1 for one in shown) - 1  # each begins before its first step
    if asked.step is not None and shown and not 0 <= asked.step <= most:
        _refuse(f"--step {asked.step}: the film has {most} {'step' if most == 1 else 'steps'}")
    shell.display_pub.publish(data=bundle(recording, pass_index, step=asked.step, title=asked.title))


def _diagnose(recording: Recording, name: str, *, failed: bool) -> None:
    """Print what is wrong, as `microtape diagnose` does."""
    found = _CellDiagnosis(recording, findings(recording), name)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    for text in found.report(min(max(columns, 60), 120)):
        put(plain(line(text)))
    if not found.found and failed:
        put(f"{name} failed, and nothing in {_passes(recording)} shows why")
    elif not found.found:
        put(f"{name}: nothing wrong was found in {_passes(recording)}")


def _passes(recording: Recording) -> str:
    count = len(recording.passes)
    return f"{count} {'pass' if count == 1 else 'passes'}"


class _CellDiagnosis(Diagnosis):
    """The findings of a cell: what shows one is the magic."""

    def command(self, finding: Finding) -> str:
        """The first line of the cell that opens its film there."""
        words = [f"%%{NAME}"]
        if finding.pass_ is not None and len(self.recording.passes) > 1:
            words += ["--pass", str(finding.pass_ + 1)]
        if finding.step is not None:
            words += ["--step", str(finding.step + 1)]
        return " ".join(words)

    def to_type(self, finding: Finding) -> str:
        """See Diagnosis."""
        return self.command(finding)


class _Parser(argparse.ArgumentParser):
    """Raises IPython's UsageError, which is told in one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the options."""
        _refuse(f"{message} (%%{NAME}? lists the options)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=f"%%{NAME}", usage=USAGE, add_help=False)
    parser.add_argument("--diagnose", action="store_true", help="say what is wrong, in place of the film")
    parser.add_argument("--pass", dest="pass_", type=int, metavar="N", help="show this pass only, from 1")
    parser.add_argument("--step", type=int, metavar="N", help="open the film after this step")
    parser.add_argument("--title", metavar="TEXT", help="the first line of the film")
    parser.add_argument("--check", action="store_true", help="check every gradient by finite differences")
    parser.add_argument("--engine", choices=("microtape", "torch"), help="the engine to record, if the cell uses both")
    return parser


def _words(options: str) -> Sequence[str]:
    try:
        return shlex.split(options)
    except ValueError as error:  # a quotation mark that is never closed
        _refuse(f"{error}: {options}")


def _refuse(message: str) -> NoReturn:
    raise importlib.import_module("IPython.core.error").UsageError(safe(" ".join(message.split("\n"))))
