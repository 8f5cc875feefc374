"""The nodes that the path of a module names."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape import nn
from tui.time.cursor import StepCursor


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        self.decoder = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 2))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        with mt.scope("the way back"):
            return self.decoder(self.encoder(x))


@pytest.fixture
def start() -> StepCursor:
    model = Autoencoder()
    with mt.record() as recorder:
        model(mt.ones(4, 2)).sum().backward()
    return StepCursor.open(recorder.recording)


def ops(cursor: StepCursor, text: str) -> list[str]:
    """The operations that a text names, without leaves."""
    timeline = cursor.timeline
    nodes = (timeline.node(node) for node in sorted(cursor.find(text)))
    return [node.op for node in nodes if node.variable is None]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("encoder", ["t", "addmm", "tanh", "t", "addmm"]),
        ("encoder.1", ["tanh"]),
        ("encoder.2", ["t", "addmm"]),
        ("Autoencoder.the way back.encoder.2", ["t", "addmm"]),
        ("1 Tanh", ["tanh", "tanh"]),
        ("the way back", ["t", "addmm", "tanh", "t", "addmm"] * 2),
        ("coder", []),
        ("encoder.3", []),
        ("encoder.2.", []),
        (".2", []),
    ],
)
def test_a_path_or_its_end_names_what_ran_inside(start: StepCursor, path: str, expected: list[str]) -> None:
    assert ops(start, path) == expected


def test_going_to_a_module_is_going_to_the_next_moment_in_it(start: StepCursor) -> None:
    backward = start.goto("encoder.2")
    assert backward.step is not None
    assert backward.timeline.node(backward.step.node).op == "addmm"
    forward = start.home().goto("encoder.2")
    assert forward.is_forward
    assert forward.node == min(start.find("encoder.2") & set(start.timeline.forward))


def test_a_module_comes_before_an_operation_of_its_name_and_after_a_variable(start: StepCursor) -> None:
    x = mt.tensor([1.0], requires_grad=True)
    with mt.record() as recorder:
        with mt.scope("exp"):
            y = x.tanh()
        with mt.scope("y"):
            z = y.exp()
        z.backward()
    cursor = StepCursor.open(recorder.recording)
    assert ops(cursor, "exp") == ["tanh"]
    assert ops(cursor, "y") == ["tanh"]


def test_a_parameter_is_named_by_its_own_path(start: StepCursor) -> None:
    (node,) = start.find("decoder.0.bias")
    assert start.recording.label(node) == "decoder.0.bias"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("encoder.2.weight", {"encoder.2.weight"}),
        ("2.weight", {"encoder.2.weight", "decoder.2.weight"}),
        ("oder.2.weight", set()),
    ],
)
def test_a_name_or_its_last_parts_name_a_parameter(start: StepCursor, text: str, expected: set[str]) -> None:
    timeline = start.timeline
    assert {timeline.recording.label(node) for node in start.find(text)} == expected


@pytest.mark.parametrize(
    ("text", "meant"),
    [("encoder.0.wieght", ": did you mean encoder.0.weight?"), ("TAHN", ": did you mean tanh?"), ("q", "")],
)
def test_a_text_that_names_nothing_is_told_with_the_name_that_is_like_it(
    start: StepCursor, text: str, meant: str
) -> None:
    with pytest.raises(LookupError) as refused:
        start.goto(text)
    assert refused.value.args == (f"there is no {text!r} here{meant}",)
