"""`microtape draw`: draw the graph into a file."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import viz
from microtape.recording.model.model import Recording
from tui.commands.picture_options import as_typed, contents, given, look, open_passes
from tui.shell.exits import CommandError, Exit, say
from tui.shell.progress import ProgressBar
from viz.basics.errors import SmallTextWarning
from viz.output.formats import picture_format
from viz.output.pages import can_write_pages


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if not arguments.out:
        raise CommandError("draw needs -o with the name of the picture, such as -o graph.svg")

    def save(recording: Recording, out: str) -> None:
        viz.draw(recording, **look(arguments)).save(out, scale=arguments.scale)

    recording, passes, code = open_passes(arguments, picture_format, save)
    every = passes if arguments.passes is not None else [_most_interesting(recording, passes)]
    for index in every:
        path = arguments.out if len(every) == 1 else _of_pass(arguments.out, recording.passes[index].index + 1)
        drawing = _draw(recording, index, path, arguments)
        for advice in drawing.graph.advice:
            say(as_typed(advice))
    if arguments.passes is None and len(passes) > 1 and arguments.until is None:
        say(f"this is pass {recording.passes[every[0]].index + 1} of {len(passes)}; --pass all draws each into a file")
    return code


def _draw(recording: Recording, pass_index: int, out: str, arguments: argparse.Namespace) -> viz.Drawing:
    """Draw one pass into a file."""
    chosen: dict[str, Any] = {"around": arguments.around, "radius": arguments.radius}
    with ProgressBar() as bar, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            drawing = viz.draw(
                recording,
                step=arguments.step,
                pass_index=pass_index,
                waiting=lambda elapsed, limit: bar.show(
                    elapsed / limit, f"{elapsed:.0f} of at most {limit:.0f} seconds"
                ),
                **given(chosen),
                **contents(arguments),
            )
            path = drawing.save(out, scale=arguments.scale)
        except viz.DrawError as error:
            raise CommandError(as_typed(str(error)), Exit.CANNOT_DRAW) from None
    say(f"wrote {path}")
    on_pages = path.suffix.lower() == ".pdf" and can_write_pages()
    for one in told:
        if not (on_pages and issubclass(one.category, SmallTextWarning)):
            say(as_typed(str(one.message)))
    return drawing


def _of_pass(out: str, number: int) -> str:
    """`graph.pass2.svg`, beside the `graph.svg` that was asked for."""
    path = Path(out)
    return str(path.with_name(f"{path.stem}.pass{number}{path.suffix}"))


def _most_interesting(recording: Recording, passes: list[int]) -> int:
    """The pass that failed, else the first."""
    return next((index for index in passes if recording.passes[index].error is not None), passes[0] if passes else 0)
