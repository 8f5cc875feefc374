"""Writes files from the stepper: a picture, a film, the trace, a moment, the screen, the recording."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tui.shell.data_folder import replacing
from tui.time.cursor import StepCursor

Progress: TypeAlias = Callable[[str], None]
"""Called repeatedly with the progress. If it raises, the export ends and no file is written."""

REMOTE_FONT = re.compile(r"@font-face\s*\{[^}]*\}")


class ExportError(Exception):
    """The file cannot be written; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A kind of export, and its file suffixes, the default first."""

    name: str
    about: str
    suffixes: tuple[str, ...]
    of_moment: bool  # whether it shows one moment, which the default name contains


KINDS = (
    ExportKind("picture", "the graph as it is at this moment", (".svg", ".png", ".pdf", ".dot", ".txt"), True),
    ExportKind("film", "the whole pass, as a page that plays it", (".html", ".gif"), False),
    ExportKind("trace", "every step of the pass, as text or JSON", (".txt", ".json"), False),
    ExportKind("moment", "this moment, as text or JSON", (".txt", ".json"), True),
    ExportKind("screenshot", "the screen behind this dialog", (".svg",), True),
    ExportKind("recording", "the whole recording, for the other commands", (".tape",), False),
)


@dataclass(frozen=True, slots=True)
class Export:
    """An export's source: a moment, and the screen at that moment."""

    cursor: StepCursor
    screen: str  # SVG
    theme: str = "light"
    ascii: bool = False

    def default_name(self, kind: ExportKind) -> str:
        """`train-pass2-step7.svg`, or `train-film.html`."""
        cursor = self.cursor
        stem = re.sub(r"[^\w.-]+", "_", Path(cursor.recording.title).stem).strip("_.") or "recording"
        one = cursor.timeline.pass_
        if one is not None and len(cursor.recording.passes) > 1 and kind.name != "recording":
            stem += f"-pass{one.index + 1}"
        moment = f"operation{cursor.position}" if cursor.is_forward else f"step{cursor.steps_done}"
        middle = {"screenshot": "-screen", "trace": "-trace"}.get(kind.name, "")
        return f"{stem}{middle}{f'-{moment}' if kind.of_moment else ''}{kind.suffixes[0]}"

    @staticmethod
    def path(kind: ExportKind, typed: str) -> Path:
        """The path that was typed, with a suffix of this kind if it has none.

        Raises:
            ExportError: no file can be written under this name.
        """
        try:
            path = Path(typed).expanduser()
            if not path.suffix:
                path = path.with_suffix(kind.suffixes[0])
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                path.stat()
        except (OSError, ValueError, RuntimeError):  # too long, forbidden, half a character, the home of nobody
            raise ExportError("no file can be written under this name") from None
        return path

    def write(self, kind: ExportKind, path: Path, progress: Progress = lambda text: None) -> None:
        """Write the file, whole or not at all.

        Raises:
            ExportError: the file cannot be written, or not with this suffix.
        """
        suffix = path.suffix.lower()
        if suffix not in kind.suffixes:
            raise ExportError(f"a {kind.name} is written as {_either(kind.suffixes)}")
        if path.is_dir():
            raise ExportError(f"{path} is a folder")
        if not path.absolute().parent.is_dir():
            raise ExportError(f"there is no folder {path.absolute().parent}")
        try:
            with replacing(path) as unfinished:
                self._write(kind, unfinished, progress)
                progress("renaming")  # the last point at which the export can be stopped
        except OSError as error:
            raise ExportError(f"{path} cannot be written: {error.strerror or error}") from None

    def _write(self, kind: ExportKind, path: Path, progress: Progress) -> None:
        if kind.name in ("picture", "film"):
            self._draw(kind, path, progress)
        elif kind.name == "recording":
            self._save(path)
        elif kind.name == "screenshot":
            path.write_text(REMOTE_FONT.sub("", self.screen), encoding="utf-8")
        else:
            text = self._json(kind, progress) if path.suffix.lower() == ".json" else self._text(kind, progress)
            path.write_text(text, encoding="utf-8")

    def _draw(self, kind: ExportKind, path: Path, progress: Progress) -> None:
        import viz

        recording, at = self.cursor.recording, self.cursor.timeline.pass_index
        try:
            if kind.name == "film":
                viz.film(
                    recording, path, pass_index=at, progress=lambda done, of: progress(f"{done * 100 // of} %")
                )  # fmt: skip
                return
            drawing = viz.draw(
                recording, step=self.cursor.steps_done, pass_index=at, theme=self.theme,
                waiting=lambda elapsed, limit: progress(f"{elapsed:.0f} of at most {limit:.0f} seconds"),
            )  # fmt: skip
            drawing.save(path)
        except viz.DrawError as error:
            raise ExportError(str(error)) from None

    def _save(self, path: Path) -> None:
        from microtape.errors import RecordingError
        from microtape.recording.file.tape_file import save

        try:
            save(self.cursor.recording, path)
        except RecordingError as error:
            raise ExportError(str(error)) from None

    def _json(self, kind: ExportKind, progress: Progress) -> str:
        from tui.words.trace_json import as_json, step_as_json

        recording, at = self.cursor.recording, self.cursor.timeline.pass_index
        if kind.name == "trace":
            data = as_json(recording, [at] if recording.passes else [], progress)
        else:
            data = step_as_json(self.cursor)
        return json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n"

    def _text(self, kind: ExportKind, progress: Progress) -> str:
        from tui.words.trace import trace, trace_step

        recording, at = self.cursor.recording, self.cursor.timeline.pass_index
        if kind.name == "moment":
            lines = trace_step(recording, self.cursor.steps_done, at, ascii=self.ascii)
        else:
            lines = trace(recording, [at] if recording.passes else [], ascii=self.ascii)
        return "\n".join(_counted(lines, progress)) + "\n"


def _counted(lines: Iterator[str], progress: Progress) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number % 500 == 0:
            progress(f"{number:,} lines")
        yield line


def _either(suffixes: tuple[str, ...]) -> str:
    return suffixes[0] if len(suffixes) == 1 else f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
