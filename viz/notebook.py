"""Shows a Recording in a notebook as a film. Importing `viz` installs this; the engine knows nothing of notebooks.

Notebooks ask an object's class for `_repr_mimebundle_`, so no notebook software is needed here.
"""

from __future__ import annotations

from microtape.recording.model.model import Recording
from viz.basics.errors import DrawError, GraphvizError
from viz.drawing import draw
from viz.films.film import Film

MOST_STEPS = 400  # of a film: the notebook's file stores all of it


def install() -> None:
    """Make recordings display themselves from now on."""
    Recording._repr_mimebundle_ = _mimebundle  # type: ignore[attr-defined]


def _mimebundle(recording: Recording, include: object = None, exclude: object = None) -> dict[str, str]:
    """A film of the recording; if that is too long, a film of one pass; if that is too long too, a picture."""
    plain = repr(recording)
    for pass_index in (None, _most_interesting(recording)):
        try:
            film = Film(recording, pass_index=pass_index, most_steps=MOST_STEPS)
            return {"text/html": film._repr_html_(), "text/plain": plain}
        except GraphvizError as error:
            return {"text/plain": f"{plain}\n({error})"}
        except DrawError:
            continue  # too long, or nothing to play
    try:
        picture = draw(recording, pass_index=_most_interesting(recording))
        return {"image/svg+xml": picture.svg(), "text/plain": plain}
    except DrawError as error:
        return {"text/plain": f"{plain}\n({error})"}


def _most_interesting(recording: Recording) -> int:
    """The pass that failed, else the first."""
    return next((number for number, one in enumerate(recording.passes) if one.has_failed), 0)
