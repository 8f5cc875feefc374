"""`microtape film`: write the passes as a page that plays them, or as a GIF."""

from __future__ import annotations

import argparse
import warnings

import viz
from microtape.recording.model.model import Recording
from tui.commands.picture_options import as_typed, contents, given, look, open_passes
from tui.shell.exits import CommandError, Exit, say
from tui.shell.progress import ProgressBar
from viz.output.formats import film_format


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if not arguments.out:
        raise CommandError("film needs -o with the name of the page, such as -o run.html")
    seconds = given({"seconds": arguments.seconds})

    def save(recording: Recording, out: str) -> None:
        viz.film(recording, **seconds, **look(arguments)).save(out)

    recording, passes, code = open_passes(arguments, film_format, save)
    with ProgressBar() as bar, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = viz.film(
                recording,
                pass_index=passes if arguments.passes or arguments.until else None,
                progress=lambda done, of: bar.show(done / of, f"{done * 100 // of} %"),
                **given({"steps": arguments.steps, "most_steps": arguments.most_steps}),
                **seconds,
                **contents(arguments),
            )
            path = made.save(arguments.out)
        except viz.DrawError as error:
            raise CommandError(as_typed(str(error)), Exit.CANNOT_DRAW) from None
    say(f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")
    for one in told:
        say(as_typed(str(one.message)))
    return code
