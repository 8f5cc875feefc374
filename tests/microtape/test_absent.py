"""What is left out on purpose says so in one line, with what to do; settings of other devices are accepted."""

import importlib.util
import sys

import pytest

import microtape as mt
from microtape.absent import _REASONS


@pytest.mark.parametrize("name", sorted(set(_REASONS) - {"resize_", "to_sparse"}))
def test_a_name_of_the_module_is_refused_in_one_line(name):
    with pytest.raises(AttributeError, match=rf"^module 'microtape' has no attribute '{name}': [^\n]+$"):
        getattr(mt, name)


@pytest.mark.parametrize("name", ["as_strided", "bfloat16", "resize_", "to_sparse"])
def test_a_method_is_refused_in_one_line(name):
    with pytest.raises(AttributeError, match=rf"^'Tensor' object has no attribute '{name}': [^\n]+$"):
        getattr(mt.ones(1), name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (mt, "Stream"),
        (mt.linalg, "eig"),
        (mt.nn, "Transformer"),
        (mt.nn.functional, "interpolate"),
        (mt.nn.utils, "prune"),
        (mt.optim, "LBFGS"),
        (mt.optim.lr_scheduler, "OneCycleLR"),
        (mt.utils, "tensorboard"),
        (mt.utils.data, "StackDataset"),
    ],
)
def test_every_module_refuses_in_the_same_words(module, name):
    told = rf"^module '{module.__name__}' has no attribute '{name}': it is not here; run the program on PyTorch with"
    with pytest.raises(AttributeError, match=told):
        getattr(module, name)


@pytest.mark.parametrize("module", [mt, mt.linalg, mt.nn, mt.nn.functional, mt.optim, mt.utils, mt.utils.data])
def test_a_slip_of_the_pen_gets_no_advice(module):
    with pytest.raises(AttributeError, match=rf"^module '{module.__name__}' has no attribute 'colour'$"):
        module.colour  # noqa: B018


@pytest.mark.parametrize(
    ("statement", "module", "name"),
    [
        ("import microtape.distributions", "microtape", "distributions"),
        ("from microtape import distributions", "microtape", "distributions"),
        ("from microtape.distributions import Normal", "microtape", "distributions"),
        ("import microtape.nn.parallel", "microtape.nn", "parallel"),
        ("from microtape.nn import Linear, TransformerEncoder", "microtape.nn", "TransformerEncoder"),
        ("from microtape.nn.functional import interpolate", "microtape.nn.functional", "interpolate"),
        ("from microtape.nn.utils import weight_norm", "microtape.nn.utils", "weight_norm"),
        ("from microtape.nn.utils.rnn import pad_sequence", "microtape.nn.utils", "rnn"),
        ("from microtape.optim.lr_scheduler import OneCycleLR", "microtape.optim.lr_scheduler", "OneCycleLR"),
        ("from microtape.utils.data import StackDataset", "microtape.utils.data", "StackDataset"),
        ("from microtape.cuda.amp import autocast", "microtape.cuda", "amp"),
    ],
)
def test_an_import_is_refused_in_one_line(statement, module, name):
    with pytest.raises(ModuleNotFoundError, match=rf"^cannot import '{name}' from '{module}': [^\n]+$"):
        exec(statement, {})
    assert f"{module}.{name}" not in sys.modules


@pytest.mark.parametrize("name", ["colour", "Linear", "functional.relu", "functional.colour"])
def test_an_import_of_what_is_no_module_gets_no_advice(name):
    with pytest.raises(ModuleNotFoundError, match=rf"^No module named 'microtape\.nn\.{name}'$") as found:
        importlib.import_module(f"microtape.nn.{name}")
    assert found.value.name == f"microtape.nn.{name}"


def test_a_slip_in_an_import_gets_no_advice():
    for module in ("microtape.nn", "microtape.nn.utils", "microtape.linalg"):
        with pytest.raises(ImportError, match=rf"^cannot import name 'colour' from '{module}'"):
            exec(f"from {module} import colour", {})


def test_what_is_absent_can_be_asked_for():
    assert [hasattr(mt, "distributions"), hasattr(mt.nn, "Transformer"), hasattr(mt.nn.utils, "rnn")] == [False] * 3
    assert importlib.util.find_spec("microtape.colour") is None


def test_an_import_asks_only_about_microtape():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'distributions'$"):
        importlib.import_module("distributions")


def test_another_name_is_refused_without_advice():
    with pytest.raises(AttributeError, match=r"^'Tensor' object has no attribute 'colour'$"):
        mt.ones(1).colour  # noqa: B018


def test_a_device_says_what_to_do():
    for ask in (lambda: mt.ones(1).cuda(), lambda: mt.ones(1).to("cuda"), lambda: mt.set_default_device("mps")):
        with pytest.raises(
            RuntimeError, match=r"^there is no device but the cpu here, got '\w+'\. Leave it out, or run"
        ):
            ask()
    with pytest.raises(AttributeError, match="there is no device but the cpu here"):
        mt.cuda.amp  # noqa: B018


def test_settings_of_other_devices_are_accepted():
    mt.cuda.manual_seed_all(1)
    mt.backends.cudnn.deterministic = True
    assert [one.is_available() for one in (mt.backends.mps, mt.accelerator, mt.cuda)] == [False] * 3
