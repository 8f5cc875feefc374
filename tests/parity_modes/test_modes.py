"""Every program about modes, hooks on saved tensors, checkpoints and forward mode sees the same on torch and here."""

import importlib
import pkgutil
import warnings

import pytest
from parity.observe import differences, run

import microtape
import parity_modes
from parity_modes.rows import PROGRAMS

pytestmark = pytest.mark.parity

for _module in pkgutil.iter_modules(parity_modes.__path__):
    if _module.name.startswith("programs_"):
        importlib.import_module(f"parity_modes.{_module.name}")


@pytest.fixture(scope="module")
def torch():
    import torch

    torch.set_warn_always(True)
    torch.set_num_threads(1)
    with warnings.catch_warnings():  # forward-mode AD compiles something when it is first used
        warnings.simplefilter("ignore")
        with torch.autograd.forward_ad.dual_level():
            torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))
    return torch


@pytest.mark.parametrize("name", PROGRAMS)
def test_microtape_does_what_torch_does(name, torch):
    program = PROGRAMS[name]
    found = differences(run(program, torch), run(program, microtape))
    if found:
        pytest.fail("\n".join(found), pytrace=False)
