"""The page that asks for a kind of file and its name, writes the file, and shows the progress."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from tui.shell.clipboard import home
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.words.exporting import KINDS, Export, ExportError, ExportKind


class _Stopped(Exception):  # noqa: N818 - not an error
    """The user has cancelled."""


class ExportScreen(Dialog[str | None]):
    """Writes a file. Closes with a sentence that names the file, or None."""

    DEFAULT_CSS = """
    ExportScreen { align: center middle; }
    ExportScreen > Vertical {
        width: 76; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    ExportScreen OptionList { height: auto; border: none; padding: 0; background: $surface; }
    ExportScreen Input, ExportScreen Input:focus {
        border: none; height: 1; padding: 0; margin: 1 0 0 0; background: $panel;
    }
    ExportScreen #said { height: auto; min-height: 1; margin: 1 0 0 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "close"),
        Binding("up", "choose(-1)", show=False, priority=True),
        Binding("down", "choose(1)", show=False, priority=True),
    ]

    def __init__(self, export: Export) -> None:
        super().__init__()
        self._export = export
        self._proposed = ""  # the last proposed name
        self._confirmed: Path | None = None  # the file that the user agreed to overwrite
        self._stop: threading.Event | None = None  # set it to cancel the work in progress

    def compose(self) -> ComposeResult:
        """The kinds of files, the name, and a message."""
        with Vertical() as box:
            box.border_title = "write to a file"
            box.border_subtitle = keys_below(("", "arrows choose"), ("enter", "Enter writes"), ("escape", "Esc"))
            yield Choices(*(Option(_row(kind)) for kind in KINDS))
            yield Input(select_on_focus=False)
            yield Static(id="said")

    def on_mount(self) -> None:
        """Arrow keys choose a kind of file; all other keys are typed into the name."""
        kinds = self.query_one(Choices)
        kinds.can_focus = False
        kinds.highlighted = 0
        self.query_one(Input).focus()

    @property
    def _kind(self) -> ExportKind:
        return KINDS[self.query_one(Choices).highlighted or 0]

    def action_choose(self, by: int) -> None:
        """Choose another kind."""
        if self._stop is None:
            kinds = self.query_one(Choices)
            kinds.highlighted = ((kinds.highlighted or 0) + by) % len(KINDS)

    def on_option_list_option_highlighted(self, event: Choices.OptionHighlighted) -> None:
        """Propose a name. If the user has typed a name, change only its suffix."""
        event.stop()
        name, kind = self.query_one(Input), self._kind
        if name.value in ("", self._proposed):
            name.value = self._proposed = self._export.default_name(kind)
        elif Path(name.value).name and Path(name.value).suffix.lower() not in kind.suffixes:
            name.value = str(Path(name.value).with_suffix(kind.suffixes[0]))
        name.cursor_position = len(name.value)
        self._say(f"{', '.join(kind.suffixes)}   in {home(Path.cwd())}")

    def on_input_changed(self) -> None:
        """Changing the name withdraws the consent to overwrite."""
        self._confirmed = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the file. Ask first before overwriting an existing file."""
        event.stop()
        if self._stop is not None:
            return
        text = event.value.strip()
        if not text:
            self._say("the file needs a name", "bad")
            return
        try:
            path = self._export.path(self._kind, text)
        except ExportError as problem:
            self._say(str(problem), "bad")
            return
        if path.is_file() and self._confirmed != path:
            self._confirmed = path
            self._say(f"{path} exists already. Press Enter again to overwrite it, or type another name.", "warning")
            return
        self._stop = threading.Event()
        self._say("working ...   Esc stops")
        self._write(self._kind, path, self._stop)

    def action_stop(self) -> None:
        """Cancel the work in progress; if there is none, close."""
        if self._stop is not None:
            self._stop.set()
        else:
            self.dismiss(None)

    @work(thread=True)
    def _write(self, kind: ExportKind, path: Path, stop: threading.Event) -> tuple[str, str]:
        """Write the file. Returns the message at the end, and its role."""

        def progress(text: str) -> None:
            if stop.is_set():
                raise _Stopped
            self.call_later(self._say, f"working: {text}   Esc stops")

        try:
            self._export.write(kind, path, progress)
        except ExportError as problem:
            return str(problem), "bad"
        except _Stopped:
            return "stopped; nothing was written", ""
        return f"wrote {home(path.absolute())} ({path.stat().st_size / 1000:,.0f} kB)", "good"

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Close once the file is written; if it was not, show the reason."""
        if event.state is WorkerState.SUCCESS and event.worker.result is not None:
            text, role = event.worker.result
            self._stop = None
            if role == "good":
                self.dismiss(text)
            else:
                self._say(text, role)

    def _say(self, text: str, role: str = "") -> None:
        style = {"bad": "bold $text-error", "warning": "bold $text-warning"}.get(role, "$text-muted")
        self.query_one("#said", Static).update(Content.styled(text, style))


def _row(kind: ExportKind) -> Content:
    return Content.assemble((kind.name.ljust(12), "bold"), (kind.about, "$text-muted"))
