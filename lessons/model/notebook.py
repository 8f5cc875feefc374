"""A lesson as a Jupyter notebook: its program, its text, its Python with what that prints, and its exercise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lessons.model.lesson import Lesson
from lessons.model.opening import ABOUT_THE_PROGRAM, divided

FENCED = re.compile(r"^```(python|output)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)

_EXERCISE = """\
## The exercise, as a file

Complete it here or in your editor: `microtape learn check {name}` gives you a copy of this file and checks it, and
`microtape learn hint {name}` gives a hint. As it is, the cell below {fails}.
"""


def notebook(lesson: Lesson, printed: Sequence[str], film: str) -> dict[str, Any]:
    """The notebook, as data for JSON. `printed` is what each block of Python in the text prints, `film` a link."""
    title, text = divided(lesson.prose)
    about = ABOUT_THE_PROGRAM.format(command="microtape learn").replace("\n", " ")
    exercise = lesson.exercise.path.read_text(encoding="utf-8")
    fails = "ends with NotImplementedError" if "raise NotImplementedError" in exercise else "gives a wrong answer"
    cells = [
        _markdown(f"{title}\n\n{about} [Its film]({film}) plays its backward pass."),
        _code(lesson.program.read_text(encoding="utf-8")),
        *_text(text, iter(printed)),
        _markdown(_EXERCISE.format(name=lesson.name, fails=fails)),
        _code(exercise) | {"metadata": {"tags": ["raises-exception"]}},
    ]
    return {
        "cells": [cell | {"id": f"{lesson.name}-{number}"} for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _text(prose: str, printed: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The cells of the text: between its blocks of Python, Markdown. What it says they print is left out."""
    end = 0
    for block in FENCED.finditer(prose):
        if between := prose[end : block.start()].strip():
            yield _markdown(between)
        if block[1] == "python":
            yield _code(block[2], next(printed))
        end = block.end()
    if rest := prose[end:].strip():
        yield _markdown(rest)


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip()}


def _code(text: str, printed: str = "") -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {
        "cell_type": "code", "metadata": {}, "execution_count": None, "source": text.strip("\n"), "outputs": outputs,
    }  # fmt: skip
