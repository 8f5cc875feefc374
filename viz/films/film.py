"""`film`: a recording as a page that plays it step by step, forwards and backwards, or as an animated GIF."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from microtape.basics.collector import paused
from microtape.recording.file.archive import write_whole
from microtape.recording.model.model import Recording
from microtape.recording.model.moment import Moment, PassTimeline
from viz.as_recording import as_recording
from viz.basics.arrangement import AS_USUAL
from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.graph import VisualGraph
from viz.basics.options import FEW, MAX_BOXES, Amount, Folding, as_whole_number, asked_details
from viz.basics.progress import Progress, ProgressCounter
from viz.basics.theme import theme_called
from viz.films.fit_frames import fit_frames
from viz.films.fixed_layout import fix_layout
from viz.films.gif import to_gif
from viz.films.inside_data import inside_data
from viz.films.page import film_page
from viz.films.page_data import ArrayTable, chapter_data
from viz.films.page_svg import page_svg
from viz.fitting.sizes import Fit
from viz.insides.inside_graph import inside_picture
from viz.insides.walk import Insides, find_insides, find_passes
from viz.output.dot import titles, to_dot
from viz.output.render import TIME_LIMIT, render
from viz.output.svg import read_svg, write_svg
from viz.planning.find_moment import find_moment
from viz.scene.heading import with_title
from viz.scene.scene import make_scene
from viz.scene.visual_graph import pictures

MOST_STEPS = 1000
PART = 200  # steps of a long pass that the error message suggests filming
SUFFIXES = ".html or .gif"


@dataclass(frozen=True, eq=False)
class Film:
    """A recording that can be played. In a notebook it displays itself.

    `viz.film` makes it and explains its fields.
    """

    recording: Recording
    pass_index: int | Collection[int] | None = None
    show: Collection[str] | None = None
    fold: bool | None = None
    depth: int | None = None
    open: str | Collection[str] = ()
    closed: str | Collection[str] = ()
    into: int | str | None = None
    max_boxes: int = MAX_BOXES
    most_steps: int = MOST_STEPS
    steps: tuple[int, int] | None = None
    step: int | None = None
    seconds: float = 1.0
    detail: Amount | None = None
    fit: Fit | None = None
    title: str | None = None
    theme: str | None = None
    time_limit: float = TIME_LIMIT
    progress: Progress = lambda done, of: None

    @cached_property
    def _shown(self) -> Collection[str] | None:
        """The details that `show` or `detail` asks for."""
        return asked_details(self.show, self.detail)

    def _folding(self, few: int = FEW) -> Folding:
        """What the user wants folded."""
        return Folding.asked(self.fold, self.depth, self.open, self.closed, few)

    @property
    def html(self) -> str:
        """The page: one self-contained file that loads nothing else. Raises DrawError."""
        return self._page[0]

    @cached_property
    def _page(self) -> tuple[str, VisualGraph]:
        """The page, and its last picture."""
        if self.fit is not None:
            raise DrawError("fit= is for a .gif: a page fits itself to its window")
        chapters, svgs, legend, values = [], [], {}, ArrayTable()
        count = ProgressCounter(self.progress)
        passes = self._filmed_passes(count, _page_work)
        for number, filmed in enumerate(passes):
            chapters.append(filmed.chapter(values))
            svgs.append(page_svg(filmed.pictures[0], f"p{number}", self.time_limit))
            legend.update(dict.fromkeys(filmed.pictures[0].legend))
            count.add(_page_work(len(filmed.pictures)))
        title = passes[0].pictures[0].title
        page = film_page(title, chapters, svgs, values.data, list(legend), opens=self.step, theme=self.theme)
        return page, passes[-1].pictures[-1]

    def still(self) -> str:
        """The last picture of the film as an SVG document. Raises DrawError."""
        picture, theme = self._page[1], theme_called(self.theme or "light")
        drawn = render(to_dot(picture, theme), "svg", time_limit=self.time_limit).decode("utf-8")
        return write_svg(read_svg(drawn, titles(picture)))

    def gif(self, *, scale: float = 1.0) -> bytes:
        """The film as an animated GIF, each step for `seconds`. Raises DrawError; needs the extra `gif`."""
        theme = theme_called(self.theme or "light")
        count = ProgressCounter(self.progress)
        if self.fit is None:
            frames, arrangement = self._frames(count), AS_USUAL
        else:
            may_fold = self.into is None and self.fold is None and not self._folding().is_detailed
            frames, arrangement = fit_frames(
                self._draft, self.fit, self._shown, theme, self.time_limit, may_fold=may_fold
            )
            count.begin(len(frames))
        dots = [to_dot(one, theme, "frame", arrangement) for one in frames]

        def drawn(dot: str) -> bytes:
            png = render(dot, "png", scale=scale, time_limit=self.time_limit)
            count.add()
            return png

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a child process
            return to_gif(list(pool.map(drawn, dots)), self.seconds)

    def _frames(self, count: ProgressCounter, few: int = FEW) -> list[VisualGraph]:
        return [one for filmed in self._filmed_passes(count, int, few) for one in filmed.pictures]

    def _draft(self, show: Collection[str] | None, fold: bool | None = None, few: int = FEW) -> list[VisualGraph]:
        """The frames with these details and folds."""
        film = replace(self, show=show, detail=None, fold=self.fold if fold is None else fold)
        return film._frames(ProgressCounter(lambda done, of: None), few)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the film in the format of the suffix, .html or .gif. Returns the path.

        Raises:
            DrawError: the suffix is neither, the film cannot be made, or the file cannot be written.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix in (".html", ".htm"):
            content = self.html.encode("utf-8")
        elif suffix == ".gif":
            content = self.gif()
        else:
            raise DrawError(f"cannot tell the format of {str(path)!r}: the name of a film should end in {SUFFIXES}")
        try:
            write_whole(path, content)
        except OSError as error:
            raise DrawError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
        return path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """For notebooks: the page in a frame, and a picture for hosts that show no frames."""
        page = escape(self.html, quote=True)
        frame = (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="{escape(self.recording.title)}" '
            'width="100%" height="640" style="border:0"></iframe>'
        )
        return {"text/html": frame, "image/svg+xml": self.still(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Film of {self.recording.title!r}: .html .gif() .save(path)>"

    def _filmed_passes(
        self, count: ProgressCounter, work_after: Callable[[int], int], few: int = FEW
    ) -> Sequence[_FilmedPass | _FilmedInside]:
        """The passes to show, each with its pictures. `work_after(n)` is the work that n pictures need afterwards.

        Folds open by themselves as long as a picture has at most `few` boxes.
        """
        recording = self.recording
        if self.into is not None:
            return self._filmed_insides(self.into, count, work_after)
        _check_passes(recording)
        every = range(len(recording.passes)) if self.pass_index is None else self.pass_index
        which = every if isinstance(every, Collection) else [every]
        timelines = [find_moment(recording, number, None).timeline for number in which]
        ranges = [self._range(timeline, len(timelines)) for timeline in timelines]
        steps = sum(last - first for first, last in ranges)
        less = (
            "film one pass with pass_index="
            if len(timelines) > 1
            else f"film a part with steps=(0, {min(PART, self.most_steps)})"
        )
        self._check_length(steps, less)
        counts = [last - first + 1 for first, last in ranges]
        count.begin(sum(counts) + sum(map(work_after, counts)))
        with paused():
            return [
                self._filmed_pass(timeline, *one, count, few) for timeline, one in zip(timelines, ranges, strict=True)
            ]

    def _filmed_insides(
        self, into: int | str, count: ProgressCounter, work_after: Callable[[int], int]
    ) -> list[_FilmedInside]:
        """What ran inside of a node: in the program, and in each of the passes."""
        if self.fold or self._folding().is_detailed or self.steps is not None:
            raise DrawError(
                "into= films what ran inside of one node: leave out fold=, depth=, open=, closed= and steps="
            )
        which = find_passes(self.recording, into, self.pass_index)
        found = [find_insides(self.recording, into, number) for number in which]
        self._check_length(sum(len(one.steps) for one in found), "film one pass with pass_index=")
        counts = [len(one.steps) + 1 for one in found]
        count.begin(sum(counts) + sum(map(work_after, counts)))
        made = []
        with paused():
            for one in found:
                drawn = []
                for done in range(len(one.steps) + 1):
                    drawn.append(with_title(inside_picture(one, done, self._shown, self.max_boxes), self.title))
                    count.add()
                made.append(_FilmedInside(one, fix_layout(drawn)))
        return made

    def _check_length(self, steps: int, less: str) -> None:
        if steps > as_whole_number("most_steps", self.most_steps):
            limit = f"the limit is most_steps={self.most_steps}"
            raise DrawError(f"{steps} steps are too many for one film ({limit}): {less}, or raise most_steps=")

    def _range(self, timeline: PassTimeline, passes: int) -> tuple[int, int]:
        """The first and the last moment to show, as counts of steps done."""
        count = len(timeline.steps)
        if self.steps is None:
            return 0, count
        if not isinstance(self.steps, Sequence) or len(self.steps) != 2:
            raise DrawError(f"steps={visible(repr(self.steps), 30)} is not valid: it takes two numbers, as in (0, 200)")
        first, last = (as_whole_number("steps", one) for one in self.steps)
        if passes > 1:
            raise DrawError("steps= needs a single pass: choose it with pass_index=")
        if not 0 <= first < last or first >= count:
            raise DrawError(f"steps=({first}, {last}) is not valid: the pass has {count} steps, counted from 0")
        return first, min(last, count)

    def _filmed_pass(
        self, timeline: PassTimeline, first: int, last: int, count: ProgressCounter, few: int
    ) -> _FilmedPass:
        scene = make_scene(timeline.at(), show=self._shown, folding=self._folding(few),
                           max_boxes=self.max_boxes, focus=False)  # fmt: skip
        moments = [timeline.at(done) for done in range(first, last + 1)]
        nodes = scene.selection.nodes
        if self.steps is not None:  # show only the rows of the tape that change
            touched = {node for done in range(first, last + 1) for node in (timeline.touched(done) if done else ())}
            nodes = tuple(node for node in nodes if node in touched)
        drawn = []
        for picture in pictures(timeline, scene, first, last):
            drawn.append(with_title(picture, self.title))
            count.add()
        return _FilmedPass(timeline, nodes, moments, fix_layout(drawn))


def _page_work(pictures: int) -> int:
    """The work of putting this many pictures on a page; the unit is the work of making one picture."""
    return pictures // 2 + 1


@dataclass(frozen=True, eq=False, slots=True)
class _FilmedPass:
    """A pass, or a part of one, with a picture for each moment."""

    timeline: PassTimeline
    nodes: Sequence[int]  # the rows of its tape
    moments: Sequence[Moment]
    pictures: Sequence[VisualGraph]

    def chapter(self, values: ArrayTable) -> dict[str, Any]:
        """The pass for the page; its arrays go into the table."""
        return chapter_data(self.timeline, self.nodes, self.moments, self.pictures, values)


@dataclass(frozen=True, eq=False, slots=True)
class _FilmedInside:
    """What ran inside of a node, with a picture before its first step and after each step."""

    insides: Insides
    pictures: Sequence[VisualGraph]

    def chapter(self, values: ArrayTable) -> dict[str, Any]:
        """The same as of a pass."""
        now = find_moment(self.insides.recording, self.insides.pass_index, None)
        return inside_data(now, self.insides, self.pictures, values)


def _check_passes(recording: Recording) -> None:
    """Raise DrawError for a recording without a backward pass."""
    if not recording.passes:
        raise DrawError(
            "there is nothing to play: no backward pass was recorded (microtape.record(loss.backward) records one)"
        )


def film(
    x: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    pass_index: int | Collection[int] | None = None,
    show: Collection[str] | None = None,
    fold: bool | None = None,
    depth: int | None = None,
    open: str | Collection[str] = (),
    closed: str | Collection[str] = (),
    into: int | str | None = None,
    max_boxes: int = MAX_BOXES,
    most_steps: int = MOST_STEPS,
    steps: tuple[int, int] | None = None,
    step: int | None = None,
    seconds: float = 1.0,
    detail: Amount | None = None,
    fit: Fit | None = None,
    title: str | None = None,
    theme: str | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Progress = lambda done, of: None,
) -> Film:
    """Make a film of a recording: every step of backward, with the tape, the graph and the current node's arrays.

    Args:
        x: a Recording, the `r` of `with microtape.record() as r`, or the path of a `.tape` file.
        path: the file to write, ending in `.html` or `.gif` (which needs Pillow). None: write none; the returned film
            displays itself in a notebook and can be saved.
        pass_index: which call of `backward` or `grad`, from 0, or several of them. None: all, one after another.
        show: the details to show, as for `viz.draw`.
        fold: whether to draw repetitions as one box, as for `viz.draw`.
        depth: how many levels of folds are open, as for `viz.draw`.
        open: folds to open, as for `viz.draw`.
        closed: folds to keep closed, as for `viz.draw`.
        into: film what ran inside of a node instead, as for `viz.draw`, step by step.
        max_boxes: the most boxes to draw at once.
        most_steps: the most steps to film.
        steps: the part of a long pass to film, as (steps done at its start, steps done at its end).
        step: the step at which a page opens, unless its address names one. None: the first.
        seconds: how long a GIF shows each step.
        detail: how much to show, in place of `show`, as for `viz.draw`.
        fit: where a GIF goes, as for `viz.draw`. A page fits itself to its window.
        title: the first line of the film. None: the program and the pass.
        theme: one of `viz.THEMES`. None: light or dark, as the reader's browser prefers (a GIF is light).
        time_limit: seconds that Graphviz may take.
        progress: called with (units done, units in all) while the film is made.

    Raises:
        TypeError: `x` is none of these.
        DrawError: no pass was recorded, or the film cannot be made or written.
        RecordingError: the `.tape` file is missing or damaged.
    """
    recording = as_recording(x, sys._getframe(1), "viz.film")
    asked_details(show, detail)
    if into is None:
        _check_passes(recording)
    made = Film(
        recording,
        pass_index=pass_index,
        show=show,
        fold=fold,
        depth=depth,
        open=open,
        closed=closed,
        into=into,
        max_boxes=max_boxes,
        most_steps=most_steps,
        steps=steps,
        step=step,
        seconds=seconds,
        detail=detail,
        fit=fit,
        title=title,
        theme=theme,
        time_limit=time_limit,
        progress=progress,
    )
    if path is not None:
        made.save(path)
    return made
