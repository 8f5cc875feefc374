"""The examples as recordings that come with the program, so that `microtape demo` opens at once.

`python -m tui.shell.demos` records them again; a test fails when they are out of date.
"""

from __future__ import annotations

import os
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "microtape" / "examples"
RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"


def names() -> list[str]:
    """The names of the examples."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def recording_of(name: str) -> Path:
    """The recording of an example."""
    return RECORDINGS / f"{name}.tape"


def make(folder: Path = RECORDINGS) -> None:
    """Record every example into a folder."""
    from microtape.recording.script.run import record_script

    folder.mkdir(exist_ok=True)
    for name in names():
        with open(os.devnull, "wb") as nowhere:
            record_script(EXAMPLES / f"{name}.py", out=folder / f"{name}.tape", output=nowhere)


if __name__ == "__main__":
    for old in RECORDINGS.glob("*.tape"):
        old.unlink()
    make()
    print(f"{len(names())} recordings in {RECORDINGS}")
