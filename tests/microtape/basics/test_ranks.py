"""The rank of a process: torchrun's environment says it, or torch's process group, or the order of the starts."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from microtape.basics.ranks import rank_of_process, rank_options


def group(rank: int, size: int, *, is_there: bool = True) -> SimpleNamespace:
    """What stands for `torch.distributed`."""
    return SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: is_there, get_rank=lambda: rank, get_world_size=lambda: size
    )


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)


def test_a_process_by_itself_has_no_rank() -> None:
    assert rank_of_process() is None
    assert rank_options() == {}


def test_the_environment_says_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setitem(sys.modules, "torch.distributed", group(1, 8))
    assert rank_of_process() == 2
    assert rank_options(7) == {"rank": 2, "ranks": 4}


def test_the_process_group_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", group(1, 2))
    assert rank_of_process() == 1
    assert rank_options(0) == {"rank": 1, "ranks": 2}


@pytest.mark.parametrize("there", [group(0, 1), group(0, 2, is_there=False)], ids=["of one", "not begun"])
def test_a_group_of_one_or_none_says_nothing(there: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", there)
    assert rank_of_process() is None
    assert rank_options(3) == {"rank": 3}
