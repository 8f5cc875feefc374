"""Makes the frames of a GIF fit into a place: all are arranged alike, as suits the last one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence

from viz.basics.arrangement import Arrangement
from viz.basics.graph import VisualGraph
from viz.basics.theme import Theme
from viz.fitting.choose import choose, small_text
from viz.fitting.columns import wrap
from viz.fitting.drafts import drafts
from viz.fitting.sizes import Fit, sizes_of
from viz.output.dot import to_dot
from viz.output.measure import Measures, measure
from viz.output.render import render


def fit_frames(
    build: Callable[..., Sequence[VisualGraph]],
    fit: Fit,
    show: Collection[str] | None,
    theme: Theme,
    time_limit: float,
    *,
    may_fold: bool,
) -> tuple[list[VisualGraph], Arrangement]:
    """The frames that fit, and their arrangement; `build` makes frames, as `viz.fitting.drafts` says."""
    frames_of: dict[int, Sequence[VisualGraph]] = {}

    def last_frame(show: Collection[str] | None, *folding: object) -> VisualGraph:
        frames = build(show, *folding)
        frames_of[id(frames[-1])] = frames  # the dict keeps the frames alive, so that ids are not reused
        return frames[-1]

    def layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
        dot = to_dot(graph, theme, "frame", arrangement)
        return measure(render(dot, "svg", time_limit=time_limit).decode("utf-8"))

    fitted = choose(drafts(last_frame, show, may_fold=may_fold), sizes_of(fit), layout)
    if advice := small_text(fitted):
        warnings.warn(advice, stacklevel=4)
    return [wrap(one, fitted.columns) for one in frames_of[id(fitted.draft)]], fitted.arrangement
