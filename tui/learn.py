"""`microtape learn`: the course in full screen, and everything it does as plain commands, for one's own editor."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable

from lessons import Course, Lesson, LessonError, Workspace, check, load_course
from lessons.report import report
from tui.exits import CommandError, Exit, say
from tui.launch import has_terminal

Command = Callable[[Lesson, Workspace, argparse.Namespace, bool], int]


def learn(arguments: argparse.Namespace, *, theme: str, ascii: bool) -> int:
    """Open the course; `list` it; print a lesson by its name; `check`, `hint`, `solution` or `reset` its exercise.

    Raises:
        CommandError: there is no such lesson, a file cannot be read or written, or a lesson is not as it should be.
    """
    try:
        course, workspace = load_course(), Workspace()
        code = _run(course, workspace, arguments, theme, ascii)
        if workspace.progress.trouble:
            say(workspace.progress.trouble)
        return code
    except LookupError as error:
        raise CommandError(str(error.args[0])) from None
    except (LessonError, OSError) as error:
        raise CommandError(str(error)) from None


def _run(course: Course, workspace: Workspace, arguments: argparse.Namespace, theme: str, ascii: bool) -> int:
    what, *rest = arguments.what or [""]
    if what == "list" or (not what and not has_terminal()):
        return _list(course, workspace, ascii)
    if not what:
        from tui.learn_app import LearnApp

        app = LearnApp(course, workspace, theme=theme, ascii=ascii)
        app.run()
        return app.return_code or Exit.OK
    command = COMMANDS.get(what)
    name = " ".join(rest if command else arguments.what)
    lesson = course.find(name) if name else course.after_solved(workspace.progress.solved())
    return (command or _text)(lesson, workspace, arguments, ascii)


def _list(course: Course, workspace: Workspace, ascii: bool) -> int:
    solved = workspace.progress.solved()
    for lesson in course:
        mark = ("ok" if ascii else "✓") if lesson.name in solved else ""
        print(f"{mark:2} {lesson.number:>2}  {lesson.name:22}  {lesson.title}")
    print(
        f"\n{sum(lesson.name in solved for lesson in course)} of {len(course)} solved.  microtape learn NAME shows one."
    )
    return Exit.OK


def _text(lesson: Lesson, workspace: Workspace, arguments: argparse.Namespace, ascii: bool) -> int:
    """The text, and what to type to go on. On a terminal the text is coloured."""
    if has_terminal():
        from rich.console import Console
        from rich.markdown import Markdown

        width = min(shutil.get_terminal_size().columns, 84)
        Console(width=width).print(Markdown(lesson.prose, code_theme="ansi_dark"))
    else:
        print(lesson.prose)
    passes = f" --pass {lesson.passes}" if lesson.passes else ""
    print(f"Step through the program   microtape step {lesson.program}{passes}")
    print(f"Your file                  {workspace.exercise(lesson)}")
    print(f"Check it                   microtape learn check {lesson.name}")
    return Exit.OK


def _check(lesson: Lesson, workspace: Workspace, arguments: argparse.Namespace, ascii: bool) -> int:
    path = workspace.exercise(lesson)
    verdict = check(lesson.exercise, path)
    workspace.progress.attempted(lesson.name, passed=verdict.passed)
    print(f"lesson {lesson.number}: {lesson.title}\n{path}\n")
    width = shutil.get_terminal_size((100, 24)).columns
    for said in report(verdict, ascii=ascii):
        indent = " " * (len(said.text) - len(said.text.lstrip()))
        print(textwrap.fill(said.text, width, subsequent_indent=indent, break_on_hyphens=False) or said.text)
    return Exit.OK if verdict.passed else Exit.NOT_SOLVED


def _hint(lesson: Lesson, workspace: Workspace, arguments: argparse.Namespace, ascii: bool) -> int:
    """The next hint; when all have been seen, all of them."""
    hints, seen = lesson.exercise.hints, workspace.progress.of(lesson.name).hints
    shown = range(len(hints)) if seen >= len(hints) else (seen,)
    for number in shown:
        print(f"lesson {lesson.number}, hint {number + 1} of {len(hints)}\n\n{hints[number]}\n")
    workspace.progress.hinted(lesson.name, min(seen + 1, len(hints)))
    return Exit.OK


def _solution(lesson: Lesson, workspace: Workspace, arguments: argparse.Namespace, ascii: bool) -> int:
    record = workspace.progress.of(lesson.name)
    known = bool(record.solved) or record.solution_seen
    if not known and not _sure(arguments, f"Show the solution of lesson {lesson.number}, {lesson.title}?"):
        return Exit.OK
    workspace.progress.saw_solution(lesson.name)
    print(lesson.exercise.solution.read_text(encoding="utf-8"), end="")
    return Exit.OK


def _reset(lesson: Lesson, workspace: Workspace, arguments: argparse.Namespace, ascii: bool) -> int:
    if not _sure(arguments, f"Begin lesson {lesson.number}, {lesson.title}, anew? (Your file is kept.)"):
        return Exit.OK
    kept = workspace.reset(lesson)
    say(f"your file is kept as {kept}" if kept else "the file was as shipped")
    return Exit.OK


def _sure(arguments: argparse.Namespace, question: str) -> bool:
    """Ask on the terminal; where there is none, only --yes will do."""
    if arguments.yes:
        return True
    if not has_terminal():
        raise CommandError(f"{question} There is no terminal to ask on: add --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


COMMANDS: dict[str, Command] = {"check": _check, "hint": _hint, "solution": _solution, "reset": _reset}
