"""From a FILE of the command line to a recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.shell.opening import Origin


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("run.py", "run.py"),
        ("models/net.py", "models/net.py"),
        ("models/../run.py", "run.py"),
        ("../../.ssh/id_rsa", "id_rsa"),
        ("/etc/passwd", "passwd"),
    ],
)
def test_a_source_is_in_the_folder_of_the_recording(tmp_path: Path, recorded: str, found: str) -> None:
    assert Origin(str(tmp_path / "run.tape")).source(recorded) == tmp_path.resolve() / found
