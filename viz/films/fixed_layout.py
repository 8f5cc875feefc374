"""The pictures of a film as one layout and its changes: all have the same boxes, rows and arrows, each equally wide.

Graphviz then places everything once, and nothing moves during the film. A box or arrow that does not exist at a moment
is `absent`, which is invisible; texts are padded with no-break spaces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from viz.basics.graph import SPACE, WIDE_SPACE, Arrow, Box, LegendItem, Row, VisualGraph

_ArrowKey: TypeAlias = tuple[str, int | None, str, int]  # tail, port, head, and its index among the arrows between them
_Key = TypeVar("_Key")
_Part = TypeVar("_Part", Box, Arrow)


class History(Generic[_Part]):
    """A box or an arrow over time: how it looks from each of these pictures on; None where it is absent."""

    def __init__(self) -> None:
        self.since: list[int] = []  # numbers of pictures
        self.looks: list[_Part | None] = []

    def add(self, number: int, look: _Part | None) -> None:
        """Note how it looks in the next picture."""
        if not self.looks or (self.looks[-1] is not look and self.looks[-1] != look):
            self.since.append(number)
            self.looks.append(look)

    def at(self, number: int) -> _Part | None:
        """How it looks in that picture."""
        return self.looks[bisect_right(self.since, number) - 1]

    @property
    def there(self) -> list[_Part]:
        """All its looks, without its absence."""
        return [look for look in self.looks if look is not None]


class FixedLayout:
    """Takes the pictures of a film, one after another, and keeps what changes."""

    def __init__(self, pictures: Iterable[VisualGraph]) -> None:
        self.boxes: dict[str, History[Box]] = {}
        self._arrows: dict[_ArrowKey, History[Arrow]] = {}
        self._headings: list[VisualGraph] = []
        legend: dict[LegendItem, None] = {}
        for number, picture in enumerate(pictures):
            _take(self.boxes, number, {box.id: box for box in picture.boxes})
            _take(self._arrows, number, dict(_by_key(picture.arrows)))
            legend.update(dict.fromkeys(picture.legend))
            self._headings.append(replace(picture, boxes=(), arrows=(), legend=()))
        self._legend = tuple(legend)
        self._slots = {id: _BoxSlots.of(history.there) for id, history in self.boxes.items()}

    def __len__(self) -> int:
        """How many pictures there are."""
        return len(self._headings)

    @property
    def arrows(self) -> list[History[Arrow]]:
        """The arrows, in the order in which every picture of this layout has them."""
        return list(self._arrows.values())

    def heading(self, number: int) -> VisualGraph:
        """A picture without its boxes, arrows and legend."""
        return self._headings[number]

    def picture(self, number: int) -> VisualGraph:
        """A picture with the boxes, rows and arrows of all. Titles, subtitles and notes stay as they are."""
        boxes = [
            self._slots[id].fill(history.at(number) or replace(history.there[-1], state="absent"))
            for id, history in self.boxes.items()
        ]
        arrows = [_widened(history, number) for history in self._arrows.values()]
        return replace(self._headings[number], boxes=tuple(boxes), arrows=tuple(arrows), legend=self._legend)

    def pictures(self) -> list[VisualGraph]:
        """All of them."""
        return list(map(self.picture, range(len(self))))

    def rows(self, box: Box) -> list[Row]:
        """The rows of a box and then those of its ports: as many as the box has in every picture."""
        slots = self._slots[box.id]
        ports = zip(box.ports, slots.ports, strict=True)
        return [*slots.rows.all(box.rows), *(row for port, of in ports for row in of.all(port.rows))]


class _Slots(NamedTuple):
    """The rows of a box or of a port: how wide each is in any picture, and whether it has a key in any."""

    keys: int
    widths: tuple[int, ...]
    keyed: tuple[bool, ...]

    @staticmethod
    def of(versions: Iterable[Sequence[Row]]) -> _Slots:
        slots = [[row for row in slot if row is not None] for slot in zip_longest(*versions)]
        return _Slots(
            max((len(row.key) for slot in slots for row in slot), default=0),
            tuple(max(len(row.text) for row in slot) for slot in slots),
            tuple(any(row.key for row in slot) for slot in slots),
        )

    def all(self, rows: Sequence[Row]) -> list[Row]:
        """The rows, and empty ones where there are more in other pictures."""
        return [*rows, *[_EMPTY] * (len(self.widths) - len(rows))]

    def fill(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """All rows, equally wide in each picture. A row that has no key in any picture gets none."""
        return tuple(
            replace(
                row,
                key=row.key.ljust(self.keys, SPACE) if keyed else "",
                text=row.text.ljust(width, SPACE if keyed else WIDE_SPACE),
            )
            for row, width, keyed in zip(self.all(rows), self.widths, self.keyed, strict=True)
        )


class _BoxSlots(NamedTuple):
    """The rows of a box and of each of its ports."""

    rows: _Slots
    ports: tuple[_Slots, ...]

    @staticmethod
    def of(versions: Sequence[Box]) -> _BoxSlots:
        ports = range(len(versions[-1].ports))
        return _BoxSlots(
            _Slots.of(box.rows for box in versions),
            tuple(_Slots.of(box.ports[number].rows for box in versions) for number in ports),
        )

    def fill(self, box: Box) -> Box:
        """The box, as large as in every picture."""
        ports = zip(box.ports, self.ports, strict=True)
        return replace(
            box,
            rows=self.rows.fill(box.rows),
            ports=tuple(replace(port, rows=of.fill(port.rows)) for port, of in ports),
        )


_EMPTY = Row("", "")


def _take(histories: dict[_Key, History[_Part]], number: int, there: Mapping[_Key, _Part]) -> None:
    """Add the boxes or the arrows of the next picture."""
    for key in there:
        if key not in histories:
            histories[key] = History()
            if number:
                histories[key].add(0, None)
    for key, history in histories.items():
        history.add(number, there.get(key))


def _widened(history: History[Arrow], number: int) -> Arrow:
    """The arrow with a text as wide as in every picture."""
    versions = history.there
    written = any(arrow.written for arrow in versions)
    width = max(len(arrow.text) for arrow in versions)
    base = history.at(number) or replace(versions[-1], kind="absent", text="", written=False, wrong=False)
    return replace(base, text=(base.text if base.written else "").ljust(width, SPACE), written=written and width > 0)


def _by_key(arrows: Iterable[Arrow]) -> Iterator[tuple[_ArrowKey, Arrow]]:
    count: dict[tuple[str, int | None, str], int] = {}
    for arrow in arrows:
        ends = (arrow.tail, arrow.port, arrow.head)
        count[ends] = count.get(ends, 0) + 1
        yield (*ends, count[ends]), arrow
