"""Shows recordings, what is in them, and tensors in a notebook, as films and pictures. Importing `viz` installs this.

The engine knows nothing of notebooks. Notebooks ask a recording's class for `_repr_mimebundle_`; IPython is told the
names of the other classes, and imports none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from microtape.basics.call_site import ipython_shell
from microtape.recording.model.displayed import Displayed, recording_of

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording

MOST_STEPS = 400  # of a film: the notebook's file stores all of it

_PARTS = {  # module, class -> the function of `viz.notebook_parts` that shows one
    ("microtape.recording.model.model", "Pass"): "show_pass",
    ("microtape.recording.model.model", "NodeRecord"): "show_record",
    ("microtape.tensors.tensor", "Tensor"): "show_tensor",
    ("microtape.tape.node", "Node"): "show_node",
}


def install() -> None:
    """Make recordings, what is in them, the `r` of `with microtape.record() as r`, and tensors display themselves."""
    Displayed._repr_mimebundle_ = _mimebundle  # type: ignore[attr-defined]
    shell = ipython_shell()
    if shell is not None:
        for (module, name), function in _PARTS.items():
            shell.display_formatter.mimebundle_formatter.for_type_by_name(module, name, _later(function))


def _later(function: str) -> Callable[[Any], dict[str, str] | None]:
    def show(x: Any) -> dict[str, str] | None:
        shown: dict[str, str] | None = getattr(importlib.import_module("viz.notebook_parts"), function)(x)
        return shown

    return show


def _mimebundle(displayed: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    return bundle(recording_of(displayed))


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
