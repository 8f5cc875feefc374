"""`microtape learn`: the course in full screen, and its actions as plain commands, for use with any editor."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from lessons import COURSE, Lesson, LessonError, Workspace, load_course
from lessons.learner.workspace import folder_of
from tui.learn import lesson_commands
from tui.learn.lesson_commands import CommandContext
from tui.learn.watch import watch
from tui.shell.exits import CommandError, Exit, say
from tui.shell.printing import put
from tui.shell.terminal import has_terminal


class Words(NamedTuple):
    """The words of the command line: a command and its arguments."""

    command: str
    rest: list[str]


COMMANDS: dict[str, Callable[[CommandContext, Lesson], int]] = {
    "check": lesson_commands.check_file,
    "hint": lesson_commands.hint,
    "solution": lesson_commands.solution,
    "reset": lesson_commands.reset,
    "step": lesson_commands.step,
    "watch": watch,
}


def learn(arguments: argparse.Namespace, *, theme: str, ascii: bool) -> int:
    """Open the course, or run one of its commands; see `microtape learn --help`.

    Raises:
        CommandError: there is no such lesson, a file cannot be read or written, or a lesson is malformed.
    """
    what, *rest = arguments.what or [""]
    words = Words(what, rest)
    try:
        if words.command == "verify":
            from tui.learn.teacher_commands import verify

            return verify(_folder(words))
        if words.command == "new":
            from tui.learn.teacher_commands import new

            return new(" ".join(rest), arguments.path)
        path = Path(arguments.path).expanduser() if arguments.path is not None else None
        course = load_course(COURSE if path is None else path)
        if words.command == "grade":
            from tui.learn.teacher_commands import grade

            return grade(
                _folder(words), course, " ".join(rest[1:]), as_json=arguments.json, as_csv=arguments.csv,
                ascii=ascii, exit_code=arguments.exit_code,
            )  # fmt: skip
        if words.command == "report":
            from tui.learn.teacher_commands import class_report

            return class_report(
                _folder(words), course, " ".join(rest[1:]), as_json=arguments.json, as_csv=arguments.csv, ascii=ascii
            )
        if words.command == "book":
            from tui.learn.book import book

            return book(course, rest[0] if rest else "", " ".join(rest[1:]))
        workspace = Workspace(None if path is None else folder_of(path))
        context = CommandContext(course, workspace, arguments, ascii, theme)
        code = _run(context, words)
        if workspace.progress.trouble:
            say(workspace.progress.trouble)
        return code
    except LookupError as error:
        raise CommandError(str(error.args[0])) from None
    except BrokenPipeError:
        raise
    except (LessonError, OSError) as error:
        raise CommandError(str(error)) from None


def _folder(words: Words) -> str:
    if not words.rest:
        raise CommandError(f"microtape learn {words.command} needs a folder")
    return words.rest[0]


def _run(context: CommandContext, words: Words) -> int:
    command, rest = words
    if command == "list" or (not command and not has_terminal()):
        return _list(context)
    if not command:
        return context.open(None)
    if command == "engine":
        step = rest.pop() if len(rest) > 1 and rest[-1].replace(".", "", 1).isdecimal() else None
        return lesson_commands.engine(context, context.lesson(" ".join(rest)), step)
    if command == "about":
        return lesson_commands.about(context, " ".join(rest))
    if command == "review":
        from tui.learn.review_command import review  # with Textual, which the other commands start without

        return review(context, rest)
    if command in COMMANDS:
        return COMMANDS[command](context, context.lesson(" ".join(rest)))
    return lesson_commands.text(context, _lesson_of(context, words))


def _lesson_of(context: CommandContext, words: Words) -> Lesson:
    """The lesson named without a command. The error for an unknown name suggests a similar one, or a command."""
    every = ["list", *COMMANDS, "engine", "review", "about", "verify", "grade", "report", "new", "book"]
    try:
        return context.lesson(" ".join([words.command, *words.rest]))
    except LookupError as problem:
        close = get_close_matches(words.command, [*every, *context.course.words], 1)
        if close and close[0] in every:
            command = f"microtape learn {close[0]}"
            raise LookupError(f"there is no command {words.command!r}: did you mean `{command}`?") from None
        commands = f". Commands: {', '.join(every)}" if words.rest else ""
        raise LookupError(f"{problem.args[0]}{commands}") from None


def _list(context: CommandContext) -> int:
    solved = context.workspace.progress.solved()
    for lesson in context.course:
        mark = ("ok" if context.ascii else "✓") if lesson.name in solved else ""
        line = f"{mark:2} {lesson.number:>2}  {lesson.name:22}  {lesson.title}"
        put(line.encode("ascii", "replace").decode() if context.ascii else line)
    count = sum(lesson.name in solved for lesson in context.course)
    put(f"\n{count} of {len(context.course)} solved.  {context.command('NAME')} prints a lesson.")
    return Exit.OK
