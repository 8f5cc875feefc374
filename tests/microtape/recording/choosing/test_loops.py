"""`with record(until=...)` around a loop: what it keeps, writes and says, and that the program goes on."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microtape as mt
from microtape import load, record
from microtape.errors import RecordingError
from microtape.tape.watch import watch


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(passes: int = 8, *, until_nan: int | None = None) -> Any:
    """Passes of plain gradient descent on w²; the logarithm of a negative number in pass `until_nan`."""
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    for number in range(1, passes + 1):
        w.grad = None
        sign = -1.0 if number == until_nan else 1.0
        loss = ((w * sign).log() + w * w).sum() if until_nan else (w * w).sum()
        loss.backward()
        with mt.no_grad():
            w -= (0.01 if until_nan else 0.1) * (w.grad if np.isfinite(w.grad.numpy()).all() else 0 * w)
    return w


def numbers(recording: Any) -> list[int]:
    return [one.index + 1 for one in recording.passes]


# until


def test_the_pass_where_it_happens_is_written_at_once_and_the_program_goes_on(
    there: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    with record(until="nan", save="nan.tape") as loop:
        for number in range(1, 6):
            assert os.path.exists("nan.tape") == (number > 3)
            (w * (1.0 if number != 3 else -1.0)).log().sum().backward()
        assert w.grad is not None
    assert numbers(load("nan.tape")) == numbers(loop.recording) == [3]
    assert capfd.readouterr() == ("", "microtape: nan in pass 3: written to nan.tape; the program goes on unrecorded\n")


def test_after_the_pass_was_found_nothing_watches(there: Path) -> None:
    with record(until="grad.max() > 3", save="large.tape"):
        w = mt.tensor(2.0, requires_grad=True)
        (w * w).backward()
        assert watch.watcher is None
        w.grad = None
        (w * w * w).backward()
    assert [one.index for one in load("large.tape").passes] == [0]


def test_a_pass_that_fails_is_written_before_the_program_fails(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loss = (mt.tensor(2.0, requires_grad=True) ** 2).exp()
    with record(until="error", save="error.tape"):
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        assert numbers(load("error.tape")) == [2]
    assert load("error.tape").passes[0].has_failed
    assert capfd.readouterr().err.startswith("microtape: error in pass 2: written to error.tape")


def test_an_exception_between_passes_is_written_with_what_led_to_it(
    there: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        with record(until="error", save="error.tape"):
            w = mt.tensor([1.0, 2.0], requires_grad=True)
            (w * 2).sum().backward()
            (w * 3) @ mt.tensor([1.0, 2.0, 3.0])

    with pytest.raises(RuntimeError):
        fail()
    recording = load("error.tape")
    assert recording.error is not None
    assert "mul" in [node.op for node in recording.nodes]
    assert "after 1 pass: written to error.tape" in capfd.readouterr().err


def test_what_never_happens_is_not_written(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with record(until="nan", save="nan.tape"):
        train(4)
    assert os.listdir() == []
    assert (
        capfd.readouterr().err
        == "microtape: the loop computed no NaN in its 4 passes: nothing is written to nan.tape\n"
    )


def test_a_long_loop_does_not_grow(there: Path) -> None:
    with record(until="nan") as loop:
        sizes = []
        for _ in range(6):
            train(10)
            sizes.append(len(loop.recording.nodes))
    assert len(set(sizes[1:])) == 1


def test_passes_that_share_a_graph_are_kept_with_the_one_that_is_found(there: Path) -> None:
    with record(until="grad > 10", save="large.tape"):
        w = mt.tensor(2.0, requires_grad=True)
        loss = w * w
        for number in range(1, 5):
            loss.backward(mt.tensor(float(number)), retain_graph=True)
    assert numbers(load("large.tape")) == [1, 2, 3]


def test_it_works_in_a_function_and_twice(there: Path) -> None:
    def run(path: str, nan: int) -> None:
        with record(until="nan", save=path):
            train(5, until_nan=nan)

    run("a.tape", 2)
    run("b.tape", 4)
    assert numbers(load("a.tape")) == [2]
    assert numbers(load("b.tape")) == [4]


# passes


def test_passes_by_their_numbers(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with record(passes="3-5", save="some.tape"):
        train()
    assert numbers(load("some.tape")) == [3, 4, 5]
    assert capfd.readouterr().err == "microtape: pass 5: written to some.tape; the program goes on unrecorded\n"


def test_a_loop_that_ends_too_early_says_so(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with record(passes="3-50", save="some.tape"):
        train(4)
    assert numbers(load("some.tape")) == [3, 4]
    assert capfd.readouterr().err == "microtape: the loop ended after 4 passes: written to some.tape\n"


def test_nothing_watches_the_operations_before_the_first_wanted_pass(there: Path) -> None:
    with record(passes="3") as loop:
        train(2)
        assert loop.recording.nodes == ()
        train(3)
    assert numbers(loop.recording) == [3]
    assert [node.op for node in loop.recording.nodes] == ["accumulate", "mul", "sum"]


def test_a_pass_inside_of_a_function_may_be_the_last_that_is_recorded(there: Path) -> None:
    traced = []

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with mt.enable_grad():
                y = x.detach().requires_grad_()
                (y * y).sum().backward()
            traced.append(sys.gettrace())
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    before = sys.gettrace()
    with record(passes="1", save="inner.tape"):
        Inner.apply(mt.tensor([1.0, 2.0], requires_grad=True)).sum().backward()
    assert traced == [before] == [sys.gettrace()]
    assert numbers(load("inner.tape")) == [1]


# every


def test_a_course_has_the_sizes_of_parameter_gradient_and_update(there: Path) -> None:
    with record(every=2, save="course.tape"):
        train(5)
    recording = load("course.tape")
    assert [one.pass_ + 1 for one in recording.courses] == [2, 4]
    assert numbers(recording) == [4]
    (first,), (second,) = (one.parameters for one in recording.courses)
    before = np.linalg.norm(0.8 * np.array([1.0, 2.0]))
    assert (first.name, first.shape) == ("w", (2,))
    assert first.weight is not None
    assert first.gradient is not None
    assert first.weight.norm == pytest.approx(before)
    assert first.gradient.norm == pytest.approx(2 * before)
    assert first.change == pytest.approx(0.2 * before)
    assert [first.ratio, second.ratio] == pytest.approx([0.2, 0.2])
    assert float(recording.courses[0].loss) == pytest.approx(before**2)  # type: ignore[arg-type]


@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_the_course_of_each_nth_pass_is_that_of_all_passes(there: Path, every: int) -> None:
    with record(every=1) as all_of_them:
        train(14)
    with record(every=every) as some:
        train(14)
    assert repr(some.recording.courses) == repr(all_of_them.recording.courses[every - 1 :: every])
    assert len(some.recording.courses) == 14 // every


def test_the_course_goes_with_the_pass_that_is_found(there: Path) -> None:
    with record(every=2, until="nan", save="both.tape"):
        train(9, until_nan=7)
    recording = load("both.tape")
    assert [one.pass_ + 1 for one in recording.courses] == [2, 4, 6]
    assert numbers(recording) == [7]
    assert all(one.parameters[0].ratio for one in recording.courses)


def test_a_course_is_written_while_the_loop_goes_on(there: Path) -> None:
    with record(every=2, save="course.tape"):
        train(5)
        assert len(load("course.tape").courses) == 2


def test_a_parameter_without_gradient_and_one_that_is_not_finite(there: Path) -> None:
    with record(every=1) as loop:
        w = mt.tensor([1.0, float("inf")], requires_grad=True)
        (w * w).sum().backward()
    (parameter,) = loop.recording.courses[0].parameters
    assert parameter.weight is not None
    assert (parameter.weight.norm, parameter.weight.infs) == (None, 1)
    assert (parameter.change, parameter.ratio) == (None, None)


# Mistakes, and faults of ours


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"until": "grad >"}, "say nan, error or a condition"),
        ({"passes": "0"}, "give a number from 1"),
        ({"passes": "2", "until": "nan"}, "leave out until and every"),
        ({"every": 0}, "give a number of passes from 1"),
        ({"until": 3}, r'record\(until=3\): give a text, such as "nan"'),
        ({"passes": (3, 5)}, r'record\(passes=\(3, 5\)\): give a text, such as "3-5"'),
        ({"thread": 1}, 'give a text, such as "main"'),
        ({"save": ""}, r'record\(save=\'\'\): give the name of a file, such as "nan.tape"'),
        ({"save": 3}, "give the name of a file"),
        ({"until": "nan", "save": "nowhere/nan.tape"}, "there is no folder"),
    ],
)
def test_a_mistake_is_named_before_the_loop_runs(there: Path, asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(RecordingError, match=problem):
        record(**asked)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda loss: record(untill="nan"), "record() has no argument 'untill': around a loop it takes until, passes,"),
        (lambda loss: record(loss.backward()), "record() takes a function, as in record(loss.backward), not None"),
        (lambda loss: record(loss), "not Tensor"),
        (lambda loss: record(loss.backward, save="a.tape"), "record() cannot call Tensor.backward: got an unexpected"),
    ],
)
def test_a_call_that_cannot_be_made_is_no_error_of_the_program(call: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=re.escape(problem)):
        call((mt.tensor([1.0], requires_grad=True) * 2).sum())


def test_the_recorder_of_a_loop_is_saved_in_place_of_its_recording(there: Path) -> None:
    with record(until="nan") as loop:
        train(4, until_nan=2)
    mt.save(loop, "kept.tape")
    assert repr(mt.load("kept.tape")) == repr(loop.recording)


def test_a_file_that_cannot_be_written_does_not_stop_the_loop(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (there / "folder").mkdir()
    with record(until="nan", save="folder/nan.tape"):
        (there / "folder").rmdir()
        w = train(4, until_nan=2)
    assert w.grad is not None
    assert "cannot be written" in capfd.readouterr().err


def test_a_fault_of_ours_does_not_stop_the_loop(
    there: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*details: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("microtape.recording.choosing.keeper.Keeper.ended", broken)
    with record(until="nan", save="nan.tape"):
        train(4, until_nan=2)
    error = capfd.readouterr().err
    assert error == "microtape: the loop is not recorded any more, by a fault of microtape: ValueError: broken\n"


def test_each_of_several_processes_writes_its_own_file(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with record(until="nan", save="nan.tape"):
        train(4, until_nan=2)
    assert os.listdir() == ["nan.rank3.tape"]
