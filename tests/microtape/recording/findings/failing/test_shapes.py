"""Gradients of a wrong shape in what an engine of the user's own has written; a right engine is told nothing."""

import numpy as np
import pytest

from lessons.checking.divergence import own_engine
from lessons.model.findings import lesson_on
from microtape.recording import Recording, RecordingWriter
from microtape.recording.findings.find import findings
from tests.support.course import COURSE

CAPSTONE = COURSE.lessons[-1].exercise
ONES = np.ones((4, 2))
BIAS = np.full(2, 4.0)


def written(*calls):
    """The recording of scores = table + bias, of shapes (4, 2) and (2,), and these calls after backward has begun."""
    writer = RecordingWriter("my engine")
    writer.leaf("table", ONES)
    writer.leaf("bias", np.ones(2))
    writer.operation("scores", "add", ("table", "bias"), 2 * ONES)
    writer.operation("loss", "sum", ("scores",), 16.0)
    for call in [("begin", "loss", 1.0), ("run", "loss", 1.0), ("deliver", "scores", ONES, ONES),
                 ("run", "scores", ONES), ("deliver", "table", ONES, ONES), *calls]:  # fmt: skip
        getattr(writer, call[0])(*call[1:])
    return writer.recording


def wrong(recording):
    return [one for one in findings(recording) if one.kind == "wrong shape"]


class TestARightEngine:
    def test_is_told_nothing(self):
        recording = written(("deliver", "bias", BIAS, BIAS), ("keep", "table", ONES), ("keep", "bias", BIAS))
        assert findings(recording) == ()

    def test_may_sum_when_it_stores(self):
        assert wrong(written(("deliver", "bias", ONES, ONES), ("keep", "bias", BIAS), ("keep", "table", ONES))) == []

    def test_may_send_one_number_for_many(self):
        writer = RecordingWriter()
        writer.leaf("x", np.ones(3))
        writer.operation("doubled", "mul", ("x", 2.0), np.full(3, 2.0))
        writer.operation("loss", "sum", ("doubled",), 6.0)
        for call in [("begin", "loss"), ("run", "loss", 1.0), ("deliver", "doubled", 1.0, 1.0), ("run", "doubled", 1.0),
                     ("deliver", "x", 2.0, 2.0), ("keep", "x", np.full(3, 2.0))]:  # fmt: skip
            getattr(writer, call[0])(*call[1:])
        assert wrong(writer.recording) == []

    def test_may_have_a_single_number_as_an_array(self):
        writer = RecordingWriter()
        writer.leaf("x", np.ones((1, 1)))
        writer.operation("z", "mul", ("x", 2.0), np.full((1, 1), 2.0))
        for call in [("begin", "z"), ("run", "z", 1.0), ("deliver", "x", 2.0, 2.0), ("keep", "x", np.array([2.0]))]:
            getattr(writer, call[0])(*call[1:])
        assert wrong(writer.recording) == []

    @pytest.mark.parametrize("answer", [None, *CAPSTONE.right_answers], ids=lambda one: one.name if one else "solution")
    def test_of_the_capstone_is_told_nothing(self, answer, tmp_path):
        assert wrong(of_the_capstone(answer, tmp_path)) == []


class TestAWrongEngine:
    def only(self, *calls):
        (one,) = wrong(written(*calls))
        assert one.severity == "error"
        return one

    def test_does_not_sum_what_was_stretched(self):
        found = self.only(("deliver", "bias", ONES, ONES), ("keep", "bias", ONES), ("keep", "table", ONES))
        assert found.headline == "scores sends bias a gradient that has shape 4×2, but bias has shape 2"
        assert "stretched from 2 to 4×2" in found.explanation[0]
        assert "Sum what scores sends to bias" in found.remedy
        assert (found.pass_, found.step) == (0, 1)
        assert lesson_on(found.kind).name == "broadcasting"

    def test_stops_before_anything_is_stored(self):
        assert self.only(("deliver", "bias", ONES, ONES)).step == 1

    def test_sends_a_matrix_transposed(self):
        writer = RecordingWriter()
        writer.leaf("a", np.ones((2, 3)))
        writer.leaf("b", np.ones((3, 1)))
        writer.operation("c", "matmul", ("a", "b"), np.full((2, 1), 3.0))
        for call in [("begin", "c", np.ones((2, 1))), ("run", "c", np.ones((2, 1))),
                     ("deliver", "a", np.ones((3, 2)), np.ones((3, 2)))]:  # fmt: skip
            getattr(writer, call[0])(*call[1:])
        (found,) = wrong(writer.recording)
        assert found.headline == "c sends a a gradient that has shape 3×2, but a has shape 2×3"
        assert "transposed" in found.explanation[0]
        assert "which one is transposed" in found.remedy

    def test_sends_what_has_nothing_to_do_with_it(self):
        found = self.only(("deliver", "bias", np.ones(5), np.ones(5)))
        assert found.headline == "scores sends bias a gradient that has shape 5, but bias has shape 2"

    def test_stores_one_number_for_many(self):
        found = self.only(("deliver", "bias", 4.0, 4.0), ("keep", "bias", 4.0), ("keep", "table", ONES))
        assert found.headline == "bias.grad is a single number, but bias has shape 2"
        assert (found.pass_, found.step) == (0, 2)

    def test_is_found_in_a_saved_file(self, tmp_path):
        written(("deliver", "bias", ONES, ONES), ("keep", "bias", ONES)).save(tmp_path / "own.tape")
        assert len(wrong(Recording.load(tmp_path / "own.tape"))) == 1

    def test_of_the_capstone_is_told(self, tmp_path):
        answer = next(one for one in CAPSTONE.wrong_answers if one.name == "not_summed")
        (found,) = wrong(of_the_capstone(answer, tmp_path))
        assert found.headline == "shifted sends b a gradient that has shape 2×2, but b is a single number"
        assert found.place is not None


def of_the_capstone(answer, tmp_path):
    file = tmp_path / "capstone.py"
    file.write_text(CAPSTONE.text(answer.path if answer is not None else CAPSTONE.solution), encoding="utf-8")
    return own_engine(CAPSTONE, file).recording
