"""Writes into a view: the whole is used later if a line says so, not if another view of it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

PROGRAM = """\
import {engine} as torch

whole = torch.nn.Linear(3, 6)(torch.ones(5, 3))
widths = whole[:, :2]
slopes = whole[:, 2:]
widths /= 2.0
loss = widths.exp().sum() + {used}.exp().sum()
loss.backward()
"""

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])


@engines
@pytest.mark.parametrize("used", ["slopes", "widths"])
def test_parts_that_are_used_after_a_write_into_one_of_them_are_no_use_of_the_whole(
    used: str, engine: str, tmp_path: Path
) -> None:
    assert _headlines(used, engine, tmp_path) == []


@engines
@pytest.mark.parametrize("used", ["whole", "whole[:, :3]"])
def test_the_whole_that_is_used_after_a_write_into_a_part_is_told(used: str, engine: str, tmp_path: Path) -> None:
    assert _headlines(used, engine, tmp_path) == ["cut.py:6 writes into widths, a view of whole: line 7 uses whole"]


def _headlines(used: str, engine: str, folder: Path) -> list[str]:
    program = folder / "cut.py"
    program.write_text(PROGRAM.format(engine=engine, used=used))
    return [one.headline for one in findings(record_program(program)[0])]
