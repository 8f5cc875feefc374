"""A new lesson: files in their places, with a TODO wherever something has to be written.

The template can be read, but not proven: `learn verify` names what is missing, to the last TODO.
"""

from __future__ import annotations

import re
from pathlib import Path

from lessons.model.header import LessonError
from lessons.model.load import lesson_files

TODO = "TODO"

_LESSON = """\
+++
title = "{title}"
summary = "TODO: one sentence for the list of lessons."
introduces = []
pytorch = {{}}

[[predict]]
after = 1
ask = "TODO: a question about the step that comes next"
answer = "grad x"
hint = "TODO: after a wrong guess; it does not tell the answer"
because = "TODO: why the answer is what it is"
+++

# {title}

```text
   TODO: a picture
```

TODO: the text. Show one thing with a few lines of Python, and what they print:

```python
print("TODO")
```

```output
TODO
```

## Exercise

TODO: a sentence about the exercise.

## In PyTorch

TODO: what this is called in PyTorch.
"""
_PROGRAM = """\
import microtape as mt

# TODO: the program that the learner steps through
x = mt.tensor([1.0, 2.0], requires_grad=True)
total = x.sum()

total.backward()

print("x.grad =", x.grad.tolist())
"""
_EXERCISE = """\
# {title}.
#
# TODO: what to write, with an example of a call and its result.
#
# Complete the function.


def todo(x):
    raise NotImplementedError


if __name__ == "__main__":
    print(todo(1.0))
"""
_SOLUTION = """\
# {title}: one way to write it.
#
# TODO: what the exercise teaches.


def todo(x):
    return x


if __name__ == "__main__":
    print(todo(1.0))
"""
_CHECK = '''\
def first(exercise):
    """TODO: what this check tries; learners read it"""
    return exercise.todo(1.0)


def at_random(exercise, random):
    return exercise.todo(float(random.normal()))
'''
_WRONG = '''\
"""TODO: a common mistake, explained to the learner who makes it."""


def todo(x):
    return x
'''
_HINTS = "TODO: a vague hint\n---\nTODO: a plainer hint\n"
_FILES = {
    "lesson.md": _LESSON,
    "program.py": _PROGRAM,
    "exercise.py": _EXERCISE,
    "solution.py": _SOLUTION,
    "check.py": _CHECK,
    "hints.md": _HINTS,
    "wrong/todo.py": _WRONG,
}
_FOLDERS = ("right", "wrong")


def new_lesson(course: Path, name: str) -> Path:
    """Write the template as the last lesson of a course, which may be a new folder. Returns the lesson's folder.

    Raises:
        LessonError: the name cannot be a lesson's, or the course has a lesson of that name.
        OSError: it cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise LessonError(f"{name!r} cannot be a lesson's name: use small letters, digits and _, as in tape_of_numbers")
    numbers = {path.parent.name.partition("_")[2]: path.parent.name.partition("_")[0] for path in lesson_files(course)}
    if name in numbers:
        raise LessonError(f"{course}: lesson {int(numbers[name])} is called {name} already: choose another name")
    number = max((int(one) for one in numbers.values() if one.isdecimal()), default=0) + 1
    folder = course / f"{number:02}_{name}"
    title = name.replace("_", " ").capitalize()
    for file, text in _FILES.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(title=title) if "{title}" in text else text, encoding="utf-8")
    for one in _FOLDERS:
        (folder / one).mkdir(exist_ok=True)
    return folder


def todos(folder: Path) -> list[str]:
    """What is left of the template in a lesson, a line for each."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".md")]
    return [
        f"{path.relative_to(folder)}: line {number} still says {TODO}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"\b{TODO}\b", line)
    ]
