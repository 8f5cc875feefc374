"""`film`: a recording as a page that plays it step by step, forwards and backwards, or as an animated GIF."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from microtape.recording.file.archive import write_whole
from microtape.recording.model.model import Recording
from viz.as_recording import as_recording
from viz.basics.arrangement import AS_USUAL
from viz.basics.errors import DrawError
from viz.basics.graph import VisualGraph
from viz.basics.options import FEW, MAX_BOXES, Amount, Folding, as_whole_number, asked_details
from viz.basics.progress import Progress, ProgressCounter
from viz.basics.theme import theme_called
from viz.films.filming import Filming, check_passes
from viz.films.fit_frames import fit_frames
from viz.films.gif import check_gif, to_gif
from viz.films.page import film_page
from viz.films.page_svg import page_svg
from viz.fitting.sizes import Fit
from viz.output.dot import titles, to_dot
from viz.output.formats import film_format
from viz.output.render import TIME_LIMIT, render
from viz.output.svg import read_svg, write_svg

MOST_STEPS, MOST_FRAMES = 100_000, 1000  # of a page, of a GIF


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
    most_steps: int | None = None
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

    @property
    def _folding(self) -> Folding:
        """What the user wants folded."""
        return Folding.asked(self.fold, self.depth, self.open, self.closed)

    @property
    def html(self) -> str:
        """The page: one self-contained file that loads nothing else. Raises DrawError."""
        return self._page[0]

    @cached_property
    def _page(self) -> tuple[str, VisualGraph]:
        """The page, and its last picture."""
        if self.fit is not None:
            zoom = "the browser's zoom (Ctrl and +) enlarges its text"
            raise DrawError(f"fit= is for a .gif: a page fits itself to its window, and {zoom}")
        if self.step is not None and as_whole_number("step", self.step) < 0:
            raise DrawError(f"step={self.step} is negative: it counts the steps that are done when the page opens")
        theme = theme_called(self.theme) if self.theme is not None else None
        chapters = []
        drawn: list[tuple[str, VisualGraph]] = []
        count = ProgressCounter(self.progress)
        passes = self._filming(MOST_STEPS).passes(count, _page_work)
        for number, filmed in enumerate(passes):
            chapter, layouts = filmed.page()
            chapters.append(chapter)
            ids = (f"p{number}o{opening}" if opening else f"p{number}" for opening in range(len(layouts)))
            drawn += [(id, layout.picture(0)) for id, layout in zip(ids, layouts, strict=True)]
            count.add(_page_work(len(filmed.layout)))
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a child process
            svgs = list(pool.map(lambda one: page_svg(one[1], one[0], self.time_limit), drawn))
        legend = list(dict.fromkeys(item for _, picture in drawn for item in picture.legend))
        named = {id: svg for (id, _), svg in zip(drawn, svgs, strict=True)}
        page = film_page(chapters, named, legend, opens=self.step, theme=theme)
        last = passes[-1].layout
        return page, last.picture(len(last) - 1)

    def still(self) -> str:
        """The last picture of the film as an SVG document. Raises DrawError."""
        picture, theme = self._page[1], theme_called(self.theme or "light")
        drawn = render(to_dot(picture, theme), "svg", time_limit=self.time_limit).decode("utf-8")
        return write_svg(read_svg(drawn, titles(picture)))

    def gif(self, *, scale: float = 1.0) -> bytes:
        """The film as an animated GIF, each step for `seconds`. Raises DrawError; needs the extra `gif`."""
        theme = theme_called(self.theme or "light")
        check_gif(self.seconds)
        count = ProgressCounter(self.progress)
        if self.fit is None:
            frames, arrangement, camera = self._frames(count), AS_USUAL, None
        else:
            may_fold = self.into is None and self.fold is None and not self._folding.is_detailed
            frames, arrangement, camera = fit_frames(
                self._draft, self.fit, self._shown, theme, self.time_limit, may_fold=may_fold
            )
            count.begin(len(frames))
        dots = [to_dot(one, theme, "frame", arrangement) for one in frames]

        def drawn(dot: str) -> bytes:
            png = render(dot, "png", scale=scale, time_limit=self.time_limit)
            count.add()
            return png

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a child process
            pngs = list(pool.map(drawn, dots))
        return to_gif(pngs, self.seconds, None if camera is None else camera.views(frames, scale))

    def _filming(self, most_steps: int) -> Filming:
        return Filming(
            self.recording,
            pass_index=self.pass_index,
            show=self._shown,
            folding=self._folding,
            into=self.into,
            max_boxes=self.max_boxes,
            most_steps=most_steps if self.most_steps is None else self.most_steps,
            steps=self.steps,
            title=self.title,
        )

    def _frames(self, count: ProgressCounter) -> list[VisualGraph]:
        return [one for filmed in self._filming(MOST_FRAMES).passes(count, int) for one in filmed.layout.pictures()]

    def _draft(self, show: Collection[str] | None, fold: bool | None = None, few: int = FEW) -> list[VisualGraph]:
        """The frames with these details and folds."""
        filming = self._filming(MOST_FRAMES).with_less(show, fold, few)
        count = ProgressCounter(lambda done, of: None)
        return [one for filmed in filming.passes(count, int) for one in filmed.layout.pictures()]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the film in the format of the suffix, .html or .gif. Returns the path.

        Raises:
            DrawError: the suffix is neither, the film cannot be made, or the file cannot be written.
        """
        path = Path(path)
        content = self.gif() if film_format(path) == ".gif" else self.html.encode("utf-8")
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
    most_steps: int | None = None,
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
        most_steps: the most steps to film. None: 100,000 on a page, 1,000 in a GIF.
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
        check_passes(recording)
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


def _page_work(pictures: int) -> int:
    """The work of putting this many pictures on a page; the unit is the work of making one picture."""
    return pictures // 2 + 1
