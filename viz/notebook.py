"""Shows a Recording or a recorder in a notebook as a film. Importing `viz` installs this.

The engine knows nothing of notebooks. Notebooks ask an object's class for `_repr_mimebundle_`, so no notebook software
is needed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microtape.recording.model.displayed import Displayed

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording

MOST_STEPS = 400  # of a film: the notebook's file stores all of it


def install() -> None:
    """Make recordings, and the `r` of `with microtape.record() as r`, display themselves from now on."""
    Displayed._repr_mimebundle_ = _mimebundle  # type: ignore[attr-defined]


def _mimebundle(displayed: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    return bundle(getattr(displayed, "recording", displayed))


def bundle(recording: Recording, pass_index: int | None = None, **film: Any) -> dict[str, str]:
    """A film of the recording; if that is too long, a film of one pass; if that is too long too, a picture.

    Args:
        recording: what to show.
        pass_index: the pass to show. None: all; where that is too much, the one that failed, or the first.
        film: further fields of the Film.
    """
    from viz.basics.errors import DrawError, GraphvizError
    from viz.drawing import draw
    from viz.films.film import Film

    plain = repr(recording)
    one = _most_interesting(recording) if pass_index is None else pass_index
    for passes in dict.fromkeys((pass_index, one)):
        try:
            made = Film(recording, pass_index=passes, most_steps=MOST_STEPS, **film)
            return {**made._repr_mimebundle_(), "text/plain": plain}
        except GraphvizError as error:
            return {"text/plain": f"{plain}\n({error})"}
        except DrawError:
            continue  # too long, or nothing to play
    try:
        return {"image/svg+xml": draw(recording, pass_index=one).svg(), "text/plain": plain}
    except DrawError as error:
        return {"text/plain": f"{plain}\n({error})"}


def _most_interesting(recording: Recording) -> int:
    """The pass that failed, else the first."""
    return next((number for number, one in enumerate(recording.passes) if one.has_failed), 0)
