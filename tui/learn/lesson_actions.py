"""The actions of a lesson: edit, check, hints, solution, the step where the file goes wrong, the wrong engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual import work
from textual.worker import get_current_worker

from lessons import Course, Lesson, LessonError, Verdict, Workspace
from lessons.checking.divergence import Divergence, failed_checks, find_divergence, may_have_steps, own_engine
from lessons.checking.in_pytorch import can_run_in_pytorch, torch_name
from lessons.checking.verdict_report import Said, headline, report
from lessons.checking.warm_checker import WarmChecker
from lessons.model.solution_pieces import solution_pieces
from tui.guarded.screen import GuardedScreen
from tui.learn.confirm import ConfirmScreen
from tui.learn.course_text import flowing
from tui.learn.exercise import ExerciseView
from tui.learn.wrong_engine import WrongEngineStepper, record_both_engines
from tui.stepper.stepper import StepperScreen
from tui.time.cursor import StepCursor


class LessonActionsScreen(GuardedScreen[None]):
    """A screen with a lesson's actions; `LessonScreen` adds the views."""

    def __init__(
        self, course: Course, lesson: Lesson, workspace: Workspace, *, ascii: bool = False, solutions: bool = True
    ) -> None:
        super().__init__(classes="-course")
        self.lesson = lesson
        self._course = course
        self._workspace = workspace
        self._ascii = ascii
        self._solutions = solutions
        self._hints = 0
        self._verdict: Verdict | None = None  # of the last check
        self._checker = WarmChecker(lesson.exercise)

    def action_view(self, name: str) -> None:
        """Show a view."""
        raise NotImplementedError

    def _show_title(self) -> None:
        raise NotImplementedError

    @property
    def _exercise(self) -> ExerciseView:
        return self.query_one(ExerciseView)

    def save(self) -> bool:
        """Write the edited text to its file. Returns whether it is saved."""
        return self._exercise.save()

    def _remember(self, change: Callable[[], None]) -> None:
        """Change the progress; if it cannot be stored, notify the learner and continue."""
        try:
            change()
        except OSError as error:
            self.app.notify(str(error), severity="error", timeout=15, markup=False)

    def _say(self, *lines: Said, title: str = "") -> None:
        """Show lines, from a worker's thread. Does nothing if the worker was cancelled."""
        if not get_current_worker().is_cancelled:
            self.call_later(self._exercise.write, list(lines), title)

    def action_edit(self) -> None:
        """Edit the file in the lesson."""
        self.action_view("exercise")
        self._exercise.edit()

    def action_done_editing(self) -> None:
        """Save and stop editing."""
        self._exercise.done_editing()

    def action_own_editor(self) -> None:
        """Open the file in the learner's own editor."""
        self.action_view("exercise")
        self._exercise.open_in_editor()

    def action_check(self) -> None:
        """Check the file in its own process."""
        if not self._exercise.is_editing:
            self.action_view("exercise")
        elif not self.save():
            return
        self._exercise.write([Said("Checking ...", "dim")], "check")
        self._exercise.note(Said("Checking ...", "dim"))
        self._check()

    @work(thread=True, group="prepare", exclusive=True)
    def prepare_check(self) -> None:
        """Start what a check needs, so that its verdict comes at once."""
        self._checker.prepare()

    def on_unmount(self) -> None:
        """End the processes that wait for a file."""
        self._checker.close()

    @work(thread=True, group="check", exclusive=True)
    def _check(self) -> None:
        try:
            file = self._workspace.exercise(self.lesson)
            verdict = self._checker.check(file, start=self._workspace.start(self.lesson))
        except (LessonError, OSError) as error:
            self._say(Said(str(error), "bad"), title="check")
            return
        if get_current_worker().is_cancelled:
            return
        self._verdict = verdict
        self.call_later(self._remember, partial(self._workspace.attempted, self.lesson, passed=verdict.passed))
        said, short = report(verdict, ascii=self._ascii, result_first=True), headline(verdict, ascii=self._ascii)
        # In the editor, these keys would be typed into the file.
        first = "Esc, then " if self._exercise.is_editing else ""
        if verdict.passed:
            written = "v shows other ways to write it, " if self._solutions else ""
            said.insert(1, Said(f"{first}{written}n goes to the next lesson.", "dim"))
            if self.lesson.variations:
                said.insert(2, Said(f"{first}t brings a small task on the same idea.", "dim"))
            if self.lesson.exercise.has_writer:
                said.insert(1, Said(f"{first}d opens your own engine in the stepper.", "strong"))
            solved, follows = short, f"{first}n goes to the next lesson."
            short = Said(f"{solved.text} {follows}", solved.role)
        elif failed_checks(verdict) and may_have_steps(self.lesson.exercise):
            said += [Said(""), Said(f"{first}d shows where the backward of your code differs, if it does.", "dim")]
        in_pytorch = verdict.passed and can_run_in_pytorch(self.lesson.exercise)
        if in_pytorch:
            said.insert(1, Said(f"Running it in {torch_name()} as well ...", "dim"))
        self.call_later(self._exercise.read)
        self._say(*said, title="check")
        self.call_later(self._exercise.note, short)
        self.call_later(self._exercise.make_room)
        self.call_later(self._show_title)
        if in_pytorch:
            self.call_later(self._in_pytorch, file, said, solved, follows)

    @work(thread=True, group="pytorch", exclusive=True)
    def _in_pytorch(self, file: Path, said: list[Said], solved: Said, follows: str) -> None:
        """Run a file that has passed in PyTorch, and say so where the verdict stands, if it still stands there."""
        found = self._checker.in_pytorch(file)
        if get_current_worker().is_cancelled:
            return
        changed = [said[0], *([found] if found is not None else []), *said[2:]]
        self.call_later(self._exercise.rewrite, said, changed)
        if found is not None:
            before, after = f"{solved.text} {follows}", f"{solved.text} {found.text} {follows}"
            self.call_later(self._exercise.rewrite_note, before, Said(after, solved.role))

    def action_where(self) -> None:
        """Open the stepper on the learner's file where it differs from the solution."""
        self.action_view("exercise")
        if self._verdict is not None and self._verdict.passed and self.lesson.exercise.has_writer:
            self._own_engine()
            return
        if self._verdict is None or not failed_checks(self._verdict):
            self._exercise.write([Said(_no_steps(self._verdict), "dim")])
            return
        self._exercise.write([Said("Recording your file ...", "dim")])
        self._where(self._verdict)

    @work(thread=True, group="check", exclusive=True)
    def _own_engine(self) -> None:
        """Open the stepper on the learner's own engine."""
        found = own_engine(self.lesson.exercise, self._workspace.exercise(self.lesson))
        if found is not None and not get_current_worker().is_cancelled:
            stepper = DivergenceStepper(cursor_at(found), ascii=self._ascii)
            self.call_later(self.app.push_screen, stepper)

    @work(thread=True, group="check", exclusive=True)
    def _where(self, verdict: Verdict) -> None:
        try:
            found = find_divergence(self.lesson.exercise, verdict, self._workspace.exercise(self.lesson))
        except OSError as error:
            self._say(Said(str(error), "bad"))
            return
        if found is None:
            self._say(
                Said("There are no steps to show: the failed check records no backward pass of microtape.", "dim")
            )
            return
        self._say(Said(found.check.title, "strong"), Said(found.in_words()))
        stepper = DivergenceStepper(cursor_at(found), ascii=self._ascii)
        self.call_later(self.app.push_screen, stepper)

    def action_wrong_engine(self) -> None:
        """Open the stepper on the lesson's wrong engine."""
        if self.lesson.wrong_engine is None:
            self.app.notify("This lesson has no wrong engine.")
        else:
            self.app.notify("Running the program on the wrong engine and on the real one ...", timeout=3)
            self._open_case()

    @work(thread=True, group="case", exclusive=True)
    def _open_case(self) -> None:
        try:
            case = record_both_engines(self.lesson)
        except LessonError as error:
            self._say(Said(str(error), "bad"))
            return
        if case is not None and not get_current_worker().is_cancelled:
            stepper = WrongEngineStepper(case, self._fault_found, ascii=self._ascii)
            self.call_later(self.app.push_screen, stepper)

    def _fault_found(self) -> None:
        self._remember(partial(self._workspace.progress.found_fault, self.lesson.name))
        self._show_title()

    def action_hint(self) -> None:
        """Show one more hint below the previous ones, which are a scroll away."""
        self.action_view("exercise")
        hints = self.lesson.exercise.hints
        self._hints = min(self._hints + 1, len(hints))
        self._remember(partial(self._workspace.progress.hinted, self.lesson.name, self._hints))
        shown = [line for hint in hints[: self._hints] for line in (Said(flowing(hint)), Said(""))]
        more = len(hints) - self._hints
        last = (
            f"h gives the next hint ({more} left)."
            if more
            else "That was the last hint. v shows a piece of the solution."
        )
        self._exercise.make_room()
        title = f"hint {self._hints} of {len(hints)}"
        self._exercise.write([*shown, Said(last, "dim")], title, top=2 * (self._hints - 1))

    def action_solution(self) -> None:
        """Show the next piece of the solution; once the exercise is solved, all of it."""
        self.action_view("exercise")
        record = self._workspace.progress.of(self.lesson.name)
        if not self._solutions:
            self._exercise.write([Said("Solutions are not shown here. h gives a hint.", "dim")])
        elif record.solved or record.solution_seen:
            self._show_solution()
        elif record.pieces:
            self._show_piece(True)
        else:
            left = len(self.lesson.exercise.hints) - record.hints
            hints = f"There {'is 1 hint' if left == 1 else f'are {left} hints'} that you have not seen.\n\n"
            question = f"{hints if left > 0 else ''}Show the first piece of the solution?"
            self.app.push_screen(ConfirmScreen(question), self._show_piece)

    def _show_piece(self, sure: bool | None) -> None:
        if not sure:
            return
        all_pieces = solution_pieces(self.lesson.exercise)
        count = self._workspace.progress.of(self.lesson.name).pieces + 1
        if count > len(all_pieces):
            self._remember(partial(self._workspace.progress.saw_solution, self.lesson.name))
            self._show_solution()
            return
        self._remember(partial(self._workspace.progress.saw_pieces, self.lesson.name, count))
        more = len(all_pieces) - count
        last = f"v shows the next piece ({more} left)." if more else "v shows the whole solution."
        self._exercise.write_code(all_pieces[count - 1], f"piece {count} of {len(all_pieces)}", [Said(last, "dim")])
        self._exercise.make_room()

    def _show_solution(self) -> None:
        exercise = self.lesson.exercise
        others = [Said("Other ways to write it:", "strong")]
        others += [Said(f"    {right.note}") for right in exercise.right_answers]
        shown = others if self._workspace.progress.of(self.lesson.name).solved else []
        self._exercise.write_code(exercise.solution.read_text(encoding="utf-8"), "solution", shown)
        self._exercise.make_room()

    def action_reset(self) -> None:
        """Start the exercise over, after confirmation."""
        self.action_view("exercise")
        question = "Start this exercise over?\n\nYour file is kept under another name; its progress is cleared."
        self.app.push_screen(ConfirmScreen(question), self._reset)

    def _reset(self, sure: bool | None) -> None:
        if not sure:
            return
        try:
            kept = self._workspace.reset(self.lesson)
        except OSError as error:
            self._exercise.write([Said(str(error), "bad")])
            return
        self._hints = 0
        self._exercise.read()
        self._exercise.write([Said(f"Your file is kept as {kept}" if kept else "Your file had no changes.", "dim")])
        self._show_title()


def _no_steps(verdict: Verdict | None) -> str:
    """Why there are no steps of the learner's file."""
    if verdict is None:
        return "Check your file first, with c. If a check fails, d shows its steps."
    if verdict.passed:
        return "Your file passes all checks: none of its steps is wrong."
    if verdict.broken is None and verdict.ended == "finished":
        return "There are no steps to show: you have not changed the file yet."
    return "There are no steps to show: your file did not run to its end. c shows why."


class DivergenceStepper(StepperScreen):
    """The stepper on a learner's file, at the step where it goes wrong."""

    def __init__(self, cursor: StepCursor, *, ascii: bool = False) -> None:
        super().__init__(cursor.recording, ascii=ascii)
        self._opening = cursor


def cursor_at(found: Divergence) -> StepCursor:
    """The moment after the step where a learner's recording diverges; before the first step if none does."""
    moment = found.step
    if moment is None:
        return StepCursor.open(found.recording)
    return StepCursor.after(found.recording, moment.step + 1, moment.pass_index)
