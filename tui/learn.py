"""`microtape learn`: the course in full screen, and the same in plain text."""

from __future__ import annotations

import argparse

from lessons import Course, Lesson, LessonError, Workspace, check, load_course
from lessons.report import report
from tui.exits import CommandError, Exit
from tui.launch import has_terminal


def learn(arguments: argparse.Namespace, *, theme: str, ascii: bool) -> int:
    """Open a lesson (the first that is not solved), `list` the course, or `check` an exercise."""
    try:
        course, workspace = load_course(), Workspace()
        what, *rest = arguments.what or [""]
        if what == "list":
            _list(course, workspace)
            return Exit.OK
        if what == "check":
            return _check(_lesson(course, workspace, rest), workspace, ascii=ascii)
        lesson = _lesson(course, workspace, [what] if what else [])
        if not has_terminal():
            _print(lesson, workspace)
            return Exit.OK
        from tui.lesson import LessonApp

        app = LessonApp(course, lesson, workspace, theme=theme, ascii=ascii)
        app.run()
        return app.return_code or Exit.OK
    except LookupError as error:
        raise CommandError(str(error.args[0])) from None
    except (LessonError, OSError) as error:
        raise CommandError(str(error)) from None


def _lesson(course: Course, workspace: Workspace, name: list[str]) -> Lesson:
    """The lesson of that name, else the first that is not solved, else the last."""
    if name:
        return course.find(" ".join(name))
    solved = workspace.progress.solved()
    return next((lesson for lesson in course if lesson.name not in solved), course.lessons[-1])


def _list(course: Course, workspace: Workspace) -> None:
    solved = workspace.progress.solved()
    for lesson in course:
        mark = "solved" if lesson.name in solved else ""
        print(f"{lesson.number:>3}  {mark:6}  {lesson.name:24}  {lesson.title}")
        print(f"{'':13}{lesson.summary}")


def _check(lesson: Lesson, workspace: Workspace, *, ascii: bool) -> int:
    path = workspace.exercise(lesson)
    verdict = check(lesson.exercise, path)
    workspace.progress.attempted(lesson.name, passed=verdict.passed)
    print(f"lesson {lesson.number}: {lesson.title}\n{path}\n")
    for said in report(verdict, ascii=ascii):
        print(said.text)
    return Exit.OK if verdict.passed else Exit.NOT_SOLVED


def _print(lesson: Lesson, workspace: Workspace) -> None:
    print(lesson.prose)
    print(f"Step through the program:  microtape step {lesson.program}")
    print(f"Your exercise:             {workspace.exercise(lesson)}")
    print(f"Check it:                  microtape learn check {lesson.name}")
