"""`microtape draw` and `microtape film`: pictures and films in files, and a bar on the terminal meanwhile."""

from __future__ import annotations

import argparse
import re
from typing import Any

import viz
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, say
from tui.shell.opening import Origin, choose_passes, open_origin
from tui.shell.progress import Bar

NAMED = "around|radius|open|show|theme|scale|steps?|seconds|pass_index|max_boxes|most_steps|time_limit"
TYPED = {"open": "open-fold", "pass_index": "pass"}  # options that have another name here


def draw(arguments: argparse.Namespace) -> int:
    """Draw the graph into a file."""
    if not arguments.out:
        raise CommandError("draw needs -o with the name of the picture, such as -o graph.svg")
    recording, passes, code = _opened(arguments)
    chosen: dict[str, Any] = {"around": arguments.around, "radius": arguments.radius, "theme": arguments.theme}
    with Bar() as bar:
        try:
            drawing = viz.draw(
                recording,
                step=arguments.step,
                pass_index=_most_interesting(recording, passes),
                waiting=lambda elapsed, limit: bar.show(
                    elapsed / limit, f"{elapsed:.0f} of at most {limit:.0f} seconds"
                ),
                **_given(chosen),
                **_contents(arguments),
            )
            path = drawing.save(arguments.out, scale=arguments.scale)
        except viz.DrawError as error:
            raise CommandError(_in_words_of_the_command(str(error)), Exit.CANNOT_DRAW) from None
    say(f"wrote {path}")
    return code


def film(arguments: argparse.Namespace) -> int:
    """Write a page that plays the passes, or a GIF."""
    if not arguments.out:
        raise CommandError("film needs -o with the name of the page, such as -o run.html")
    recording, passes, code = _opened(arguments)
    with Bar() as bar:
        try:
            made = viz.film(
                recording,
                pass_index=passes if arguments.passes or arguments.until else None,
                progress=lambda done, of: bar.show(done / of, f"{done * 100 // of} %"),
                **_given({name: getattr(arguments, name) for name in ("theme", "steps", "most_steps", "seconds")}),
                **_contents(arguments),
            )
            path = made.save(arguments.out)
        except viz.DrawError as error:
            raise CommandError(_in_words_of_the_command(str(error)), Exit.CANNOT_DRAW) from None
    say(f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")
    return code


def _opened(arguments: argparse.Namespace) -> tuple[Recording, list[int], int]:
    recording, code = open_origin(Origin.asked_for(arguments), quiet=True)
    return recording, choose_passes(recording, arguments.passes, arguments.until), code


def _most_interesting(recording: Recording, passes: list[int]) -> int:
    """The pass that failed, else the first."""
    return next((one for one in passes if recording.passes[one].error is not None), passes[0] if passes else 0)


def _contents(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `draw` and `film` have in common."""
    show = [word for word in arguments.show.split(",") if word] if arguments.show is not None else None
    return _given(
        {
            "show": show,
            "fold": arguments.fold,
            "open": arguments.open_fold,
            "max_boxes": arguments.max_boxes,
            "time_limit": arguments.time_limit,
        }
    )


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in options.items() if one is not None}


def _in_words_of_the_command(message: str) -> str:
    """The message with options as they are typed: `around="loss", radius=3` as `--around "loss" --radius 3`."""

    def option(match: re.Match[str]) -> str:
        name, value = TYPED.get(match[1], match[1]).replace("_", "-"), match[2]
        return f"--{name} {value}" if value else f"--{name}"

    message = message.replace("fold=True", "--fold").replace('", radius=', '" radius=')
    message = re.sub(r"steps=\((\d+), (\d+)\)", r"--steps \1:\2", message)
    return re.sub(rf"\b({NAMED})=([\"\w]?)", option, message)
