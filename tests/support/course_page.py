"""docs/course_in_pytorch.md: PyTorch's names, pages and messages for each lesson, and its minutes, from the headers.

Regenerate it with `python -m tests.support.course_page`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessons import Lesson
from lessons.model.timing import minutes
from tests.support.course import COURSE

PAGE = Path(__file__).parents[2] / "docs" / "course_in_pytorch.md"

HEAD = """# The course and PyTorch

What each lesson is called in PyTorch, which page of PyTorch's documentation explains it, and which error messages the
lesson explains. `microtape learn about MESSAGE` opens the lesson for a message. `diagnose` and the stepper name it, and
so does a line below the traceback of a recorded script.

Where PyTorch is installed, `microtape learn check` runs every exercise about the engine that you have solved once more,
with PyTorch in the engine's place, and says so: `Also passes in PyTorch 2.13.` The verdict comes first and does not
depend on it; `--no-torch` leaves it out. In the exercises marked with *own*, your code does not use the engine (most of
them build one of your own), so that there is nothing to run in PyTorch.

The minutes are estimated from the length of the text and of the task, the questions, the wrong engine and the lines to
write, for a learner who types everything. The small tasks (`t`) come on top, a minute or two each. The whole course
takes about {hours} hours.

In brackets stands the page of PyTorch's documentation; without one, the page has the name itself for its title.
"""


def page() -> str:
    """The page, from the lessons' headers."""
    hours = round(sum(map(minutes, COURSE)) / 60)
    lessons = "\n".join(line for lesson in COURSE for line in _lines(lesson))
    end = "\n\n`python -m tests.support.course_page` generates this page from the headers of the lessons.\n"
    return f"{HEAD.format(hours=hours)}\n{lessons}{end}"


def _lines(lesson: Lesson) -> Iterator[str]:
    own = "" if "import microtape" in lesson.exercise.check.read_text(encoding="utf-8") else ", *own*"
    yield f"{lesson.number}. **{lesson.title}** (`{lesson.name}`, {minutes(lesson)} minutes{own})"
    indent = " " * len(f"{lesson.number}. ")
    yield from (f"{indent}- `{name}`{f' ({title})' * (title != name)}" for name, title in lesson.pytorch)
    yield from (f"{indent}- explains “{piece}”" for piece in lesson.explains)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
