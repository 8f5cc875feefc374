"""A solved exercise runs once more with PyTorch in the engine's place."""

import threading

import pytest

from lessons import Lesson, load_course
from lessons.checking import in_pytorch
from lessons.checking.in_pytorch import can_run_in_pytorch, run_in_pytorch, torch_name
from lessons.checking.verdict import check
from lessons.checking.verdict_report import Said
from lessons.checking.warm_checker import WarmChecker
from tests.support.course import COURSE
from tests.support.lesson_folder import write_lesson
from tests.support.shared_process import shared_process

ABOUT_THE_ENGINE = [lesson for lesson in COURSE if "import microtape" in lesson.exercise.path.read_text()]

EXERCISE = "import microtape as mt\n\n\ndef slope(x):\n    raise NotImplementedError\n"
SOLUTION = """\
import microtape as mt


def slope(x):
    x = mt.tensor(x, requires_grad=True)
    (x * x).sum().backward()
    return x.grad
"""
CHECK = '''\
def one(exercise):
    """slope of one number"""
    return exercise.slope(3.0)


def two(exercise):
    """slope of two numbers"""
    return exercise.slope([1.0, 2.0])
'''
NUMPY_ONLY = SOLUTION.replace("return x.grad", "return mt.tensor(x.grad.array.tolist())")


@pytest.fixture
def exercise(tmp_path):
    course = write_lesson(tmp_path, exercise=EXERCISE, solution=SOLUTION, check=CHECK)
    return next(iter(load_course(course))).exercise


@pytest.fixture
def said(exercise, tmp_path):
    """A function from a file's text to the line about it."""

    def said(text: str) -> Said | None:
        (tmp_path / "mine.py").write_text(text)
        return run_in_pytorch(exercise, tmp_path / "mine.py")

    return said


def test_exercises_without_the_engine_are_left_out_and_so_are_all_without_pytorch(monkeypatch):
    own_engine = next(lesson for lesson in COURSE if lesson.name == "fan_out")
    assert not can_run_in_pytorch(own_engine.exercise)
    monkeypatch.setattr(in_pytorch, "torch_name", lambda: None)
    assert not any(can_run_in_pytorch(lesson.exercise) for lesson in COURSE)


@pytest.mark.parity
def test_a_file_that_does_the_same_there(said):
    assert torch_name() == "PyTorch 2.13"
    assert said(SOLUTION) == Said("Also passes in PyTorch 2.13.", "good")


@pytest.mark.parity
def test_every_form_of_import_gets_torch(said):
    text = SOLUTION.replace("import microtape as mt", "import microtape.nn.functional\nfrom microtape import tensor")
    assert said(text.replace("mt.tensor", "tensor")) == Said("Also passes in PyTorch 2.13.", "good")
    assert said("import microtape\nassert microtape.__name__ == 'torch'\n" + SOLUTION).role == "good"


@pytest.mark.parity
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NUMPY_ONLY, "this differs: slope of one number: line 7: AttributeError: 'Tensor' object has no attribute "
                     "'array'   (return mt.tensor(x.grad.array.tolist()))"),
        ("import microtape.dialects\n" + SOLUTION, "your file cannot be run: line 1: ModuleNotFoundError: torch has no "
                                                   "module microtape.dialects: it is microtape's own   (import "
                                                   "microtape.dialects)"),
        (SOLUTION.replace("return x.grad", "return x.grad if mt.__name__ == 'microtape' else x.grad * 2"),
         "this differs: slope of one number: your code gave tensor 12, expected tensor 6"),
    ],
)  # fmt: skip
def test_what_differs_there_is_said(said, text, message):
    assert said(text) == Said(f"In PyTorch 2.13, {message}", "strong")


@pytest.mark.parity
def test_an_exercise_whose_solution_needs_microtape_has_nothing_to_say(tmp_path):
    course = write_lesson(tmp_path, exercise=EXERCISE, solution=NUMPY_ONLY, check=CHECK)
    exercise = next(iter(load_course(course))).exercise
    assert check(exercise, exercise.solution).passed
    assert run_in_pytorch(exercise, exercise.solution) is None


@pytest.mark.parity
def test_it_can_be_stopped(exercise):
    checker = WarmChecker(exercise)
    said: list[Said | None] = []
    thread = threading.Thread(target=lambda: said.append(checker.in_pytorch(exercise.solution)))
    thread.start()
    while thread.is_alive():
        checker.stop()
    checker.close()
    assert said == [None]


@pytest.fixture(scope="module")
def torch_process():
    """The answers of all lessons run in one process, because importing torch takes longer than they do."""
    with shared_process("torch") as process:
        yield process


@pytest.mark.parity
@pytest.mark.slow
@pytest.mark.parametrize("lesson", ABOUT_THE_ENGINE, ids=[lesson.name for lesson in ABOUT_THE_ENGINE])
def test_every_right_answer_of_the_course_passes_there(lesson: Lesson, torch_process, monkeypatch):
    monkeypatch.setattr(in_pytorch, "CheckingProcess", lambda engine: torch_process())
    answers = [right.path for right in lesson.exercise.right_answers]
    for file in answers or [lesson.exercise.solution]:  # which is run before each answer, and compared with it
        assert run_in_pytorch(lesson.exercise, file) == Said("Also passes in PyTorch 2.13.", "good"), file
