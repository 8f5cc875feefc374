"""Make the pictures that the README shows: `python docs/make_pictures.py [NAME ...]`.

Needs no network. Without Chromium, the pictures of screens (the stepper, a film) stay as they are; without PyTorch, so
does that of a program on it. The moving picture, `stepping.gif`, also needs Pillow.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import viz
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.script.run import record_script
from tui.shell.demos import CHECKED, FIRST, recording_of
from tui.stepper.app import StepperApp
from viz.films.gif import to_gif

DOCS = Path(__file__).resolve().parent
PICTURES, PROGRAMS, EXAMPLES = DOCS / "pictures", DOCS / "programs", DOCS.parent / "microtape" / "examples"
ON_PYTORCH = PROGRAMS / "pytorch"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REMOTE_FONT = re.compile(r"@font-face\s*{[^}]*}")
MOVES = (*["right"] * 5, "left", "left", "right", "right", "enter")
SIGNS = {"right": "→", "left": "←", "enter": "Enter"}
MOVING_SIZE = (96, 26)
SECONDS = 1.2  # that each screen of the moving picture is shown
WITH_MODULES = ("classifier", "images", "letters", "attention", "autoencoder")  # examples
BARE = ("values", "gradients", "terms", "source", "legend")


class Picture(NamedTuple):
    """A program and how to draw it; `options` are those of `viz.draw`."""

    name: str
    program: Path
    options: dict[str, Any]
    scale: float = 1.3


GALLERY = (
    Picture("half_way", EXAMPLES / "diamond.py", {"step": 3}),
    Picture("in_place_error", EXAMPLES / "in_place_error.py", {}),
    Picture("border", PROGRAMS / "border.py", {}),
    Picture("view", PROGRAMS / "view.py", {}),
    Picture("outputs", PROGRAMS / "outputs.py", {}),
    Picture("several_outputs", EXAMPLES / "several_outputs.py", {}),
    Picture("inside", EXAMPLES / "several_outputs.py", {"into": "clipped"}, 0.9),
    Picture("dirty", EXAMPLES / "dirty.py", {}),
    Picture("returned_view", EXAMPLES / "returned_view.py", {}),
    Picture("wrong_function", EXAMPLES / "wrong_function.py", {}),
    Picture("clip_hooks", EXAMPLES / "clip_hooks.py", {}),
    Picture("checkpointed", EXAMPLES / "checkpointed.py", {}),
    Picture("rnn", EXAMPLES / "rnn.py", {}),
    *(Picture(name, EXAMPLES / "modules" / f"{name}.py", {"fit": (1400, 1400)}, 0.9) for name in WITH_MODULES),
    Picture("adversaries", EXAMPLES / "modules" / "adversaries.py", {"detail": "lecture"}, 0.9),
    Picture("neighbourhood", EXAMPLES / "rnn.py", {"around": "guess", "radius": 2}),
    Picture("heat", PROGRAMS / "layers.py", {"show": ("values", "gradients", "heat", "legend"), "theme": "dark"}),
    Picture("gradient_penalty", EXAMPLES / "gradient_penalty.py", {"pass_index": 1, "show": BARE}),
    Picture("nan", EXAMPLES / "nan_gradient.py", {"step": 3, "theme": "colourblind"}),
)


def main(names: list[str]) -> int:
    """Make the named pictures, or all if there are no names."""
    screens: dict[str, Callable[[], None]] = {
        "stepper": partial(stepper, "stepper", EXAMPLES / "mlp.py", (140, 48), ["right"] * 9),
        "step_into": partial(
            stepper, "step_into", EXAMPLES / "several_outputs.py", (120, 28), [*["right"] * 4, "i", *["right"] * 3]
        ),
        "pytorch_nan": partial(stepper, "pytorch_nan", ON_PYTORCH / "reviews.py", (110, 30), ["exclamation_mark"]),
        "film": film,
        "stepping": stepping,
    }
    known = [*(one.name for one in GALLERY), *screens]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no picture is called {unknown[0]!r}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    for one in GALLERY:
        if one.name in (names or known):
            viz.draw(recorded(one.program), **one.options).save(PICTURES / f"{one.name}.png", scale=one.scale)
            print(one.name)
    for name, make in screens.items():
        if name in (names or known):
            if browser() is None:
                print(f"{name}: not made, because none of these programs is installed: {', '.join(BROWSERS)}")
                continue
            if name.startswith("pytorch") and find_spec("torch") is None:
                print(f"{name}: not made, because PyTorch is not installed")
                continue
            make()
            print(name)
    return 0


def recorded(program: Path) -> Recording:
    """All passes of a program; of those that train, the first or the one with NaN. Wrong Functions are checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.tape"
        with open(os.devnull, "wb") as nowhere:
            record_script(
                program, out=path, passes=None if program.stem in ("mlp", "reviews", *WITH_MODULES) else "all",
                until="nan" if program.stem == "reviews" else None,
                check="functions" if program.stem in CHECKED else None, output=nowhere,
            )  # fmt: skip
        return load(path)


def stepper(name: str, program: Path, size: tuple[int, int], keys: list[str]) -> None:
    """The stepper on a program, after some keys; it begins where something is wrong."""
    *_, last = screens_of(StepperApp(recorded(program)), size, [keys])
    (PICTURES / f"{name}.png").write_bytes(last.photographed())


def stepping() -> None:
    """The moving picture: the stepper on the README's own program, a frame for each key."""
    frames = moving_screens()
    moving = to_gif([one.photographed() for one in frames], SECONDS)
    comment = fingerprint(frames).encode()
    (PICTURES / "stepping.gif").write_bytes(moving[:-1] + b"\x21\xfe" + bytes([len(comment)]) + comment + b"\0;")


def moving_screens() -> list[Screen]:
    """The screens of the moving picture; the title of each has the keys that led there."""
    return screens_of(StepperApp(load(recording_of(FIRST))), MOVING_SIZE, [[key] for key in MOVES])


def fingerprint(screens: list[Screen]) -> str:
    """Of what the screens say, whatever draws them: a test compares it with that of the picture."""
    return sha256("\n".join(one.text for one in screens).encode()).hexdigest()


class Screen(NamedTuple):
    """What a terminal shows."""

    svg: str
    text: str

    def photographed(self) -> bytes:
        """A PNG of it."""
        svg = REMOTE_FONT.sub("", self.svg).replace("Fira Code", "DejaVu Sans Mono")
        width, height = (round(float(size)) for size in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
        return screenshot(svg, ".svg", width, height)


def screens_of(app: StepperApp, size: tuple[int, int], presses: list[list[str]]) -> list[Screen]:
    """What an app shows at first, and after each group of keys."""
    found, pressed = [], ""

    async def press() -> None:
        nonlocal pressed
        async with app.run_test(size=size) as pilot:
            for keys in ([], *presses):
                await pilot.press(*keys)
                await pilot.pause()
                pressed += "".join(f"  {SIGNS.get(key, key)}" for key in keys)
                lines = app.screen._compositor.render_strips()
                text = "\n".join("".join(segment.text for segment in one).rstrip() for one in lines)
                found.append(Screen(app.export_screenshot(title=f"microtape demo {pressed}"), text))

    asyncio.run(press())
    return found


def film() -> None:
    """The page of a film, at a moment in the middle."""
    page = viz.film(recorded(EXAMPLES / "diamond.py"), theme="light").html
    (PICTURES / "film.png").write_bytes(screenshot(page, ".html", 1200, 700, "#3"))


def browser() -> str | None:
    """The path of a Chromium, under any of its names."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def screenshot(content: str, suffix: str, width: int, height: int, fragment: str = "") -> bytes:
    """What a headless browser without a network shows, as a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"page{suffix}"
        source.write_text(content, encoding="utf-8")
        subprocess.run(
            [browser() or "", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--proxy-server=127.0.0.1:9",
             f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
             f"--screenshot={folder}/shot.png", f"{source.as_uri()}{fragment}"],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return (Path(folder) / "shot.png").read_bytes()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
