"""The commands of `microtape learn` for one lesson, without the full screen. Each returns an exit code."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lessons import Course, Lesson, Verdict, Workspace, check
from lessons.checking.divergence import Divergence, failed_checks, find_divergence, may_have_steps, own_engine
from lessons.checking.in_pytorch import can_run_in_pytorch, run_in_pytorch, torch_name
from lessons.checking.verdict_report import Said, report
from lessons.checking.warm_checker import WarmChecker
from lessons.learner.progress import ProgressError
from lessons.model.messages import lessons_about
from lessons.model.opening import ABOUT_THE_PROGRAM, divided
from lessons.model.solution_pieces import solution_pieces
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, say
from tui.shell.printing import put, put_error, safe
from tui.shell.progress import status_line
from tui.shell.terminal import has_terminal
from viz.basics.characters import to_ascii

Then: TypeAlias = Literal["", "where", "wrong_engine", "practise", "review"]
"""An action of the screen that a command opens."""


@dataclass(frozen=True)
class CommandContext:
    """The context of a command: the course, the learner's files, and how to print."""

    course: Course
    workspace: Workspace
    arguments: argparse.Namespace
    ascii: bool
    theme: str

    def lesson(self, name: str) -> Lesson:
        """The lesson of that name or number; without one, the first that is not solved. Raises LookupError."""
        return self.course.find(name) if name else self.course.after_solved(self.workspace.progress.solved())

    def open(self, lesson: Lesson | None, then: Then = "") -> int:
        """Open the course in full screen, at a lesson, and run an action of the lesson's screen."""
        from tui.learn.app import LearnApp

        app = LearnApp(
            self.course, self.workspace, lesson=lesson, then=then, theme=self.theme, ascii=self.ascii,
            solutions=not self.arguments.no_solutions,
        )  # fmt: skip
        app.run()
        return app.return_code or Exit.OK

    def command(self, *words: str) -> str:
        """The command line of another command on the same course."""
        path = self.arguments.path
        own = () if path is None else ("--path", path)
        return shlex.join(["microtape", "learn", *words, *own])

    def print(self, text: str = "") -> None:
        """Print a line in the terminal's characters."""
        put(to_ascii(text) if self.ascii and text else text, flush=True)

    def sure(self, question: str) -> bool:
        """Ask for confirmation on the terminal; without a terminal, --yes is required."""
        if self.arguments.yes:
            return True
        if not has_terminal():
            raise CommandError(f"{question} There is no terminal to ask on: add --yes")
        put_error(f"{question} [y/N] ", end="")
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def text(context: CommandContext, lesson: Lesson) -> int:
    """Print the program, the text and the next commands. On a terminal they are coloured."""
    title, rest = divided(lesson.prose)
    about = ABOUT_THE_PROGRAM.format(command=context.command())
    program = lesson.program.read_text(encoding="utf-8").strip("\n")
    prose = f"{title}\n\n{about}\n\n```python\n{program}\n```\n\n{rest}"
    if context.ascii:
        prose = "\n".join(to_ascii(line) for line in prose.split("\n"))
    if has_terminal():
        from rich.console import Console
        from rich.markdown import Markdown

        width = min(shutil.get_terminal_size().columns, 84)
        Console(width=width).print(Markdown(safe(prose), code_theme="ansi_dark"))
    else:
        put(prose)
    passes = f" --pass {lesson.passes}" if lesson.passes else ""
    put(f"\nStep through the program   microtape step {shlex.quote(str(lesson.program))}{passes}")
    if lesson.wrong_engine is not None:
        put(f"Find the engine's fault    {context.command('engine', lesson.name)}")
    put(f"Your file                  {_file_of(context, lesson)}")
    put(f"Check it                   {context.command('check', lesson.name)}")
    return Exit.OK


def _file_of(context: CommandContext, lesson: Lesson) -> str:
    """The learner's file, or why there is none: the text can be read all the same."""
    try:
        return str(context.workspace.exercise(lesson))
    except ProgressError as error:
        return str(error)


def about(context: CommandContext, message: str) -> int:
    """Open the lesson that explains an error message; without a terminal, or if there are several, name them.

    Raises:
        LookupError: no lesson explains it.
    """
    found = lessons_about(context.course, message)
    if len(found) == 1 and has_terminal():
        return context.open(found[0])
    for lesson in found:
        context.print(f"lesson {lesson.number}: {lesson.title}   {context.command(lesson.name)}")
    return Exit.OK


def check_file(context: CommandContext, lesson: Lesson) -> int:
    """Check the learner's file and report."""
    verdict = tried(context, lesson)
    if verdict.passed:
        following = context.course.after(lesson)
        if following is not None:
            context.print(f"\n{context.command(following.name)}  is the next lesson")
        _also_in_pytorch(context, lesson)
        return Exit.OK
    context.print()
    if may_have_steps(lesson.exercise) and failed_checks(verdict):
        command = context.command("step", lesson.name)
        context.print(f"{command}  shows where the backward of your code differs, if it does")
    context.print(f"{context.command('hint', lesson.name)}  prints a hint")
    return Exit.NOT_SOLVED


def _also_in_pytorch(context: CommandContext, lesson: Lesson) -> None:
    """Say whether the file also passes in PyTorch. The verdict has been told; Ctrl-C skips this."""
    if context.arguments.no_torch or not can_run_in_pytorch(lesson.exercise):
        return
    try:
        with status_line(f"running it in {torch_name()} as well ...   Ctrl-C skips this"):
            said = run_in_pytorch(lesson.exercise, context.workspace.exercise(lesson))
    except KeyboardInterrupt:
        return
    if said is not None:
        tell(context, [Said(""), said])


def tried(context: CommandContext, lesson: Lesson, checker: WarmChecker | None = None) -> Verdict:
    """Check the learner's file, store the attempt, and print the report."""
    path = context.workspace.exercise(lesson)
    start = context.workspace.start(lesson)
    verdict = checker.check(path, start=start) if checker is not None else check(lesson.exercise, path, start=start)
    context.workspace.attempted(lesson, passed=verdict.passed)
    context.print(f"lesson {lesson.number}: {lesson.title}")
    put(f"{path}\n")
    tell(context, report(verdict, ascii=context.ascii))
    return verdict


def tell(context: CommandContext, lines: list[Said]) -> None:
    """Print a report; wrapped lines keep their indentation."""
    width = shutil.get_terminal_size((100, 24)).columns
    for said in lines:
        indent = " " * (len(said.text) - len(said.text.lstrip()))
        for line in textwrap.wrap(said.text, width, subsequent_indent=indent, break_on_hyphens=False) or [said.text]:
            context.print(line)


def hint(context: CommandContext, lesson: Lesson) -> int:
    """Print the next hint; once all have been seen, all of them."""
    hints, seen = lesson.exercise.hints, context.workspace.progress.of(lesson.name).hints
    shown = range(len(hints)) if seen >= len(hints) else (seen,)
    for number in shown:
        put(f"lesson {lesson.number}, hint {number + 1} of {len(hints)}\n")
        for line in (*hints[number].split("\n"), ""):
            context.print(line)
    context.workspace.progress.hinted(lesson.name, min(seen + 1, len(hints)))
    return Exit.OK


def solution(context: CommandContext, lesson: Lesson) -> int:
    """Print the next piece of the solution; with --all, or once the exercise is solved, all of it."""
    if context.arguments.no_solutions:
        raise CommandError("solutions are not shown (--no-solutions)")
    progress, exercise = context.workspace.progress, lesson.exercise
    record = progress.of(lesson.name)
    if not (record.solved or record.solution_seen):
        every = solution_pieces(exercise)
        if not context.arguments.all and record.pieces < len(every):
            if not record.pieces and not context.sure(
                f"Show the first piece of the solution of lesson {lesson.number}?"
            ):
                return Exit.OK
            context.print(every[record.pieces])
            more = len(every) - record.pieces - 1
            following = "the next piece" if more else "all of it"
            say(f"piece {record.pieces + 1} of {len(every)}; the same command shows {following}")
            progress.saw_pieces(lesson.name, record.pieces + 1)
            return Exit.OK
        if context.arguments.all and not context.sure(f"Show the solution of lesson {lesson.number}, {lesson.title}?"):
            return Exit.OK
    progress.saw_solution(lesson.name)
    for line in exercise.solution.read_text(encoding="utf-8").splitlines():
        context.print(line)
    if record.solved:
        for right in exercise.right_answers:
            say(f"another solution, {right.path}: {right.note}")
    return Exit.OK


def reset(context: CommandContext, lesson: Lesson) -> int:
    """Start an exercise over, after confirmation."""
    if not context.sure(f"Start lesson {lesson.number}, {lesson.title}, over? (Your file is kept.)"):
        return Exit.OK
    kept = context.workspace.reset(lesson)
    say(f"your file is kept as {kept}" if kept else "your file had no changes")
    return Exit.OK


def step(context: CommandContext, lesson: Lesson) -> int:
    """Open the stepper on the learner's file where it differs from the solution; without a terminal, print the step."""
    path = context.workspace.exercise(lesson)
    verdict = check(lesson.exercise, path)
    found = find_divergence(lesson.exercise, verdict, path)
    if verdict.passed and lesson.exercise.has_writer:
        found = own_engine(lesson.exercise, path)
    if found is None:
        say("there are no steps to show: your file does not call backward in a check that fails")
        return Exit.NOT_SOLVED
    if has_terminal():
        return show(context, found)
    moment = found.step
    if verdict.passed:
        _print_step(context, found.recording, (0, 0))
        return Exit.OK
    context.print(found.check.title)
    context.print(found.in_words())
    _print_step(context, found.recording, (moment.pass_index, moment.step + 1) if moment is not None else (0, 0))
    return Exit.OK


def show(context: CommandContext, found: Divergence) -> int:
    """Open the stepper where the learner's file differs from the solution. Returns the exit code."""
    from tui.learn.lesson_actions import DivergenceStepper, cursor_at
    from tui.stepper.app import MicrotapeApp

    class DivergenceApp(MicrotapeApp):
        def on_mount(self) -> None:
            self.push_screen(DivergenceStepper(cursor_at(found), ascii=context.ascii), lambda _: self.exit())

    app = DivergenceApp(context.theme)
    app.run()
    return app.return_code or Exit.OK


def _print_step(context: CommandContext, recording: Recording, moment: tuple[int, int]) -> None:
    from tui.words.trace import trace_step

    width = shutil.get_terminal_size((100, 24)).columns
    for line in trace_step(recording, moment[1], moment[0], width=width, ascii=context.ascii):
        context.print(line)


def engine(context: CommandContext, lesson: Lesson, answered: str | None) -> int:
    """Print the steps of a lesson's wrong engine, or judge an answer: the first wrong step (`2`, or `2.1` in pass 2).

    Raises:
        CommandError: the lesson has no wrong engine, or there is no such step.
    """
    from tui.learn.wrong_engine import TASK, record_both_engines

    if answered is None and has_terminal():
        return context.open(lesson, "wrong_engine")
    case = record_both_engines(lesson)
    if case is None:
        with_one = ", ".join(one.name for one in context.course if one.wrong_engine is not None)
        raise CommandError(f"lesson {lesson.number} has no wrong engine; these have: {with_one}")
    if answered is None:
        from tui.words.trace import trace

        for line in trace(case.faulty, width=100, ascii=context.ascii):
            context.print(line)
        answer = context.command("engine", lesson.name, "STEP")
        put(f"\nWhich step is the first wrong one? Answer: {answer} (or PASS.STEP)")
        return Exit.OK
    first, _, second = answered.rpartition(".")
    index, number = int(first or 1) - 1, int(second or 0) - 1
    passes = case.faulty.passes
    if not 0 <= index < len(passes) or not 0 <= number < len(passes[index].steps):
        raise CommandError(f"there is no step {answered}. {TASK.partition('. ')[0]}.")
    right, said = case.judge(index, number)
    tell(context, [Said(line) for line in f"{'Right. ' * right}{said}".replace("`", "").split("\n")])
    if right:
        context.workspace.progress.found_fault(lesson.name)
    return Exit.OK if right else Exit.NOT_SOLVED
