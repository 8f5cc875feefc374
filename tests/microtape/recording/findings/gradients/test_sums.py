"""Wrong sums in what an engine of the user's own has written; a right engine is told nothing, however it is built."""

import numpy as np
import pytest

import microtape as mt
from lessons.checking.divergence import own_engine
from lessons.model.findings import lesson_on
from microtape.recording import Recording, RecordingWriter
from microtape.recording.findings.find import findings
from tests.support.course import COURSE

CAPSTONE = COURSE.lessons[-1].exercise


def written(*calls):
    """The recording of z = x · y + x at x = 3, y = 2, and these calls of its backward."""
    writer = RecordingWriter("my engine")
    writer.leaf("x", 3.0)
    writer.leaf("y", 2.0)
    writer.operation("product", "mul", ("x", "y"), 6.0)
    writer.operation("z", "add", ("product", "x"), 9.0)
    for call, *rest in calls:
        getattr(writer, call)(*rest)
    return writer.recording


def wrong(recording):
    return [one for one in findings(recording) if one.kind == "wrong sum"]


ROOT = [("begin", "z", 1.0), ("run", "z", 1.0), ("deliver", "product", 1.0, 1.0), ("deliver", "x", 1.0, 1.0)]
REST = [("run", "product", 1.0), ("deliver", "x", 2.0, 3.0), ("deliver", "y", 3.0, 3.0)]
KEPT = [("keep", "x", 3.0), ("keep", "y", 3.0)]
RIGHT = [*ROOT, *REST, *KEPT]


class TestARightEngine:
    def test_is_told_nothing(self):
        assert findings(written(*RIGHT)) == ()

    def test_may_add_to_grad_at_each_delivery(self):
        calls = [*ROOT, ("keep", "x", 1.0), *REST[:2], ("keep", "x", 3.0), ("run", "product", 1.0), REST[2], KEPT[1]]
        assert wrong(written(*calls)) == []

    def test_may_run_a_row_once_for_each_path(self):
        writer = RecordingWriter()
        writer.leaf("x", 3.0)
        writer.operation("a", "mul", ("x", 2.0), 6.0)
        writer.operation("z", "mul", ("a", "a"), 36.0)
        writer.begin("z")
        writer.run("z", 1.0)
        for total in (12.0, 24.0):
            writer.run("z", 1.0)
            writer.deliver("a", 6.0, 6.0)
            writer.run("a", 6.0)
            writer.deliver("x", 12.0, total)
        writer.keep("x", 24.0)
        assert wrong(writer.recording) == []

    def test_may_round(self):
        rounded = [("deliver", "x", np.float32(0.1), np.float32(1.1)), ("deliver", "y", 3.0, 3.0)]
        kept = [("keep", "x", np.float32(1.1)), ("keep", "y", 3.0)]
        assert wrong(written(*ROOT, ("run", "product", 1.0), *rounded, *kept)) == []

    def test_may_overflow(self):
        calls = [*ROOT, ("run", "product", 1.0), ("deliver", "x", np.inf, np.inf), ("deliver", "y", np.nan, np.nan)]
        assert wrong(written(*calls)) == []

    def test_may_go_on_in_a_second_pass(self):
        again = [*ROOT, *REST, ("keep", "x", 6.0), ("keep", "y", 6.0)]
        assert wrong(written(*RIGHT, *again)) == []

    @pytest.mark.parametrize("answer", [None, *CAPSTONE.right_answers], ids=lambda one: one.name if one else "solution")
    def test_of_the_capstone_is_told_nothing(self, answer, tmp_path):
        assert wrong(of_the_capstone(answer, tmp_path)) == []


class TestAWrongEngine:
    def only(self, *calls):
        (one,) = wrong(written(*calls))
        assert one.severity == "error"
        return one

    def test_overwrites(self):
        found = self.only(*ROOT, REST[0], ("deliver", "x", 2.0, 2.0), REST[2], ("keep", "x", 2.0), KEPT[1])
        assert found.headline == "The gradient of x was 1, 2 came, and now it is 2, not 3"
        assert (found.pass_, found.step) == (0, 1)
        assert "keep a sum" in found.remedy
        assert lesson_on(found.kind).name == "fan_out"

    def test_takes_half_of_what_comes_first(self):
        found = self.only(*ROOT[:3], ("deliver", "x", 1.0, 0.5))
        assert found.headline == "The gradient of x was nothing, 1 came, and now it is 0.5, not 1"

    def test_runs_a_row_before_all_has_arrived(self):
        found = self.only(ROOT[0], ("run", "product", 0.0), *ROOT[1:], *KEPT[:1])
        assert found.headline == "product runs too early, with 0: 1 arrives later, and is lost"
        assert (found.pass_, found.step) == (0, 0)

    def test_takes_something_else_than_what_arrived(self):
        found = self.only(*ROOT, ("run", "product", 5.0))
        assert found.headline == "The row of product takes 5, but 1 has arrived"

    def test_overwrites_grad_in_the_second_pass(self):
        found = self.only(*RIGHT, *RIGHT)
        assert found.headline == "x.grad was 3, 3 came, and now it is 3, not 6"
        assert (found.pass_, found.step) == (1, 2)
        assert all(one.kind != "accumulated" for one in findings(written(*RIGHT, *RIGHT)))

    def test_is_found_in_arrays_and_in_a_saved_file(self, tmp_path):
        writer = RecordingWriter()
        writer.leaf("x", np.ones(3))
        writer.operation("z", "add", ("x", "x"), np.full(3, 2.0))
        writer.begin("z", np.ones(3))
        writer.run("z", np.ones(3))
        writer.deliver("x", np.ones(3), np.ones(3))
        writer.deliver("x", np.ones(3), np.ones(3))
        writer.save(tmp_path / "own.tape")
        (found,) = wrong(Recording.load(tmp_path / "own.tape"))
        assert found.headline == "What arrives at x is not added: its gradient is [1, 1, 1], not [2, 2, 2]"

    @pytest.mark.parametrize("name", ["overwrites", "grad_overwritten", "told_before_adding"])
    def test_of_the_capstone_is_told(self, name, tmp_path):
        answer = next(one for one in CAPSTONE.wrong_answers if one.name == name)
        assert len(wrong(of_the_capstone(answer, tmp_path))) == 1


def test_a_recording_of_our_own_engine_is_not_looked_at():
    x = mt.tensor(3.0, requires_grad=True)
    with mt.record() as recorder:
        (x * x).backward()
    assert "own_engine" not in recorder.recording.options


def test_a_file_may_hold_anything():
    texts = np.array(["a", "b"])
    recording = written(*ROOT[:2], ("deliver", "x", texts, texts), ("deliver", "product", np.ones(3), 1.0))
    assert wrong(recording) == []


def of_the_capstone(answer, tmp_path):
    file = tmp_path / "capstone.py"
    file.write_text(CAPSTONE.text(answer.path if answer is not None else CAPSTONE.solution), encoding="utf-8")
    return own_engine(CAPSTONE, file).recording
