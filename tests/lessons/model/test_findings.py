"""A kind of finding has a lesson if it is what the lesson is about; every kind that a lesson names exists."""

from __future__ import annotations

from typing import get_args

import pytest

from lessons.model.findings import lesson_on, lesson_on_error
from lessons.model.header import read_header
from lessons.model.load import COURSE, lesson_files, load_course
from microtape.recording.findings.finding import FindingKind

NAMED = [kind for path in lesson_files(COURSE) for kind in read_header(path, path.read_text())[0].findings]


def test_the_kinds_that_lessons_name_exist_and_have_one_lesson_each() -> None:
    assert set(NAMED) <= set(get_args(FindingKind))
    assert len(set(NAMED)) == len(NAMED) > 10


@pytest.mark.parametrize(("kind", "name"), [("overwritten", "in_place"), ("nan", "nan"), ("freed", "freed_graphs")])
def test_a_kind_has_the_lesson_that_is_about_it(kind: str, name: str) -> None:
    lesson = lesson_on(kind)
    assert lesson is not None
    assert lesson.name == name
    assert load_course().lessons[lesson.number - 1].name == name


def test_what_no_lesson_is_about_has_none() -> None:
    assert lesson_on("large update") is None


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("a variable needed for gradient computation has been modified by an inplace operation: [...]", "in_place"),
        ("Trying to backward through the graph a second time (or directly access saved tensors ...)", "freed_graphs"),
        ("A view of a leaf Variable that requires grad is being used in an in-place operation.", "views"),
        ("a leaf Variable that requires grad is being used in an in-place operation.", "in_place"),
    ],
)  # fmt: skip
def test_an_error_has_the_lesson_that_explains_it(message: str, name: str) -> None:
    lesson = lesson_on_error(message)
    assert lesson is not None
    assert lesson.name == name


def test_an_error_of_the_program_itself_has_none() -> None:
    assert lesson_on_error("list index out of range") is None
