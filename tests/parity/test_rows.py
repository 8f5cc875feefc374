"""Every hand-written program sees the same on torch and on microtape."""

import importlib
import pkgutil

import pytest

import microtape
import parity
from parity.observe import differences, run
from parity.rows import CORE, DIFFERENCES, PROGRAMS

for _module in pkgutil.iter_modules(parity.__path__):
    if _module.name.startswith("programs_"):
        importlib.import_module(f"parity.{_module.name}")


@pytest.fixture(scope="module")
def torch():
    import torch

    torch.set_warn_always(True)
    torch.set_num_threads(1)
    return torch


@pytest.mark.parametrize("name", PROGRAMS)
def test_microtape_does_what_torch_does(name, torch):
    program = PROGRAMS[name]
    found = differences(run(program, torch), run(program, microtape))
    if name in DIFFERENCES:
        assert found, f"this no longer differs: {DIFFERENCES[name]}"
    elif found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("row", [row.strip() for line in CORE.split("\n") for row in line.split(", ") if row.strip()])
def test_every_core_row_is_shown_by_a_program(row):
    assert any(name.startswith(row) for name in PROGRAMS), f"no program shows the row {row!r}"
