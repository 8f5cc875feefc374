"""Every handwritten program observes the same on torch and on microtape; every row of the table has a program."""

import importlib
import pkgutil
import warnings

import pytest

import microtape
from tests.parity import programs
from tests.parity.observe import differences, run
from tests.parity.rows import DIFFERENCES, PROGRAMS, ROWS

for _module in pkgutil.iter_modules(programs.__path__, programs.__name__ + "."):
    importlib.import_module(_module.name)


@pytest.fixture(scope="module")
def torch():
    import torch

    torch.set_num_threads(1)
    with warnings.catch_warnings():  # forward-mode AD compiles code at its first use
        warnings.simplefilter("ignore")
        with torch.autograd.forward_ad.dual_level():
            torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))
    return torch


@pytest.mark.parametrize("name", PROGRAMS)
def test_microtape_does_what_torch_does(name, torch):
    program = PROGRAMS[name]
    found = differences(run(program, torch), run(program, microtape))
    if name in DIFFERENCES:
        assert found, f"this no longer differs: {DIFFERENCES[name]}"
    elif found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_shown_by_a_program(row):
    names = [name for name in PROGRAMS if name.rpartition(": ")[0] == row]
    assert names, f"no program shows the row {row!r}"
    assert ROWS[row] == "A" or set(names) - set(DIFFERENCES), f"every program about {row!r} is a known difference"
