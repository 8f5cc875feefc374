"""The surroundings, the commands, and what may happen when the two meet."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from microtape.recording.file.tape_file import save, to_bytes
from tests.support.recordings import handmade
from tui.shell.exits import Exit

LITTLE = 100  # bytes: where the disk is full, no file gets longer
NO_FOLDER = """\
import tempfile
tempfile._candidate_tempdir_list = lambda: ["/proc/nowhere"]
"""


@dataclass(frozen=True)
class Surrounding:
    """Something that is missing or full. A command that needs none of what it lacks must end as it always does."""

    name: str
    lacks: frozenset[str] = frozenset()
    changes: Mapping[str, str | None] = field(default_factory=dict)  # of the environment; None: not set
    before: Callable[[], None] | None = None  # called in the process before the command
    startup: str = ""  # the text of a sitecustomize.py


@dataclass(frozen=True)
class Command:
    """A command line, what it needs, and the file that it writes."""

    words: tuple[str, ...]
    needs: frozenset[str] = frozenset()
    out: str | None = None
    code: int = Exit.OK


def _limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE, LITTLE))


def _closed(*descriptors: int) -> Callable[[], None]:
    def close() -> None:
        for one in descriptors:
            os.close(one)

    return close


def _takes_no_more() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def _read_by_nobody() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    os.dup2(theirs, 1)


_NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python would leave half a module, and fail to import it from then on
_NO_DATA = {"MICROTAPE_DATA": None, "XDG_DATA_HOME": None, "XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None}
SURROUNDINGS = (
    Surrounding("nothing is missing"),
    Surrounding("a full disk", frozenset({"out", "home", "record"}), _NO_BYTECODE, before=_limited),
    Surrounding("a home that is read-only", frozenset({"home"}), {**_NO_DATA, "HOME": "/proc"}),
    Surrounding("a home that is missing", frozenset({"home"}), {**_NO_DATA, "HOME": "/proc/no/such"}),
    Surrounding("a home that is no folder", frozenset({"home"}), {**_NO_DATA, "HOME": "/dev/null"}),
    Surrounding("no HOME", frozenset({"home"}), {**_NO_DATA, "HOME": None}),
    Surrounding("a terminal that is gone", before=_closed(0, 1, 2)),
    Surrounding("no standard input", before=_closed(0)),
    Surrounding("no standard error", before=_closed(2)),
    Surrounding("standard output that takes no more", frozenset({"stdout"}), before=_takes_no_more),
    Surrounding("standard output that nobody reads", frozenset({"stdout"}), before=_read_by_nobody),
    Surrounding("no folder for temporary files", frozenset({"temporary"}), startup=NO_FOLDER),
    Surrounding(
        "LANG=C", changes={"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ),
    Surrounding("TERM=dumb", changes={"TERM": "dumb"}),
    Surrounding("no TERM, no COLUMNS, no PATH", changes={"TERM": None, "COLUMNS": None, "PATH": None}),
)  # fmt: skip

_OUT, _HOME, _SCRIPT = frozenset({"out"}), frozenset({"home"}), frozenset({"temporary", "record"})
_GRAPHVIZ = _OUT | {"temporary", "record", "graphviz"}
COMMANDS = (
    Command(("--version",)),
    Command(("--help",)),
    Command(("keys",)),
    Command(("completion", "bash")),
    Command(("demo",)),
    Command(("step", "run.tape")),
    Command(("trace", "run.tape", "--json")),
    Command(("trace", "train.py"), _SCRIPT),
    Command(("diagnose", "train.py"), _SCRIPT, code=Exit.FOUND),
    Command(("diff", "run.tape", "train.py"), _SCRIPT, code=Exit.NOT_ALL_COMPARED),
    Command(("record", "train.py", "-o", "out.tape"), _OUT | _SCRIPT, "out.tape"),
    Command(("draw", "run.tape", "-o", "out.svg"), _GRAPHVIZ, "out.svg"),
    Command(("draw", "run.tape", "-o", "out.txt"), _OUT, "out.txt"),
    Command(("draw", "train.py", "-o", "out.svg"), _GRAPHVIZ, "out.svg"),
    Command(("film", "run.tape", "-o", "out.html"), _GRAPHVIZ, "out.html"),
    Command(("learn", "list")),
    Command(("learn", "2")),
    Command(("learn", "check", "1"), _HOME | _SCRIPT, code=Exit.NOT_SOLVED),
    Command(("learn", "hint", "1"), _HOME),
    Command(("learn", "review", "fan_out"), _HOME),
    Command(("learn", "about", "a leaf Variable that requires grad is being used in an in-place operation.")),
    Command(("serve", "nothing.tape"), code=Exit.BAD_INPUT),
)

SCRIPT = """\
import microtape as mt

w = mt.tensor([0.0, 1.0], requires_grad=True)
w.log().sum().backward()
"""
ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds: only a command that hangs takes so long
OLD = to_bytes(handmade.twice())
_REFUSALS = {code for code in Exit if code not in (Exit.OK, Exit.FOUND)}


def fault(command: Command, surrounding: Surrounding, folder: Path) -> str | None:
    """Run the command in an empty folder. Returns what is wrong with how it ends, or None."""
    save(handmade.diamond(), folder / "run.tape")
    (folder / "train.py").write_text(SCRIPT)
    (folder / "startup").mkdir()
    (folder / "startup" / "sitecustomize.py").write_text(surrounding.startup)
    if command.out is not None:
        (folder / command.out).write_bytes(OLD)
    known = {
        **os.environ,
        "MICROTAPE_DATA": str(folder / "data"),
        "PYTHONPATH": f"{folder / 'startup'}{os.pathsep}{ROOT}",
    }
    environment = {name: value for name, value in {**known, **surrounding.changes}.items() if value is not None}
    ran = subprocess.run(
        [sys.executable, "-m", "microtape", *command.words], cwd=folder, env=environment, check=False, timeout=PATIENCE,
        stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=surrounding.before,
    )  # fmt: skip
    said = ran.stderr.decode(errors="replace")
    told = f"ended with {ran.returncode}: {said.strip()[-600:] or 'without a word'}"
    if "Traceback" in said or "Exception ignored" in said or "Warning" in said:
        return told
    if left := sorted(one.name for one in folder.iterdir() if one.name.startswith((".tape-", ".unfinished-"))):
        return f"{told}; it left {left}"
    works = ran.returncode == command.code
    if works and command.out is not None and (folder / command.out).read_bytes() == OLD:
        return f"{told}; it wrote nothing"
    if not works and command.out is not None and (folder / command.out).read_bytes() != OLD:
        return f"{told}; it has changed the old file"
    if works:
        return None
    if surrounding.lacks & (command.needs | {"stdout"}) and ran.returncode in _REFUSALS:
        lines = [line for line in said.splitlines() if line.startswith("microtape: ")]
        return None if len(lines) == 1 or ran.returncode == Exit.BROKEN_PIPE else told
    return told
