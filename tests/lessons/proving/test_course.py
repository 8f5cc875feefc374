"""The course: every proof holds for every lesson."""

import pytest

from lessons.proving.evidence import Evidence
from lessons.proving.proofs import COURSE_PROOFS, PROOFS, failures
from lessons.proving.vocabulary import introduces_what_it_uses
from tests.support.course import COURSE
from tests.support.recordings.recorded_once import record_program_once
from tests.support.shared_process import shared_process


@pytest.fixture
def quick(monkeypatch):
    """Record each program once for all tests, and run the files of a lesson in one process, unless one ends it."""
    for module in ("evidence", "proofs"):
        monkeypatch.setattr(f"lessons.proving.{module}.record_program", record_program_once)
    with shared_process() as process:
        monkeypatch.setattr("lessons.checking.observe.CheckingProcess", process)
        yield


@pytest.mark.usefixtures("quick")
@pytest.mark.sampled(13)
@pytest.mark.parametrize("lesson", COURSE, ids=[lesson.folder.name for lesson in COURSE])
def test_every_proof_holds(lesson):
    """One test for each lesson, so that its evidence is computed once even if several processes share the tests."""
    evidence = Evidence(lesson, COURSE)
    found = {proof.__doc__: failures(proof, evidence) for proof in PROOFS}
    assert {claim: wrong for claim, wrong in found.items() if wrong} == {}


OF_THE_COURSE = (*COURSE_PROOFS, introduces_what_it_uses)


@pytest.mark.parametrize("proof", OF_THE_COURSE, ids=[proof.__name__ for proof in OF_THE_COURSE])
def test_every_course_proof_holds(proof):
    assert list(proof(COURSE)) == [], proof.__doc__


def test_the_course_is_complete():
    assert len(COURSE) == 26
    assert [lesson.folder.name[:2] for lesson in COURSE] == [f"{number:02}" for number in range(1, 27)]
    assert all(lesson.needs for lesson in COURSE.lessons[1:])
    assert all(lesson.introduces for lesson in COURSE)
    assert all(prediction.hint for lesson in COURSE for prediction in lesson.predictions)
