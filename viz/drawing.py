"""`draw` makes a picture of a recording, of a tensor's graph or of a `.tape` file; it returns a `Drawing`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from microtape.recording.file.archive import write_whole
from viz.as_recording import as_recording
from viz.basics.arrangement import AS_USUAL, Arrangement
from viz.basics.characters import visible
from viz.basics.errors import DrawError, GraphvizError, SmallTextWarning
from viz.basics.graph import VisualGraph
from viz.basics.options import FEW, MAX_BOXES, MEDIUM, Amount, Folding, asked_details
from viz.basics.theme import Theme, theme_called
from viz.fitting.choose import choose, small_text
from viz.fitting.drafts import drafts, without_notes
from viz.fitting.sheets import Sheets, sheets
from viz.fitting.sizes import Fit, sizes_of
from viz.insides.inside_graph import build_inside
from viz.output.clear import clear_names
from viz.output.dot import titles, to_dot
from viz.output.fonts import without_font
from viz.output.formats import picture_format
from viz.output.measure import Measures, measure
from viz.output.pages import can_write_pages, pdf_of_pages
from viz.output.render import TIME_LIMIT, Format, Waiting, render
from viz.output.svg import read_svg, write_svg
from viz.output.text import to_text
from viz.scene.heading import with_title
from viz.scene.visual_graph import build_graph


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture. It is laid out when it is first needed, and displays itself in a notebook.

    `dot` and `text()` are pure text and need no Graphviz; `svg()`, `png()` and `pdf()` run it in a child process.
    """

    graph: VisualGraph
    theme: Theme
    time_limit: float = TIME_LIMIT
    waiting: Waiting = lambda elapsed, limit: None
    arrangement: Arrangement = AS_USUAL
    sheets: Callable[[], tuple[VisualGraph, Sheets]] | None = None  # if its text is too small for one page of a PDF

    @cached_property
    def dot(self) -> str:
        """The DOT source: identical for identical programs, and valid input for a plain `dot`."""
        try:
            return to_dot(self.graph, self.theme, arrangement=self.arrangement)
        except ImportError as error:
            if isinstance(error, ModuleNotFoundError) and error.name == "graphviz":
                raise GraphvizError("the package graphviz is not installed: pip install graphviz") from None
            hint = "is a graphviz.py of your own in its way?"
            raise GraphvizError(f"the package graphviz cannot be imported ({hint}): {error}") from None

    @cached_property
    def _clear(self) -> tuple[Arrangement, str]:
        """The arrangement in which the names of frames can be read, and the SVG as Graphviz draws it."""

        def drawn(arrangement: Arrangement) -> str:
            return self._render("svg", arrangement).decode("utf-8")

        return clear_names(self.graph, self.arrangement, drawn)

    @cached_property
    def _svg(self) -> str:
        return write_svg(read_svg(self._clear[1], titles(self.graph)))

    def svg(self) -> str:
        """The picture as an SVG document. Raises GraphvizError, as do `png` and `pdf`."""
        return self._svg

    def png(self, scale: float | None = None) -> bytes:
        """The picture as a PNG file; `scale` 1 is 96 dots per inch. None: 2, or 1 for many boxes."""
        if scale is None:
            scale = 2.0 if len(self.graph.boxes) <= MEDIUM else 1.0
        return self._render("png", self._readable(), scale)

    def pdf(self) -> bytes:
        """The picture as a PDF file. Made with fit=, it has several pages where its text could not be read on one."""
        if self.sheets is None:
            return self._render("pdf", self._readable())
        if not can_write_pages():
            warnings.warn("a PDF of several pages needs pypdf: run `pip install pypdf`", stacklevel=2)
            return self._render("pdf", self._readable())
        graph, sheets = self.sheets()
        whole = replace(self, graph=graph, arrangement=sheets.arrangement, sheets=None)
        return pdf_of_pages(
            whole._render("pdf", sheets.arrangement),
            sheets.size,
            sheets.windows,
            sheets.page,
            sheets.margins,
            self.theme,
            lambda dot: render(dot, "pdf", time_limit=self.time_limit),
        )

    def _readable(self) -> Arrangement:
        """As `_clear`, which needs Graphviz, and without frames has nothing to do."""
        return self._clear[0] if any(box.clusters for box in self.graph.boxes) else self.arrangement

    def _render(self, format: Format, arrangement: Arrangement, scale: float = 1.0) -> bytes:
        if format != "svg" and (missing := without_font(self.dot)):  # a browser has fonts of its own
            warnings.warn(
                f"no font on this machine has {', '.join(missing)} and letters like it, which a .{format} shows as "
                "empty boxes: install a font for them (such as fonts-noto-cjk), or save an .svg",
                stacklevel=4,
            )
        dot = self.dot if arrangement == self.arrangement else to_dot(self.graph, self.theme, arrangement=arrangement)
        return render(dot, format, scale=scale, time_limit=self.time_limit, waiting=self.waiting)

    def text(self, *, ascii: bool = False) -> str:
        """The picture as text: the boxes from the inputs down, with their rows and the gradients they sent."""
        return to_text(self.graph, ascii=ascii)

    def save(self, path: str | os.PathLike[str], *, scale: float | None = None) -> Path:
        """Write the picture in the format of the suffix: .svg, .png, .pdf, .dot (or .gv), .txt. Returns the path.

        Args:
            path: the file.
            scale: for PNG, see `png`.

        Raises:
            DrawError: the suffix is none of these, or the file cannot be written.
        """
        path = Path(path)
        suffix = picture_format(path)
        if suffix == ".svg":
            content = self.svg().encode("utf-8")
        elif suffix == ".png":
            content = self.png(scale)
        elif suffix == ".pdf":
            content = self.pdf()
        elif suffix in (".dot", ".gv"):
            content = self.dot.encode("utf-8")
        else:
            content = self.text().encode("utf-8")
        try:
            write_whole(path, content)
        except OSError as error:
            raise DrawError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
        return path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """For notebooks: the SVG or, if Graphviz cannot draw it, the text and the reason."""
        try:
            return {"image/svg+xml": self.svg(), "text/plain": self.text()}
        except GraphvizError as error:
            return {"text/plain": f"{self.text()}\n({error})"}

    def __repr__(self) -> str:
        what = f"{self.graph.title!r}, {len(self.graph.boxes)} boxes"
        return f"<Drawing of {what}: .svg() .png() .pdf() .dot .text() .save(path)>"


def draw(
    x: Any,
    step: int | None = None,
    pass_index: int = 0,
    *,
    show: Collection[str] | None = None,
    around: int | str | None = None,
    radius: int = 2,
    fold: bool | None = None,
    depth: int | None = None,
    open: str | Collection[str] = (),
    closed: str | Collection[str] = (),
    into: int | str | None = None,
    max_boxes: int = MAX_BOXES,
    detail: Amount | None = None,
    fit: Fit | None = None,
    title: str | None = None,
    theme: str = "light",
    time_limit: float = TIME_LIMIT,
    waiting: Waiting = lambda elapsed, limit: None,
) -> Drawing:
    """Draw the graph that backward visits, as it is after some steps of a backward pass.

    Args:
        x: a Recording, or the `r` of `with microtape.record() as r`; the path of a `.tape` file; or a Tensor, a
            grad_fn, or a list of them, whose graph is drawn as it is now.
        step: how many nodes backward has evaluated, from 0. None: the end of the pass, with no current step.
        pass_index: which call of `backward` or `grad`, from 0.
        show: the details to show, any of `viz.DETAILS`. None: as many as stay readable in a graph of this size.
        around: draw only the neighbourhood of one node: its number, as `12` or `"%12"`, its name in the program, its
            operation or its line, as in `"softmax"` and `":42"`; of several, that of the last one.
        radius: how many edges the neighbourhood reaches.
        fold: whether to draw what belongs together as one box: modules, `microtape.scope`s, loops and functions. None:
            if there would be more than 25 boxes. What is then open is an overview: the outer levels, the last
            repetition of a loop, and the current step.
        depth: how many levels of folds are open, in place of the overview: 0 opens none, 1 those at the top.
        open: folds to open as well, by the names that the picture shows: `"cell"` opens every repetition, `"cell[3]"`
            one, `"cell[3:5]"` two; in a path, as in `"encoder.block[2].attention"`, those around it are opened as well.
        closed: folds to keep closed, by the same names.
        into: draw what ran inside of a node instead: in the forward and backward of a Function, in hooks, in the
            recomputation of a checkpoint. A number or a name, as for `around`, an operation as in `"Clip"`, or the name
            of a function that ran, as in `"Clip.backward"`. Then `step` counts the steps inside.
        max_boxes: the most boxes to draw at once.
        detail: how much to show, in place of `show`: `"brief"` (names, shapes and the gradients that travelled),
            `"lecture"` (values and gradients as well) or `"debug"` (formulas, saved tensors and source lines as well).
        fit: where the picture goes: `"slide"` (1280 by 720 pixels), `"a4"` (a page, upright or on its side), `"column"`
            (760 wide and at most 2000 high, for an issue or a page of documentation), or a size in pixels. The
            direction of the arrows, columns, and what was not asked for of details and folds are chosen so that the
            text is at least 12 pixels high; where that cannot be reached, a warning says so, and `pdf` makes several
            pages.
        title: the first line of the picture. None: the program and the pass.
        theme: one of `viz.THEMES`: `"light"`, `"dark"` or `"colourblind"`.
        time_limit: seconds that Graphviz may take.
        waiting: called repeatedly while Graphviz runs, with (seconds passed, `time_limit`).

    Raises:
        TypeError: `x` is none of these.
        DrawError: the picture cannot be drawn as asked; TooLargeError if there would be too many boxes.
        RecordingError: the `.tape` file is missing or damaged.
    """
    if isinstance(step, os.PathLike) or (isinstance(step, str) and Path(step).suffix):
        raise DrawError(f"viz.draw() writes no file: to write one, call viz.draw(...).save({_quoted(step)})")
    recording = as_recording(x, sys._getframe(1), "viz.draw")
    show, looks = asked_details(show, detail), theme_called(theme)
    folding = Folding.asked(fold, depth, open, closed)
    if into is not None and (around is not None or fold or folding.is_detailed):
        raise DrawError("into= draws what ran inside of one node: leave out around=, fold=, depth=, open= and closed=")

    def build(
        show: Collection[str] | None, fold: bool | None = fold, few: int = FEW, *, notes: bool = True
    ) -> VisualGraph:
        if into is not None:
            made = build_inside(recording, into, step=step, pass_index=pass_index, show=show, max_boxes=max_boxes)
        else:
            made = build_graph(recording, step=step, pass_index=pass_index, show=show, around=around, radius=radius,
                               fold=fold, depth=depth, open=open, closed=closed, max_boxes=max_boxes,
                               few=few)  # fmt: skip
        return with_title(made if notes else without_notes(made), title)

    def layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
        dot = to_dot(graph, looks, arrangement=arrangement)
        return measure(render(dot, "svg", time_limit=time_limit, waiting=waiting).decode("utf-8"))

    if fit is None:
        return Drawing(build(show), looks, time_limit, waiting)
    may_fold = into is None and around is None and fold is None and not folding.is_detailed
    fitted = choose(drafts(build, show, may_fold=may_fold), sizes_of(fit), layout)
    if not (advice := small_text(fitted)):
        return Drawing(fitted.graph, looks, time_limit, waiting, fitted.arrangement)
    warnings.warn(SmallTextWarning(f"{advice}, or save it as a .pdf of several pages"), stacklevel=2)

    def on_sheets() -> tuple[VisualGraph, Sheets]:
        graph = build(show)
        return graph, sheets(graph, fit, layout)

    return Drawing(fitted.graph, looks, time_limit, waiting, fitted.arrangement, on_sheets)


def _quoted(path: str | os.PathLike[str]) -> str:
    return '"' + visible(os.fspath(path), 60) + '"'
