"""The course of a parameter has the numbers that numpy gives, also where a recording has only a summary of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.choosing.courses import course_of


def test_a_summary_of_a_large_parameter_has_its_norm(tmp_path: Path) -> None:
    w = mt.nn.Parameter(mt.tensor(np.random.default_rng(0).standard_normal(100_000)))
    recording = record(lambda: (w * w).sum().backward())
    mt.save(recording, tmp_path / "large.tape")
    whole, summarized = (course_of(one, 0) for one in (recording, mt.load(tmp_path / "large.tape")))
    assert whole is not None
    assert summarized is not None
    (exact,), (known,) = whole.parameters, summarized.parameters
    assert exact.weight is not None
    assert known.weight is not None
    assert exact.weight.norm == pytest.approx(np.linalg.norm(w.detach().numpy()))
    assert known.weight.norm == pytest.approx(exact.weight.norm, rel=1e-6)
    assert known.gradient is not None
    assert known.gradient.norm == pytest.approx(2 * exact.weight.norm, rel=1e-6)


def test_a_large_parameter_with_nan_has_no_norm(tmp_path: Path) -> None:
    numbers = np.zeros(100_000)
    numbers[7] = np.nan
    w = mt.nn.Parameter(mt.tensor(numbers))
    mt.save(record(lambda: (w * w).sum().backward()), tmp_path / "nan.tape")
    course = course_of(mt.load(tmp_path / "nan.tape"), 0)
    assert course is not None
    (known,) = course.parameters
    assert known.weight is not None
    assert (known.weight.norm, known.weight.nans) == (None, 1)


def test_a_gradient_that_was_asked_for_is_in_the_course() -> None:
    w = mt.tensor([3.0, 4.0], requires_grad=True)
    course = course_of(record(lambda: mt.autograd.grad((w * w).sum(), w)), 0)
    assert course is not None
    (known,) = course.parameters
    assert known.weight is not None
    assert known.gradient is not None
    assert (known.weight.norm, known.gradient.norm) == (5.0, 10.0)


def test_a_pass_that_is_not_recorded_has_no_course() -> None:
    w = mt.tensor(1.0, requires_grad=True)
    assert course_of(record(lambda: (w * w).backward()), 1) is None
