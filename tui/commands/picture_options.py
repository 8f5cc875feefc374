"""Shared by `microtape draw` and `microtape film`: opens the FILE, and converts options to arguments of viz."""

from __future__ import annotations

import argparse
import re
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import viz
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from tui.shell.demos import RECORDINGS
from tui.shell.exits import CommandError, Exit
from tui.shell.opening import Origin, choose_passes, open_origin

NAMED = (
    "into|around|radius|depth|open|closed|show|detail|fit|theme|scale|steps?|seconds|pass_index|max_boxes|most_steps|time_limit|"
    "element_budget"
)
TYPED = {
    "pass_index": "pass",
    "element_budget": "keep",
}  # options that have another name on the command line


SMALLEST = RECORDINGS / "mul_constant.tape"


def open_passes(
    arguments: argparse.Namespace, format_of: Callable[[str], str], save: Callable[[Recording, str], object]
) -> tuple[Recording, list[int], int]:
    """The recording, the indices of the requested passes, and the exit code.

    Raises CommandError before a script runs, which may take long, if its picture could not be written anyway: `save`
    draws a small recording with those options that are not about the program.
    """
    origin = Origin.asked_for(arguments)
    try:
        suffix = format_of(arguments.out)
        if not origin.is_recording:
            with suppress(OSError), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save(load(SMALLEST), str(Path(folder, f"picture{suffix}")))
    except viz.DrawError as error:
        raise CommandError(as_typed(str(error)), Exit.CANNOT_DRAW) from None
    recording, code = open_origin(origin, quiet=True)
    return recording, choose_passes(recording, arguments.passes, arguments.until), code


def look(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options of both commands that are not about the program, as keyword arguments of viz."""
    show = [word for word in arguments.show.split(",") if word] if arguments.show is not None else None
    return given(
        {
            "show": show,
            "time_limit": arguments.time_limit,
            "title": arguments.title,
            "detail": arguments.detail,
            "fit": as_fit(arguments.fit) if arguments.fit is not None else None,
            "theme": arguments.theme,
        }
    )


def contents(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of both commands, as keyword arguments of `viz.draw` and `viz.film`."""
    return look(arguments) | given(
        {name: getattr(arguments, name) for name in ("fold", "depth", "open", "closed", "max_boxes", "into")}
    )


def as_fit(text: str) -> str | tuple[int, int]:
    """What `--fit` says: the name of a place, or a size such as 1600x900."""
    size = re.fullmatch(r"(\d+)x(\d+)", text)
    return (int(size[1]), int(size[2])) if size else text


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that the user gave."""
    return {name: value for name, value in options.items() if value is not None}


def as_typed(message: str) -> str:
    """A message of viz, with options as they are typed: `around="loss", radius=3` as `--around "loss" --radius 3`."""

    def option(match: re.Match[str]) -> str:
        name, value = TYPED.get(match[1], match[1]).replace("_", "-"), match[2]
        return f"--{name} {value}" if value else f"--{name}"

    for said, typed in (("fold=True", "--fold"), ("fold=False,", "--no-fold"), ("fold=False", "--no-fold")):
        message = message.replace(said, typed)
    message = message.replace('", radius=', '" radius=')
    message = re.sub(r"steps=\((\d+), (\d+)\)", r"--steps \1:\2", message)
    return re.sub(rf"\b({NAMED})=([\"'(\w]|-(?=\d))?", option, message)
