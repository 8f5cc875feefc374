"""Which characters of a picture no font of this machine has: Graphviz draws them as empty boxes, and says nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata

PATIENCE = 5  # seconds
FIRST = 0x0590  # letters before it are in the fonts of every machine, and so are signs such as ∂ in ours
SIGNS = range(0x2000, 0x2E00)


def without_font(text: str) -> str:
    """The letters of the text, each once, that fontconfig finds in no font; empty if it cannot be asked."""
    program = shutil.which("fc-list")
    letters = sorted({one for one in text if ord(one) >= FIRST and ord(one) not in SIGNS and one.isalnum()})
    if not letters or program is None or not os.path.isabs(program):
        return ""
    return "".join([one for one in _one_of_each_script(letters) if not _is_there(program, one)])


def _one_of_each_script(letters: list[str]) -> list[str]:
    """The first letter of each script: fonts have a script or lack it, and each question takes a while."""
    scripts: dict[str, str] = {}
    for one in letters:
        scripts.setdefault(unicodedata.name(one, "?").split()[0], one)
    return list(scripts.values())


def _is_there(program: str, letter: str) -> bool:
    try:
        asked = [program, f":charset={ord(letter):x}", "family"]
        done = subprocess.run(asked, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stdout.strip())
