"""A small lesson in a folder, which tests change."""

from pathlib import Path

HEADER = """\
+++
title = "Doubling"
summary = "Twice as much."
+++
"""
LESSON = HEADER + "# Doubling\n\nText.\n\n## In PyTorch\n\n`x * 2`.\n"
PROGRAM = """\
import microtape as mt

x = mt.tensor(3.0, requires_grad=True)
y = x * 2
z = y.sin()
z.backward()
"""
EXERCISE = "def double(x):\n    raise NotImplementedError\n"
SOLUTION = "def double(x):\n    return 2 * x\n"
CHECK = '''\
def three(exercise):
    """double(3)"""
    return exercise.double(3)


def pair(exercise):
    """double([1, 2])"""
    return exercise.double([1, 2])
'''
SUM = '"""The sum of x and x."""\n\n\ndef double(x):\n    return x + x\n'
SHIFT = """\
\'\'\'A shift to the left.\'\'\'


def double(x):
    return x << 1 if isinstance(x, int) else x * 2
"""
SQUARE = '"""You multiply x by itself; twice x is x + x."""\n\n\ndef double(x):\n    return x * x\n'
SHORT = '"""One is missing."""\n\n\ndef double(x):\n    return 2 * x - 1 if x == 3 else 2 * x\n'

FILES = {
    "lesson.md": LESSON,
    "program.py": PROGRAM,
    "exercise.py": EXERCISE,
    "solution.py": SOLUTION,
    "check.py": CHECK,
    "hints.md": "Look at `2 * x`.\n---\nWrite `return 2 * x`.\n",
    "right/sum.py": SUM,
    "right/shift.py": SHIFT,
    "wrong/square.py": SQUARE,
    "wrong/short.py": SHORT,
}


def write_lesson(course: Path, folder: str = "01_doubling", **changes: str | None) -> Path:
    """Write the lesson; `changes` replace files, or omit them if None. The argument for `wrong/x.py` is `wrong_x`."""
    changed = {_path(name): text for name, text in changes.items()}
    for name, text in (FILES | changed).items():
        path = course / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8")
    return course


def _path(name: str) -> str:
    folder, _, rest = name.partition("_")
    stem = f"{folder}/{rest}" if folder in ("right", "wrong") else name
    return stem + (".md" if name in ("lesson", "hints") else ".py")
