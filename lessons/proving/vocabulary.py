"""Proves that no lesson uses a word that a later one introduces, and that every part of autograd is introduced.

Each lesson's header lists the words it `introduces`: names in code, keyword arguments with their `=`, and terms. No
text, program, exercise, hint or answer of an earlier lesson may contain such a word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lessons.model.lesson import Course, Lesson

AUTOGRAD = frozenset(
    [
        "backward",
        "grad",
        "requires_grad",
        "requires_grad_",
        "detach",
        "detach_",
        "retain_grad",
        "retains_grad",
        "is_leaf",
        "grad_fn",
        "no_grad",
        "enable_grad",
        "set_grad_enabled",
        "inference_mode",
        "retain_graph",
        "create_graph",
        "gradient=",
        "inputs=",
        "allow_unused",
        "materialize_grads",
        "grad_outputs",
        "grad_tensors",
        "Function",
        "apply",
        "save_for_backward",
        "saved_tensors",
        "needs_input_grad",
        "mark_dirty",
        "mark_non_differentiable",
        "set_materialize_grads",
        "once_differentiable",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "register_prehook",
        "gradcheck",
        "gradgradcheck",
        "detect_anomaly",
        "set_detect_anomaly",
        "checkpoint",
        "_version",
        "_base",
        "next_functions",
        "jvp",
        "jacobian",
        "hessian",
        "saved_tensors_hooks",
    ]
)
"""The names of the library that the course teaches. A lesson must introduce each name before its first use."""


def uses_nothing_later(course: Course) -> Iterator[str]:
    """No lesson uses what a later one introduces, and no word is introduced twice."""
    introduced: dict[str, Lesson] = {}
    for lesson in course:
        for word in lesson.introduces:
            if word in introduced:
                yield f"{lesson.folder.name}: introduces {word}, as {introduced[word].folder.name} does already"
            introduced.setdefault(word, lesson)
    for lesson in course:
        for path, text in texts(lesson):
            for word, by in introduced.items():
                if by.number > lesson.number and re.search(pattern(word), text):
                    yield f"{lesson.folder.name}: {path} uses {word}, which {by.folder.name} introduces"


def introduces_what_it_uses(course: Course) -> Iterator[str]:
    """A lesson introduces every part of autograd that the course uses. A course that builds on ours may skip this."""
    introduced = {word for lesson in course for word in lesson.introduces}
    for lesson in course:
        for path, code in codes(lesson):
            for name in sorted((names(code) & AUTOGRAD) - introduced):
                yield f"{lesson.folder.name}: {path} uses {name}, which no lesson introduces"


def pattern(word: str) -> str:
    """A pattern for the whole word; `inputs=` matches only as an argument, `backward` also as `.backward()`."""
    before = r"(?<![\w])" if word[0].isalnum() or word[0] == "_" else ""
    return before + re.escape(word) + ("(?!=)" if word.endswith("=") else r"(?!\w)")


def texts(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """Everything that a learner reads in a lesson, with the names of the files."""
    yield "lesson.md", lesson.prose
    for prediction in lesson.predictions:
        yield "lesson.md", f"{prediction.ask} {prediction.hint} {prediction.because}"
    yield "hints.md", "\n".join(lesson.exercise.hints)
    yield from ((path.name, path.read_text(encoding="utf-8")) for path in _files(lesson))


def codes(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """All the Python of a lesson."""
    for block in re.findall(r"^```python\n(.*?)^```$", lesson.prose, re.MULTILINE | re.DOTALL):
        yield "lesson.md", block
    yield from ((path.name, path.read_text(encoding="utf-8")) for path in _files(lesson))


def names(code: str) -> set[str]:
    """The attributes, imports and keyword arguments (with and without their `=`) in a piece of Python."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword):
            found |= {f"{node.arg}", f"{node.arg}="}
        elif isinstance(node, ast.alias):
            found.add(node.name.rpartition(".")[2])
    return found


def _files(lesson: Lesson) -> list[Path]:
    exercise, wrong = lesson.exercise, lesson.wrong_engine
    programs = [lesson.program] if wrong is None else [lesson.program, wrong.program]
    return [*dict.fromkeys(programs), exercise.path, exercise.solution, *(one.path for one in exercise.right_answers)]
