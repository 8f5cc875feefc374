"""Each command in each of the surroundings: it works, or says in one line what is missing, and spoils no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.rendering import needs_graphviz
from tests.surroundings.table import COMMANDS, SURROUNDINGS, Command, Surrounding, fault

pytestmark = pytest.mark.skipif(os.name != "posix", reason="closes and limits what a process has")
EVERY = [
    pytest.param(
        command,
        surrounding,
        id=f"{command.words[0]}-{surrounding.name}",
        marks=[needs_graphviz] if "graphviz" in command.needs else [],
    )
    for surrounding in SURROUNDINGS
    for command in COMMANDS
]


@pytest.mark.sampled(19)
@pytest.mark.parametrize(("command", "surrounding"), EVERY)
def test_a_command_works_or_says_what_is_missing(command: Command, surrounding: Surrounding, tmp_path: Path) -> None:
    assert fault(command, surrounding, tmp_path) is None
