"""The capstone's exercise is an engine that writes its own recording. The stepper opens where that goes wrong."""

import pytest

from lessons.checking.divergence import find_divergence, own_engine
from lessons.checking.in_pytorch import can_run_in_pytorch
from lessons.checking.verdict import check
from tests.support.course import COURSE

CAPSTONE = COURSE.lessons[-1].exercise
WRONG = {answer.name: CAPSTONE.text(answer.path) for answer in CAPSTONE.wrong_answers}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "capstone.py"


def test_the_solution_writes_two_passes_of_all_its_rows(file):
    file.write_text(CAPSTONE.text(CAPSTONE.solution), encoding="utf-8")
    found = own_engine(CAPSTONE, file)
    assert [len(one.steps) for one in found.recording.passes] == [7, 7]
    assert [found.recording.label(step.node) for step in found.recording.passes[0].steps[:3]] == [
        "loss", "squares", "shifted",
    ]  # fmt: skip
    assert found.recording.title == "capstone.py"


@pytest.mark.parametrize(
    ("name", "step", "said"),
    [
        ("overwrites", 1, "`shifted` had already received"),
        ("not_summed", 2, "`shifted` sends"),
        ("grad_overwritten", 4, "on the real engine it is"),
    ],
)
def test_a_wrong_engine_is_opened_at_its_first_wrong_step(file, name, step, said):
    file.write_text(WRONG[name], encoding="utf-8")
    found = find_divergence(CAPSTONE, check(CAPSTONE, file), file)
    assert found.step.step == step
    assert said in found.in_words()
    assert found.recording.passes[found.step.pass_index].steps[step]


def test_an_engine_that_does_not_run_has_no_recording(file):
    file.write_text(CAPSTONE.text(CAPSTONE.path), encoding="utf-8")
    found = own_engine(CAPSTONE, file)
    assert found is None or not found.recording.passes


@pytest.mark.parity
def test_it_is_compared_with_pytorch_as_well():
    assert can_run_in_pytorch(CAPSTONE)
