"""Weights that multiply the state of a recurrent step, and get zeros because each step begins with zeros."""

from __future__ import annotations

import microtape as mt
from microtape import nn
from microtape.recording import record
from microtape.recording.findings import Finding, findings


def found(layer: nn.Module, *, takes_last: bool) -> list[Finding]:
    """The findings of a recurrent layer of which the last element of its output is used, or its last states."""
    head, x = nn.Linear(8, 1), mt.randn(5, 6, 3)

    def program() -> None:
        for _ in range(2):
            output, state = layer(x)
            last = output[:, -1] if takes_last else mt.cat([*(state[0] if isinstance(state, tuple) else state)], -1)
            loss = head(last).square().mean()
            layer.zero_grad()
            loss.backward()

    return [one for one in findings(record(program)) if one.kind == "zero gradient"]


def test_of_the_backward_direction_the_last_element_is_its_first_step() -> None:
    for kind in (nn.RNN, nn.GRU, nn.LSTM):
        (finding,) = found(kind(3, 4, batch_first=True, bidirectional=True), takes_last=True)
        assert "only its first step is used" in finding.headline
        assert finding.severity == "warning"
        assert "h_n" in finding.remedy
        assert not found(kind(3, 4, batch_first=True, bidirectional=True), takes_last=False)


def test_a_state_that_is_dropped_leaves_its_weight_without_a_gradient() -> None:
    inner, outer = nn.Linear(3, 4), nn.Linear(4, 4)

    def program() -> None:
        hidden = mt.zeros(1, 4)
        for one in mt.randn(5, 1, 3):
            result = mt.tanh(inner(one) + outer(hidden))
        result.square().sum().backward()

    (finding,) = [one for one in findings(record(program)) if one.kind == "zero gradient"]
    assert "hidden is zero" in finding.headline
    assert finding.remedy.startswith("If it is the state that each step begins with")
