"""Makes the frames of a GIF fit into a place: all are arranged alike, as suits the last one.

Where their text could not be read, they are larger than the place, and a camera follows the current box.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence

from viz.basics.arrangement import Arrangement
from viz.basics.errors import SmallTextWarning
from viz.basics.graph import VisualGraph
from viz.basics.theme import Theme
from viz.films.camera import Camera
from viz.fitting.choose import READABLE, choose, small_text
from viz.fitting.columns import wrap
from viz.fitting.drafts import drafts, without_notes
from viz.fitting.sizes import Fit, Size, sizes_of
from viz.output.dot import to_dot
from viz.output.labels import CODE_SIZE
from viz.output.measure import Measures, Rectangle, measure
from viz.output.render import render

MOST_PIXELS = 20_000  # of a side of a frame: Graphviz draws no larger pictures


def fit_frames(
    build: Callable[..., Sequence[VisualGraph]],
    fit: Fit,
    show: Collection[str] | None,
    theme: Theme,
    time_limit: float,
    *,
    may_fold: bool,
) -> tuple[list[VisualGraph], Arrangement, Camera | None]:
    """The frames, their arrangement, and the camera if one is needed; `build` makes frames, as `drafts` says."""
    frames_of: dict[int, Sequence[VisualGraph]] = {}

    def last_frame(show: Collection[str] | None, *folding: object, notes: bool = True) -> VisualGraph:
        frames = build(show, *folding)
        frames = frames if notes else [without_notes(one) for one in frames]
        frames_of[id(frames[-1])] = frames  # the dict keeps the frames alive, so that ids are not reused
        return frames[-1]

    def layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
        dot = to_dot(graph, theme, "frame", arrangement)
        return measure(render(dot, "svg", time_limit=time_limit).decode("utf-8"))

    fitted = choose(drafts(last_frame, show, may_fold=may_fold), sizes_of(fit), layout)
    if not (advice := small_text(fitted)):
        return [wrap(one, fitted.columns) for one in frames_of[id(fitted.draft)]], fitted.arrangement, None
    frames, room = list(build(show)), sizes_of(fit)[0]
    found = layout(frames[-1], Arrangement(smallest=CODE_SIZE))
    scale = READABLE / found.smallest  # pixels of a point
    size = Size(found.width * scale, found.height * scale)
    boxes = {id: Rectangle(*(side * scale for side in box)) for id, box in found.boxes.items()}
    camera = Camera(size, room, boxes)
    if max(size) > MOST_PIXELS or not camera.shows_whole_boxes:
        warnings.warn(SmallTextWarning(advice), stacklevel=4)
        return [wrap(one, fitted.columns) for one in frames_of[id(fitted.draft)]], fitted.arrangement, None
    return frames, Arrangement("down", *size, CODE_SIZE), camera
