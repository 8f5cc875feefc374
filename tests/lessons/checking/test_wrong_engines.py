"""Wrong engines: each is the real engine with one fault, which is removed afterwards."""

import numpy as np
import pytest

import microtape as mt
from lessons.checking.compare_recordings import first_different_step, first_wrong_step, reply_to_claim
from lessons.checking.record import record_check, record_program
from lessons.checking.wrong_engines import FAULTS, injected
from lessons.model import fault_names
from tests.support.course import COURSE
from tests.support.recordings.recorded_once import record_program_once

WRONG = [lesson for lesson in COURSE if lesson.wrong_engine]


def leaf(value):
    return mt.tensor(value, requires_grad=True)


def fan_out():
    x = leaf(3.0)
    u = x * 2
    (u * u).backward()
    return x.grad


def shared():
    x = leaf(1.0)
    a = x * 3
    b = a + 1
    (a * (b * b)).backward()
    return x.grad


def stretched():
    row = leaf([1.0, 2.0])
    (row + mt.ones(3, 2)).sum().backward()
    return row.grad


def twice():
    w = leaf(2.0)
    (w * 4).backward()
    (w * 6).backward()
    return w.grad


def written_to():
    x = leaf(0.0)
    y = x.exp()
    y += 1
    y.backward()
    return x.grad


@pytest.mark.parametrize(
    ("fault", "program", "wrong", "right"),
    [
        ("overwrite", fan_out, 12.0, 24.0),
        ("no_reverse_order", shared, 48.0, 120.0),
        ("no_unbroadcast", stretched, np.ones((3, 2)), [3.0, 3.0]),
        ("overwrite_grad", twice, 6.0, 10.0),
    ],
)
def test_a_fault_gives_a_wrong_gradient_until_it_is_removed(fault, program, wrong, right):
    with injected(fault):
        np.testing.assert_allclose(program().numpy(), wrong)
    np.testing.assert_allclose(program().numpy(), right)


def test_without_a_version_check_the_overwritten_tensor_is_used():
    with injected("no_version_check"):
        assert written_to().item() == 2.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        written_to()


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_in_the_program_leaves_the_engine_as_it_was(fault):
    before = [getattr(one.owner, one.attribute) for one in FAULTS[fault]]
    with pytest.raises(ZeroDivisionError), injected(fault):
        raise ZeroDivisionError
    after = [getattr(one.owner, one.attribute) for one in FAULTS[fault]]
    assert all(one is other for one, other in zip(before, after, strict=True))


def test_on_a_chain_the_overwriting_engine_is_right(tmp_path):
    program = tmp_path / "chain.py"
    program.write_text("import microtape as mt\nx = mt.tensor(3.0, requires_grad=True)\n(x * 2).sin().backward()\n")
    assert first_wrong_step(record_program(program, fault="overwrite"), record_program(program)) is None


def recorded(wrong):
    """The recordings of a program on the wrong engine, and on the right one."""
    return (
        record_program_once(wrong.program, wrong.passes, fault=wrong.fault),
        record_program_once(wrong.program, wrong.passes),
    )


@pytest.fixture(params=WRONG, ids=[lesson.name for lesson in WRONG])
def recordings(request):
    wrong = request.param.wrong_engine
    return recorded(wrong)


@pytest.mark.sampled(3)
def test_the_first_wrong_step_is_the_only_right_answer(recordings):
    found = first_wrong_step(*recordings)
    places = [(i, j) for i, one in enumerate(recordings[0].passes) for j in range(len(one.steps))]
    for place in places:
        said = reply_to_claim(*recordings, *place)
        assert said.right == (place == found[:2])
        if not said.right:
            assert ("Go on." in said.text) == (place < found[:2])
            assert ("Go back." in said.text) == (place > found[:2])
    assert places.index(found[:2]) > 0, "something is right before it goes wrong"


def test_every_fault_has_a_name_in_the_model():
    assert list(FAULTS) == list(fault_names.FAULTS)


def test_five_of_the_lessons_have_a_wrong_engine():
    assert {lesson.wrong_engine.fault for lesson in WRONG} == set(FAULTS)


class TestTheFirstDifferentStep:
    def find(self, name, lesson="first_function", check="gradients"):
        """The first step at which a wrong answer of a lesson differs from its solution."""
        exercise = COURSE.find(lesson).exercise
        (one,) = (one for one in exercise.checks if one.name == check)
        (wrong,) = (one for one in exercise.wrong_answers if one.name == name)
        expected = record_check(exercise, one, exercise.solution)
        return first_different_step(record_check(exercise, one, wrong.path), expected)

    @pytest.mark.slow
    def test_a_gradient_that_is_not_summed_or_not_given(self):
        lesson = COURSE.find("first_function").exercise
        names = [wrong.name for wrong in lesson.wrong_answers]
        found = {name: self.find(name) for name in names}
        assert any(one is not None and one.step == 0 for one in found.values())
        assert any("the solution's" in one.what for one in found.values() if one)

    def test_the_solution_does_not_differ_from_itself(self):
        exercise = COURSE.find("first_function").exercise
        one = record_check(exercise, exercise.checks[2], exercise.solution)
        assert first_different_step(one, one) is None

    def test_a_check_without_backward_has_no_recording(self):
        exercise = COURSE.find("tape_of_numbers").exercise
        assert record_check(exercise, exercise.checks[0], exercise.solution) is None


@pytest.mark.parametrize("lesson", WRONG, ids=lambda lesson: lesson.name)
def test_the_tensors_have_the_names_of_the_program_alone(lesson):
    faulty, right = recorded(lesson.wrong_engine)
    assert [one.names for one in faulty.tensors] == [one.names for one in right.tensors]
