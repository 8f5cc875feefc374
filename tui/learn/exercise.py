"""The learner's file, and a box below it for verdicts, hints and solutions."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.highlight import highlight
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Selection

from lessons import Lesson, Workspace
from lessons.checking.verdict_report import Said
from tui.learn.course_text import PROSE, STYLES, Page
from tui.learn.cursor_note import CursorNote
from tui.shell.backticks import colour_names
from tui.shell.clipboard import home
from tui.shell.editor import editor_command, run_in_terminal

GAP = "raise NotImplementedError"
READING = "c checks your file, h gives a hint. e edits the file here, o in your own editor."
EDITING = "You are editing the file. Ctrl+S saves and checks it, Esc saves it and stops editing."
SAVED_AFTER = 1.0  # seconds after which typed text is saved

AT_ONCE = {
    **{key: one.action for one in TextArea.BINDINGS if isinstance(one, Binding) for key in one.key.split(",")},
    "ctrl+home": "to_start",
    "ctrl+end": "to_end",
}
"""Keys handled at once: on a slow machine, their bindings would run only after the keys typed next."""


class Editor(TextArea):
    """Edits the file in place. Leaving it saves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.done_editing", "save, done", key_display="Esc"),
        Binding("ctrl+s", "screen.check", "save and check", key_display="Ctrl+S"),
    ]

    async def on_key(self, event: Key) -> None:
        """Enter keeps the indentation, and indents after a colon. Escape is left to its binding.

        The bindings have no priority, so they run after the keys typed before them.
        """
        if event.key in AT_ONCE:
            event.prevent_default().stop()
            await self.run_action(AT_ONCE[event.key])
        if event.key not in ("enter", "escape"):
            return
        event.prevent_default()
        if event.key == "escape":
            return
        start, end = sorted(self.selection)
        before = self.document.get_line(start[0])[: start[1]]
        indent = len(before) - len(before.lstrip()) + (self.indent_width if before.rstrip().endswith(":") else 0)
        self.replace("\n" + " " * indent, start, end, maintain_selection_offset=False)

    class Resized(Message):
        """The editor has another size, and its lines are wrapped to it."""

    def on_resize(self) -> None:
        """Keep the cursor in sight when the box below grows."""
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        self.scroll_cursor_visible()
        self.post_message(self.Resized())

    def action_to_start(self) -> None:
        """Go to the beginning of the file."""
        self.move_cursor((0, 0))

    def action_to_end(self) -> None:
        """Go to the end of the file."""
        self.move_cursor(self.document.end)

    def action_delete_left(self) -> None:
        """Delete the selection or a character; within the indentation, delete back to the previous indentation step."""
        row, column = self.cursor_location
        if self.selection.is_empty and column and not self.document.get_line(row)[:column].strip(" "):
            previous_step = (column - 1) // self.indent_width * self.indent_width
            self.delete((row, previous_step), (row, column), maintain_selection_offset=False)
        else:
            super().action_delete_left()


class ExerciseView(Vertical):
    """The learner's file, and below it a verdict, a hint or the solution."""

    def __init__(self, lesson: Lesson, workspace: Workspace) -> None:
        super().__init__(id="exercise")
        self._lesson = lesson
        self._workspace = workspace
        self._known = ""  # the text of the file when it was last read
        self._saving: Timer | None = None  # runs while there is something that was typed and not saved
        self._refused = False  # whether what was typed could not be saved, which is said once
        self._has_said = False  # whether the lower box shows anything but the keys
        self._said: list[Said] = []  # what it shows, if that is lines

    def compose(self) -> ComposeResult:
        """The file or its editor, and the box below."""
        with Page(id="file", classes="box"):
            yield Static(id="code")
        editor = Editor(id="editor", classes="box", tab_behavior="indent", show_line_numbers=True)
        yield editor
        yield CursorNote(editor)
        with Page(id="verdict", classes="box"):
            yield Vertical(id="said")

    def on_mount(self) -> None:
        """Show the file."""
        self.watch(self.query_one(Editor), "scroll_y", self.query_one(CursorNote).place, init=False)
        self._say_keys()
        self.read()

    @property
    def is_editing(self) -> bool:
        """Whether the file is being edited in the lesson."""
        return self.has_class("-editing")

    def read(self) -> bool:
        """Read the file and show it. Returns whether it could be read; if not, the lower box says why."""
        if self.is_editing:
            return True
        try:
            path = self._workspace.exercise(self._lesson)
            self._known = self._workspace.read(self._lesson)
        except OSError as error:
            self.write([Said(str(error), "bad")])
            return False
        self.query_one("#code", Static).update(highlight(self._known, language="python"))
        for box in (self.query_one("#file"), self.query_one("#editor")):
            box.border_title, box.border_subtitle = "your file", Content(home(path))
        return True

    def edit(self) -> None:
        """Start editing in the lesson."""
        if self.is_editing or not self.read():
            return
        editor = self.query_one(Editor)
        editor.load_text(self._known)
        self.add_class("-editing")
        self._say_keys()
        self.remove_class("-said")
        editor.focus()
        editor.selection = _first_gap(self._known, self._lesson.exercise.path.read_text(encoding="utf-8"))
        editor.scroll_cursor_visible(center=True)

    def save(self) -> bool:
        """Write the edited text to the file. Returns whether it is saved."""
        if not self.is_editing:
            return True
        text = self.query_one(Editor).text
        try:
            kept = self._workspace.write(self._lesson, text, self._known)
        except OSError as error:
            self.write([Said(str(error), "bad"), Said("Your text is still here, but not saved.")])
            return False
        self._known, self._refused = text, False
        if kept is not None:
            self.app.notify(
                f"The file was changed by another program. Its version is kept: {kept}",
                severity="warning", timeout=15, markup=False,
            )  # fmt: skip
        return True

    def note(self, said: Said) -> None:
        """Show a text at the cursor, while the file is edited here."""
        if self.is_editing:
            self.query_one(CursorNote).show(said)

    def on_editor_resized(self) -> None:
        """Keep the text at the cursor there."""
        self.query_one(CursorNote).place()

    def on_text_area_selection_changed(self) -> None:
        """Hide the text at the cursor when the learner goes on."""
        self.query_one(CursorNote).hide()

    def on_text_area_changed(self) -> None:
        """Save what is typed, also while it goes on: a terminal may close, and a process may be killed."""
        if self.is_editing and self._saving is None:
            self._saving = self.set_timer(SAVED_AFTER, self._save_typed)

    def _save_typed(self) -> None:
        self._saving = None
        if not self._refused:
            self._refused = not self.save()

    def done_editing(self) -> None:
        """Save, and show the file again, where it was edited."""
        if not self.is_editing or not self.save():
            return
        self.remove_class("-editing")
        file, top = self.query_one("#file"), self.query_one(Editor).scroll_y
        self.call_after_refresh(file.scroll_to, y=top, animate=False)
        self.query_one(CursorNote).hide()
        self._say_keys()
        self.read()
        file.focus()

    def open_in_editor(self) -> None:
        """Open the file in $VISUAL or $EDITOR until the editor is closed."""
        if not self.read():
            return
        path = self._workspace.exercise(self._lesson)
        command = editor_command(path)
        if not command:
            self.write([Said(f"Set $EDITOR to your editor, or open this file in it: {path}", "strong")])
            return
        try:
            with self.app.suspend():
                problem = run_in_terminal(command)
        except SuspendNotSupported:
            self.write([Said(f"Your editor cannot be opened from here. Open this file in it: {path}", "strong")])
            return
        self.app.refresh()
        self.read()
        if problem:
            self.write([Said(problem, "bad"), Said(f"Set $EDITOR, or open this file yourself: {path}")])

    def make_room(self) -> None:
        """Enlarge the lower box and focus it, so that it can be scrolled."""
        if not self.is_editing:
            self.add_class("-said")
            self.query_one("#verdict").focus()

    def _say_keys(self) -> None:
        """Show the keys until there is something else to show."""
        if not self._has_said:
            self._show(_statics([Said(EDITING if self.is_editing else READING, "dim")]), "")

    def write(self, lines: list[Said], title: str = "", *, top: int = 0) -> None:
        """Show lines in the lower box, line `top` first; wrapped lines keep their indentation."""
        self._has_said, self._said = True, lines
        self._show(_statics(lines), title, top)

    def rewrite(self, said: list[Said], now: list[Said]) -> None:
        """Replace lines in the lower box, unless it shows something else by now."""
        if self._said == said:
            self.write(now, str(self.query_one("#verdict").border_title or ""))

    def rewrite_note(self, text: str, now: Said) -> None:
        """Replace the text at the cursor, unless it is hidden or another one by now."""
        note = self.query_one(CursorNote)
        if note.display and note.said.text == text:
            note.show(now)

    def write_code(self, code: str, title: str, below: list[Said]) -> None:
        """Show Python in the lower box, and lines below it."""
        self._has_said, self._said = True, []
        self._show([Static(highlight(code, language="python")), *_statics([Said(""), *below])], title)

    def _show(self, statics: list[Static], title: str, top: int = 0) -> None:
        box, said = self.query_one("#verdict"), self.query_one("#said")
        box.border_title = title
        said.remove_children()
        said.mount_all(statics)
        box.scroll_home(animate=False)
        if top:
            self.call_after_refresh(box.scroll_to_widget, statics[top], top=True, animate=False)


def _first_gap(code: str, shipped: str) -> Selection:
    """Select the first placeholder, so that typing replaces it.

    If none is left, place the cursor at the end of the first line that the learner has changed.
    """
    lines = code.splitlines()
    for number, line in enumerate(lines):
        column = line.find(GAP)
        if column >= 0:
            return Selection((number, column), (number, column + len(GAP)))
    both = enumerate(zip(lines, shipped.splitlines(), strict=False))
    at = next((number for number, (line, before) in both if line != before), 0)
    end = (at, len(lines[at])) if lines else (0, 0)
    return Selection(end, end)


def _statics(lines: list[Said]) -> list[Static]:
    """A widget for each line, so that wrapped lines keep their indentation."""
    statics = []
    for line in lines:
        text = line.text.lstrip(" ")
        styled = (
            colour_names(text, STYLES[line.role]) if line.role in PROSE else Content.styled(text, STYLES[line.role])
        )
        statics.append(Static(styled))
        statics[-1].styles.padding = (0, 0, 0, len(line.text) - len(text))
    return statics
