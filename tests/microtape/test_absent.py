"""What is left out on purpose says so in one line, with what to do; settings of other devices are accepted."""

import pytest

import microtape as mt
from microtape.absent import _REASONS


@pytest.mark.parametrize("name", sorted(set(_REASONS) - {"to_sparse"}))
def test_a_name_of_the_module_is_refused_in_one_line(name):
    with pytest.raises(AttributeError, match=rf"^module 'microtape' has no attribute '{name}': [^\n]+$"):
        getattr(mt, name)


@pytest.mark.parametrize("name", ["bfloat16", "to_sparse"])
def test_a_method_is_refused_in_one_line(name):
    with pytest.raises(AttributeError, match=rf"^'Tensor' object has no attribute '{name}': [^\n]+$"):
        getattr(mt.ones(1), name)


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
