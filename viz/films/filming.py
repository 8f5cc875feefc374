"""Makes the pictures of a film: of each pass, or of what ran inside of a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from microtape.basics.collector import paused
from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.graph import VisualGraph
from viz.basics.options import Folding, as_whole_number
from viz.basics.progress import ProgressCounter
from viz.films.fixed_layout import FixedLayout
from viz.films.inside_data import inside_chapter
from viz.films.openings import find_openings
from viz.films.page_data import Chapter, changes, chapter_of, steps_of_boxes
from viz.insides.inside_graph import inside_picture
from viz.insides.walk import Insides, find_insides, find_passes
from viz.planning.find_moment import find_moment
from viz.scene.heading import with_title
from viz.scene.scene import Scene, make_scene
from viz.scene.visual_graph import pictures

PART = 200  # steps of a long pass that the error message suggests filming


@dataclass(frozen=True, eq=False, slots=True)
class FilmedPass:
    """A pass, or a part of one, with a picture for each moment."""

    timeline: PassTimeline
    nodes: Sequence[int]  # the rows of its tape
    moments: Sequence[Moment]
    layout: FixedLayout
    scene: Scene
    more_layouts: Callable[[Scene], FixedLayout]
    max_boxes: int

    def page(self) -> tuple[Chapter, list[FixedLayout]]:
        """The pass for the page, and all pictures that it may show there: its own, and those with more folds open."""
        openings = find_openings(self.timeline.at(), self.scene, self.max_boxes, len(self.moments))
        layouts = [self.layout, *(self.more_layouts(one.scene) for one in openings[1:])]
        chapter = chapter_of(self.timeline, self.nodes, self.moments, self.layout)
        opened = [
            {**changes(layout), "clicks": steps_of_boxes(layout), "opens": one.opens, "closes": one.closes}
            for one, layout in zip(openings, layouts, strict=True)
        ]
        return replace(chapter, data={**chapter.data, **opened[0], "openings": opened[1:]}), layouts


@dataclass(frozen=True, eq=False, slots=True)
class FilmedInside:
    """What ran inside of a node, with a picture before its first step and after each step."""

    insides: Insides
    layout: FixedLayout

    def page(self) -> tuple[Chapter, list[FixedLayout]]:
        """The same as of a pass; nothing in it is folded."""
        now = find_moment(self.insides.recording, self.insides.pass_index, None)
        chapter = inside_chapter(now, self.insides, self.layout)
        return replace(chapter, data={**chapter.data, "opens": {}, "closes": {}, "openings": []}), [self.layout]


@dataclass(frozen=True, eq=False)
class Filming:
    """What to film of a recording; for the fields see `viz.film`."""

    recording: Recording
    pass_index: int | Collection[int] | None
    show: Collection[str] | None
    folding: Folding
    into: int | str | None
    max_boxes: int
    most_steps: int
    steps: tuple[int, int] | None
    title: str | None

    def with_less(self, show: Collection[str] | None, fold: bool | None, few: int) -> Filming:
        """The same with these details, folded if `fold` says so; folds open by themselves up to `few` boxes."""
        fold = self.folding.fold if fold is None else fold
        return replace(self, show=show, folding=replace(self.folding, fold=fold, few=few))

    def passes(self, count: ProgressCounter, work_after: Callable[[int], int]) -> Sequence[FilmedPass | FilmedInside]:
        """The passes to show, each with its pictures. `work_after(n)` is the work that n pictures need afterwards."""
        recording = self.recording
        if self.into is not None:
            return self._filmed_insides(self.into, count, work_after)
        check_passes(recording)
        every = range(len(recording.passes)) if self.pass_index is None else self.pass_index
        which = every if isinstance(every, Collection) else [every]
        if not which:
            raise DrawError(f"pass_index={self.pass_index!r} is not valid: it names no pass")
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
            return [self._filmed_pass(timeline, *one, count) for timeline, one in zip(timelines, ranges, strict=True)]

    def _filmed_insides(
        self, into: int | str, count: ProgressCounter, work_after: Callable[[int], int]
    ) -> list[FilmedInside]:
        """What ran inside of a node: in the program, and in each of the passes."""
        if self.folding.fold or self.folding.is_detailed or self.steps is not None:
            raise DrawError(
                "into= films what ran inside of one node: leave out fold=, depth=, open=, closed= and steps="
            )
        which = find_passes(self.recording, into, self.pass_index)
        found = [find_insides(self.recording, into, number) for number in which]
        self._check_length(sum(len(one.steps) for one in found), "film one pass with pass_index=")
        counts = [len(one.steps) + 1 for one in found]
        count.begin(sum(counts) + sum(map(work_after, counts)))
        with paused():
            return [
                FilmedInside(
                    one,
                    self._layout(
                        (inside_picture(one, done, self.show, self.max_boxes) for done in range(len(one.steps) + 1)),
                        count,
                    ),
                )
                for one in found
            ]

    def _layout(self, pictures: Iterable[VisualGraph], count: ProgressCounter) -> FixedLayout:
        def counted() -> Iterator[VisualGraph]:
            for picture in pictures:
                yield with_title(picture, self.title)
                count.add()

        return FixedLayout(counted())

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

    def _filmed_pass(self, timeline: PassTimeline, first: int, last: int, count: ProgressCounter) -> FilmedPass:
        scene = make_scene(timeline.at(), show=self.show, folding=self.folding, max_boxes=self.max_boxes, focus=False)
        moments = [timeline.at(done) for done in range(first, last + 1)]
        nodes = scene.selection.nodes
        if self.steps is not None:  # show only the rows of the tape that change
            touched = {node for done in range(first, last + 1) for node in (timeline.touched(done) if done else ())}
            nodes = tuple(node for node in nodes if node in touched)

        def more(other: Scene) -> FixedLayout:
            uncounted = ProgressCounter(lambda done, of: None)
            return self._layout(pictures(timeline, other, first, last), uncounted)

        layout = self._layout(pictures(timeline, scene, first, last), count)
        return FilmedPass(timeline, nodes, moments, layout, scene, more, self.max_boxes)


def check_passes(recording: Recording) -> None:
    """Raise DrawError for a recording without a backward pass."""
    if not recording.passes:
        raise DrawError(
            "there is nothing to play: no backward pass was recorded (microtape.record(loss.backward) records one)"
        )
