"""`microtape draw`: draw the graph into a file."""

from __future__ import annotations

import argparse
from typing import Any

import viz
from microtape.recording.model.model import Recording
from tui.commands.picture_options import as_typed, contents, given, open_passes
from tui.shell.exits import CommandError, Exit, say
from tui.shell.progress import ProgressBar


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if not arguments.out:
        raise CommandError("draw needs -o with the name of the picture, such as -o graph.svg")
    recording, passes, code = open_passes(arguments)
    chosen: dict[str, Any] = {
        "around": arguments.around,
        "radius": arguments.radius,
        "into": arguments.into,
        "theme": arguments.theme,
    }
    with ProgressBar() as bar:
        try:
            drawing = viz.draw(
                recording,
                step=arguments.step,
                pass_index=_most_interesting(recording, passes),
                waiting=lambda elapsed, limit: bar.show(
                    elapsed / limit, f"{elapsed:.0f} of at most {limit:.0f} seconds"
                ),
                **given(chosen),
                **contents(arguments),
            )
            path = drawing.save(arguments.out, scale=arguments.scale)
        except viz.DrawError as error:
            raise CommandError(as_typed(str(error)), Exit.CANNOT_DRAW) from None
    say(f"wrote {path}")
    return code


def _most_interesting(recording: Recording, passes: list[int]) -> int:
    """The pass that failed, else the first."""
    return next((index for index in passes if recording.passes[index].error is not None), passes[0] if passes else 0)
