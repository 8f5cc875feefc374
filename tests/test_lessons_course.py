"""The course: what every lesson claims is true, and every one of its exercises is proven."""

import functools

import pytest

from lessons.evidence import Evidence
from lessons.load import load_course
from lessons.proofs import PROOFS, failures

COURSE = load_course()


@functools.cache
def evidence(lesson):
    return Evidence(lesson, COURSE)


@pytest.mark.parametrize("proof", PROOFS, ids=[proof.__name__ for proof in PROOFS])
@pytest.mark.parametrize("lesson", COURSE, ids=[lesson.folder.name for lesson in COURSE])
def test_it_holds(lesson, proof):
    assert failures(proof, evidence(lesson)) == [], proof.__doc__
