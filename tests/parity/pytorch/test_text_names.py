"""The names that a program's text gives to tensors of PyTorch, whose functions have returned."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.microtape.recording.writing.test_text_names import NAMELESS, NAMES, matches
from tests.support.true_names import Held, programs, results, run, untrue

INNER = [
    "m = mt.distributions.Categorical(logits=p)\na = m.sample()\nreturn m.log_prob(a) * q.sum()",
    "m = mt.nn.MultiheadAttention(3, 1)(p, q, p)\nreturn m[0]",
]  # fmt: skip
"""Lines in which the variable gets something else than what torch has computed there with a node."""


@pytest.fixture
def recorder(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    return TorchRecorder


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_a_value_has_the_name_that_the_text_gives_it(recorder, text, expected):
    found = results(run(text.splitlines(), "torch", recorder()))
    for expression, names in expected.items():
        assert matches(found[expression], names), (expression, found[expression])


@pytest.mark.parametrize(("text", "expression"), NAMELESS)
def test_a_value_that_no_variable_of_its_own_holds_has_no_name(recorder, text, expression):
    assert not any(results(run(text.splitlines(), "torch", recorder()))[expression])


@pytest.mark.parametrize("text", INNER)
def test_what_torch_computes_on_the_way_has_no_name(recorder, text):
    recording = run(text.splitlines(), "torch", recorder())
    names = {one.name for one in recording.tensors if one.node is not None}
    assert not names & {"a", "m"}


def test_a_number_that_was_taken_out_of_a_tensor_is_no_operand(recorder):
    found = results(run(["scale = p.sum().item()", "return scale * q.tanh()"], "torch", recorder()))
    assert found["q.tanh()"] == ("",)


@given(programs)
def test_no_name_is_one_that_the_value_never_had(lines):
    from microtape.recording.pytorch.recorder import TorchRecorder

    recorder, held = TorchRecorder(), Held()
    recording = run(lines, "torch", recorder, held)
    assert recording.faults == ()
    assert list(untrue(recording, recorder.tape, lambda entry: entry.seen.tensor, held)) == []
