"""Each command in each of the surroundings: it works, or says in one line what is missing, and spoils no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.surroundings.table import COMMANDS, SURROUNDINGS, Command, Surrounding, fault

pytestmark = pytest.mark.skipif(os.name != "posix", reason="closes and limits what a process has")
EVERY = [(command, surrounding) for surrounding in SURROUNDINGS for command in COMMANDS]


@pytest.mark.sampled(19)
@pytest.mark.parametrize(
    ("command", "surrounding"), EVERY, ids=[f"{one.words[0]}-{other.name}" for one, other in EVERY]
)
def test_a_command_works_or_says_what_is_missing(command: Command, surrounding: Surrounding, tmp_path: Path) -> None:
    assert fault(command, surrounding, tmp_path) is None
