"""The examples as recordings that come with the program, so that `microtape demo` opens at once.

`python -m tui.shell.demos` records them again; a test fails when they are out of date.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "microtape" / "examples"
RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"


FIRST = "example"
"""The README's program, in which every number can be checked by hand: the one that opens without a name."""
CHECKED = {"wrong_function"}
"""Those that are compared with finite differences, to be found wrong."""


def names() -> list[str]:
    """The names of the examples, the first one first."""
    return sorted((path.stem for path in EXAMPLES.glob("*.py")), key=lambda name: (name != FIRST, name))


def described() -> str:
    """A line for each example: its name, and the first sentence of the comment at its head."""
    abouts = {FIRST: "The program of the README: every number can be checked by hand. It opens without a NAME."}
    for name in names()[1:]:
        head = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").partition("\n#\n")[0]
        comment = " ".join(line[2:] for line in head.splitlines() if line.startswith("# "))
        abouts[name] = re.split(r"(?<=[.?]) ", comment)[0]
    return "\n".join(f"  {name:<26}{about}" for name, about in abouts.items())


def recording_of(name: str) -> Path:
    """The recording of an example."""
    return RECORDINGS / f"{name}.tape"


def make(folder: Path = RECORDINGS) -> None:
    """Record every example into a folder."""
    from microtape.recording.script.run import record_script

    folder.mkdir(exist_ok=True)
    for name in names():
        with open(os.devnull, "wb") as nowhere:
            record_script(
                EXAMPLES / f"{name}.py", out=folder / f"{name}.tape",
                check="functions" if name in CHECKED else None, output=nowhere,
            )  # fmt: skip


if __name__ == "__main__":
    for old in RECORDINGS.glob("*.tape"):
        old.unlink()
    make()
    print(f"{len(names())} recordings in {RECORDINGS}")
