"""A reshape that gives a tensor its own sizes in another order is noticed; one that regroups numbers is not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
SHAPES = st.lists(st.integers(1, 3), min_size=2, max_size=5)  # many equal ones


def noticed(folder: Path, engine: str, before: tuple[int, ...], call: str) -> list[Finding]:
    path = folder / "train.py"
    lines = [f"import {engine} as torch", f"x = torch.ones({before}, requires_grad=True)", f"y = (x * 2).{call}"]
    path.write_text("\n".join([*lines, "y.sum().backward()"]))
    recording, _ = record_program(path)
    assert recording.error is None
    return [one for one in findings(recording) if one.kind == "reshape"]


@engines
@given(st.data())
def test_sizes_that_change_places(tmp_path_factory: pytest.TempPathFactory, engine: str, data: st.DataObject) -> None:
    before = tuple(data.draw(SHAPES))
    after = tuple(data.draw(st.permutations(before)))
    written = data.draw(st.sampled_from(["view(*sizes)", "view(sizes)", "reshape(*sizes)", "reshape(sizes)"]))
    call = written.replace("*sizes", ", ".join(map(str, after))).replace("sizes", str(after))
    found = noticed(tmp_path_factory.mktemp("reshape"), engine, before, call)
    assert len(found) == ([one for one in before if one > 1] != [one for one in after if one > 1])
    for one in found:
        assert one.place is not None
        assert one.place.line == 3
        numbers = np.arange(math.prod(before)).reshape(before)
        result, _, came = one.explanation[1].partition(" of the result is ")
        at, source = (tuple(map(int, text.partition("]")[0].strip("[").split(","))) for text in (result, came))
        assert numbers.reshape(after)[at] == numbers[source]


@engines
@pytest.mark.parametrize(
    "call", ["view(2 * 3, 4)", "view(-1, 2 * 2)", "reshape(6, 8 // 2)", "view(torch.Size([6, 4]))"]
)
def test_sizes_that_are_computed_there_regroup_numbers(tmp_path: Path, engine: str, call: str) -> None:
    assert noticed(tmp_path, engine, (4, 6), call) == []


@engines
@pytest.mark.parametrize(
    "call", ["view(24)", "view(2, 12)", "view(2, 3, 4)", "transpose(0, 1)", "t().reshape(6, 4)", "view(4, 6)"]
)
def test_what_is_no_such_reshape(tmp_path: Path, engine: str, call: str) -> None:
    assert noticed(tmp_path, engine, (4, 6), call) == []
