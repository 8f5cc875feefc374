"""What a finding says of programs that are written the usual wrong way: where, why, and what to do."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import Finding, findings
from tests.support.recordings.live import leaf


def told(program: Callable[[], object], kind: str) -> Finding:
    """The one finding of a kind."""
    (found,) = [one for one in findings(record(program)) if one.kind == kind]
    return found


def test_two_names_of_one_memory_are_told_where_their_difference_is_used() -> None:
    x = leaf([1.0, 2.0])

    def program() -> None:
        y = x * 2
        before = y
        y += 1
        (y - before).sum().backward()

    finding = told(program, "written through a view")
    assert finding.headline.startswith("y and before share their memory: the write at test_told.py:")
    assert "so y - before at" in finding.explanation[0]
    assert finding.explanation[0].endswith("is 0 everywhere.")
    assert finding.remedy.startswith("Keep a copy: before = y.clone()")


def test_equal_numbers_in_two_memories_are_no_finding() -> None:
    x = leaf([1.0, 2.0])

    def program() -> None:
        y = x * 2
        before = y.clone()
        before += 1
        y += 1
        (y - before).sum().backward()

    assert "written through a view" not in [one.kind for one in findings(record(program))]


def test_a_write_to_a_leaf_is_refused_with_the_line_that_writes() -> None:
    w = leaf([1.0, 2.0])

    def program() -> None:
        nonlocal w
        w -= 0.1

    finding = told(program, "refused")
    assert finding.headline.startswith("An in-place write to a leaf that requires grad, at test_told.py:")
    assert finding.explanation[0] == "w -= 0.1"
    assert finding.remedy == "Update leaves inside `with no_grad():`."


def test_an_input_that_was_not_used_is_told_with_the_way_out() -> None:
    x, unused = leaf([1.0]), leaf([1.0])
    finding = findings(record(lambda: mt.autograd.grad((x * x).sum(), unused)))[0]
    assert "allow_unused=True" in f"{finding.explanation} {finding.remedy}"


def test_a_lambda_that_returns_no_gradient_is_found_where_it_is_registered() -> None:
    x = leaf([1.0, 2.0])

    def program() -> None:
        y = x * 2
        y.register_hook(lambda gradient: gradient[:1])  # here
        y.sum().backward()

    finding = told(program, "hook failed")
    with open(__file__, encoding="utf-8") as source:
        line = next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# here"))
    assert finding.place is not None
    assert finding.place.line == line
    assert (
        finding.remedy == "Return a tensor of the gradient's shape and dtype, or None to leave the gradient as it is."
    )


@pytest.mark.parametrize(
    ("program", "why", "remedy"),
    [
        (lambda x: x.round().sum(), "round is flat everywhere", "straight-through estimator"),
        (lambda x: ((x - x.detach()) ** 2).sum(), "is zero", "If that is too good to be true"),
        (lambda x: (x * mt.zeros(2)).sum(), "is zero", "it masks everything"),
        (lambda x: (x - 9).relu().sum(), "relu is flat for all", "flat nowhere, such as leaky_relu"),
        (lambda x: (x + 200).sigmoid().sum(), "sigmoid is saturated", "Keep its input small"),
    ],
)
def test_a_gradient_of_zeros_says_which_operation_made_it_so(
    program: Callable[[mt.Tensor], mt.Tensor], why: str, remedy: str
) -> None:
    x = leaf([1.25, 2.5])
    finding = findings(record(lambda: program(x).backward()))[0]
    assert why in finding.headline
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        (lambda x: (x * 1000).exp().sum(), "Subtract the largest number first"),
        (lambda x: (x + 1).acos().sum(), "Clamp the input to a little less than the ends of the domain"),
        (lambda x: (x / 0).sum(), "Keep the divisor away from 0"),
        (lambda x: (x * math.inf).sum(), "One operand is infinite."),
        (lambda x: (x.masked_fill(x > 0, -math.inf) - x.masked_fill(x > 0, -math.inf).max()).sum(), "Two infinities"),
        (lambda x: (x.exp() * 1e30 * 1e30).sum(), "Add up logarithms instead of multiplying"),
        (lambda x: (x * 1e38 + x * 3e38).sum(), "Add up logarithms instead of multiplying"),
    ],
)
def test_what_is_not_finite_has_the_remedy_of_its_operation(
    program: Callable[[mt.Tensor], mt.Tensor], remedy: str
) -> None:
    finding = findings(record(lambda: program(leaf([1.0, 2.0])).backward()))[0]
    assert finding.remedy.startswith(remedy)


def told_of(program: Callable[[mt.Tensor], mt.Tensor]) -> Finding:
    """The first finding where this, of x = [1, 2], is what x is multiplied by."""
    x = leaf([1.0, 2.0])

    def multiplied() -> None:
        with mt.no_grad():
            scale = program(x)
        (x * scale).sum().backward()

    return findings(record(multiplied))[0]


@pytest.mark.parametrize(
    ("program", "headline", "numbers"),
    [
        (lambda x: (x - x) / 0, "NaN begins at div, ", "scale[0] = nan, where (x - x)[0] = 0."),
        (lambda x: ((x - x) / 0 + 1) * 2, "NaN begins at div, ", "((x - x) / 0)[0] = nan, where (x - x)[0] = 0."),
        (lambda x: (x - 1).log() * 3, "Infinity begins at log, ", "(x - 1)[0] = 0."),
        (lambda x: x[:1].std() * x, "NaN begins at std, ", "std gives nan: the largest number of x[:1] is 1."),
        (lambda x: mt.full((2,), -math.inf).where(x > 0, x).softmax(0), "NaN begins at softmax, ", "= nan, where"),
    ],
)
def test_numbers_that_were_not_finite_before_history_began_are_told_where_they_became_so(
    program: Callable[[mt.Tensor], mt.Tensor], headline: str, numbers: str
) -> None:
    finding = told_of(program)
    assert finding.headline.startswith(headline)
    assert numbers in " ".join(finding.explanation)


def test_where_a_number_began_that_was_overwritten_before_anything_used_it_is_not_known() -> None:
    def divided(x: mt.Tensor) -> mt.Tensor:
        scale = x * 2
        scale /= x - x
        return scale * 3

    finding = told_of(divided)
    assert finding.headline.endswith(": scale is not finite")
    assert "it was computed without history at test_told.py:" in " ".join(finding.explanation)


def test_behind_a_detach_it_is_told_at_the_operation_that_is_on_the_tape() -> None:
    x = leaf([1.0, 2.0])

    def program() -> None:
        kept = (x - 1).log().detach()
        ((x * kept).sum() + (x * (kept + 1)).sum()).backward()

    finding = findings(record(program))[0]
    assert finding.headline.endswith(": ln 0 = -inf")
    assert "2 more times" not in " ".join(finding.explanation)


def test_nan_inside_of_a_function_that_runs_its_forward_again_is_told_there() -> None:
    x = leaf([0.0, 4.0])

    def root(x: mt.Tensor) -> mt.Tensor:
        return x.sqrt() * 0

    def logarithm(x: mt.Tensor) -> mt.Tensor:
        return (x - 1).log()

    def twice(x: mt.Tensor) -> mt.Tensor:
        return mt.utils.checkpoint.checkpoint(logarithm, x, use_reentrant=True) + 1

    forward = told(lambda: mt.utils.checkpoint.checkpoint(twice, x, use_reentrant=True).sum().backward(), "nan")
    assert forward.headline.startswith("NaN begins at log, test_told.py:")
    assert forward.pass_ == 2
    backward = told(lambda: mt.utils.checkpoint.checkpoint(root, x, use_reentrant=True).sum().backward(), "nan")
    assert backward.headline.startswith("NaN begins in backward at sqrt, test_told.py:")
    assert (backward.pass_, backward.step) == (1, 1)


def test_nan_in_front_of_a_gradient_that_is_differentiated_is_told_in_the_first_pass() -> None:
    x = leaf([-1.0, 4.0])

    def program() -> None:
        (slope,) = mt.autograd.grad((x.log() * x).sum(), x, create_graph=True)
        slope.sum().backward()

    found = told(program, "nan")
    assert found.headline.startswith("NaN begins at log, test_told.py:")
    assert found.pass_ == 0

    def at_once() -> None:
        (slope,) = mt.autograd.grad((x.log() * x).sum(), x, create_graph=True)
        slope.backward(mt.ones(2))

    assert told(at_once, "nan").pass_ == 0
