"""The examples as recordings that come with the program, so that `microtape demo` opens at once.

`python -m tui.shell.demos` records them again; a test fails when they are out of date. Those on PyTorch open without
it, but recording them again needs it.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from tui.shell.printing import put

EXAMPLES = Path(__file__).resolve().parents[2] / "microtape" / "examples"
RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
WITH_MODULES = "modules"  # the folder of those that use `nn` and `optim`
ON_PYTORCH = "pytorch"  # the folder of those on PyTorch, which come last

FIRST = "example"
"""The README's program, in which every number can be checked by hand: the one that opens without a name."""
CHECKED = {"wrong_function"}
"""Those that are compared with finite differences, to be found wrong."""
PASSES = {"training": "1-3", "adversaries": "1-4"}
"""Those of which other passes than the first are worth a look, beside those with an optimiser."""


def names() -> list[str]:
    """The names of the examples: the first one, then the others, those with modules, those on PyTorch."""
    return list(_files())


def file_of(name: str) -> Path:
    """The program of an example."""
    return _files()[name]


def needs_torch(name: str) -> bool:
    """Whether an example is a program on PyTorch."""
    return file_of(name).parent.name == ON_PYTORCH


def _files() -> dict[str, Path]:
    folders = (EXAMPLES, EXAMPLES / WITH_MODULES, EXAMPLES / ON_PYTORCH)
    files = (path for folder in folders for path in sorted(folder.glob("*.py")))
    return {path.stem: path for path in (EXAMPLES / f"{FIRST}.py", *files)}


def _passes(name: str) -> str | None:
    """The passes to record: the first, or those that show a step of the optimiser, too."""
    return PASSES.get(name, "1-2" if file_of(name).parent.name == WITH_MODULES else None)


def described() -> str:
    """A line for each example: its name, and the first sentence of the comment at its head."""
    abouts = {FIRST: "The program of the README: every number can be checked by hand. It opens without a NAME."}
    for name in names()[1:]:
        head = file_of(name).read_text(encoding="utf-8").partition("\n#\n")[0]
        comment = " ".join(line[2:] for line in head.splitlines() if line.startswith("# "))
        abouts[name] = re.split(r"(?<=[.?]) ", comment)[0]
    return "\n".join(f"  {name:<26}{about}" for name, about in abouts.items())


def recording_of(name: str) -> Path:
    """The recording of an example."""
    return RECORDINGS / f"{name}.tape"


def make(folder: Path = RECORDINGS, chosen: list[str] | None = None) -> None:
    """Record the chosen examples into a folder; by default all of them, which needs PyTorch."""
    from microtape.recording.script.run import record_script

    folder.mkdir(exist_ok=True)
    for name in names() if chosen is None else chosen:
        with open(os.devnull, "wb") as nowhere:
            record_script(
                file_of(name), out=folder / f"{name}.tape",
                check="functions" if name in CHECKED else None, passes=_passes(name), output=nowhere,
            )  # fmt: skip


def main() -> int:
    """Record the examples again: all of them, or without PyTorch those that do not use it."""
    left_out = [name for name in names() if needs_torch(name) and find_spec("torch") is None]
    chosen = [name for name in names() if name not in left_out]
    for old in RECORDINGS.glob("*.tape"):
        if old.stem not in left_out:
            old.unlink()
    make(chosen=chosen)
    put(f"{len(chosen)} recordings in {RECORDINGS}")
    if left_out:
        put(f"not recorded again: {', '.join(left_out)}, which need PyTorch (pip install 'microtape[torch]')")
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
