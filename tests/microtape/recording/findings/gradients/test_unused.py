"""Leaves that no operation on the way to the loss uses: what there is to do depends on whose they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import microtape as mt
from microtape import nn
from microtape.recording import record
from microtape.recording.findings import findings


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.left = nn.Linear(2, 1), nn.Linear(2, 1)
        self.scale = nn.Parameter(mt.ones(1))


def whole_module() -> None:
    used, left = nn.Linear(2, 1), nn.Linear(2, 1)
    used(mt.ones(2)).sum().backward()
    del left


def part_of_a_model() -> None:
    encoder = Encoder()
    (encoder.used(mt.ones(2)) * encoder.scale).sum().backward()


def parameter_of_a_model() -> None:
    encoder = Encoder()
    (encoder.used(mt.ones(2)) + encoder.left(mt.ones(2))).sum().backward()


def tensor() -> None:
    w, left = mt.ones(2, requires_grad=True), mt.ones(2, requires_grad=True)
    (w * 2).sum().backward()
    del left


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        (whole_module, "leave left out"),
        (part_of_a_model, "leave left out"),
        (parameter_of_a_model, "leave it out"),
        (tensor, "make it without requires_grad=True"),
    ],
)
def test_the_remedy_is_for_what_is_unused(program: Callable[[], None], remedy: str) -> None:
    (told,) = [one.remedy for one in findings(record(program)) if one.kind == "no gradient"]
    assert told.endswith(f", or {remedy}.")
