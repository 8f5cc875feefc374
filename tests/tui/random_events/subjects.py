"""Everything that random events are sent to: a function that opens an app, for each name."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App

import microtape
from lessons import Workspace
from microtape.errors import RecordingError
from microtape.recording.comparing import compare
from microtape.recording.model.model import Recording
from tests.support.course import COURSE
from tests.support.recordings import handmade
from tui.beside.two_recordings import TwoRecordings
from tui.learn.app import LearnApp
from tui.shell.demos import EXAMPLES
from tui.shell.opening import Origin
from tui.stepper.app import StepperApp

RECORDINGS = Path(handmade.__file__).parents[3] / "tui" / "recordings"
HANDMADE: dict[str, Callable[[], Recording]] = {
    "diamond": handmade.diamond, "twice": handmade.twice, "failing": handmade.failing, "cut_short": handmade.cut_short,
    "chain": lambda: handmade.chain(90, 5),
}  # fmt: skip


def subjects() -> list[str]:
    """The names of all subjects."""
    tapes = sorted(path.stem for path in RECORDINGS.glob("*.tape"))
    return [
        *(f"example {name}" for name in tapes),
        *(f"handmade {name}" for name in HANDMADE),
        *(f"damaged {name} {seed}" for seed, name in enumerate(tapes)),
        "rerecorded diamond", "rerecorded training", "beside rnn", "ascii gradient_penalty", "remembered mlp",
        "lessons",
        *(f"lesson {lesson.name}" for lesson in COURSE),
    ]  # fmt: skip


def open_app(subject: str, folder: Path) -> App[Any]:
    """The app of a subject. It keeps its files in the folder."""
    kind, _, name = subject.partition(" ")
    if kind in ("lesson", "lessons"):
        return LearnApp(COURSE, Workspace(folder / "learner"), lesson=COURSE.named(name) if name else None)
    if kind == "handmade":
        return StepperApp(HANDMADE[name](), guides=True)
    if kind == "damaged":
        return StepperApp(damaged(*name.split(), folder=folder))
    recording = microtape.load(RECORDINGS / f"{name}.tape")
    if kind == "rerecorded":
        return StepperApp(recording, origin=Origin(str(EXAMPLES / f"{name}.py")))
    if kind == "beside":
        other = microtape.load(RECORDINGS / "mlp.tape")
        origins = Origin(f"{name}.tape"), Origin("mlp.tape")
        both = TwoRecordings(compare(recording, other), ("one", "other"), origins)
        return StepperApp(recording, beside=both)
    return StepperApp(recording, ascii=kind == "ascii", remembers=kind == "remembered")


def damaged(name: str, seed: str, *, folder: Path) -> Recording:
    """The recording of an example after as many random changes of its file as the reader lets pass, up to 40."""
    with zipfile.ZipFile(RECORDINGS / f"{name}.tape") as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    text, choose, path = members["recording.json"].decode(), random.Random(seed), folder / "damaged.tape"
    for _ in range(40):
        changed = json.loads(text)
        _change(changed, choose)
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in {**members, "recording.json": json.dumps(changed).encode()}.items():
                archive.writestr(member, data)
        try:
            microtape.load(path)
        except RecordingError:
            continue
        text = json.dumps(changed)
        good = path.read_bytes()
        (folder / "good.tape").write_bytes(good)
    found = folder / "good.tape"
    return microtape.load(found if found.exists() else RECORDINGS / f"{name}.tape")


def _change(top: Any, choose: random.Random) -> None:
    """Walk to a random place of the data, and change what is there."""
    here: Any = top
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = choose.choice(keys)
        if not isinstance(here[key], dict | list) or not here[key] or choose.random() < 0.05:
            break
        here = here[key]
    old = here[key]
    if isinstance(old, bool) or old is None:
        here[key] = choose.choice([True, False, None, 0])
    elif isinstance(old, int | float):
        here[key] = choose.choice([old + 1, old - 1, 0, -1, old * 1000, 1e308, None])
    elif isinstance(old, str):
        here[key] = choose.choice(["", old * 40, "\x1b[31m", "[bold", "漢\n字", old[::-1], None])
    else:
        here[key] = choose.choice([type(old)(), None, old[:-1] if isinstance(old, list) else old])
