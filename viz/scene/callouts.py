"""Callouts: boxes beside the culprits that say what is wrong, for a failed step and for findings alike."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping

from microtape.recording.findings import Finding
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Arrow, ArrowKind, Box, BoxState, Row
from viz.basics.options import Detail
from viz.planning.box_plan import BoxPlan, Key
from viz.planning.display_names import code_at, location
from viz.scene.failure import failure_callout, overwriter_arrows
from viz.scene.findings import boxes_of, happened, mark

MESSAGE_WIDTH = 58
MOST_LINES, FEW_LINES = 8, 2  # FEW_LINES: where a picture shows little
MOST_CALLOUTS = 3  # in a picture; the other culprits have their rows
FAILURES = ("overwritten", "freed", "wrong return", "hook failed", "failed")  # the error's own callout shows them


def callouts(
    now: Moment, plan: BoxPlan, ranks: Mapping[Key, int], boxes: Mapping[Key, Box], shown: Collection[Detail]
) -> tuple[list[Box], list[Arrow]]:
    """The error beside the node that raised it, the most severe findings beside their culprits, and their arrows."""
    found: list[Box] = []
    arrows: list[Arrow] = []
    looped = {link.tail for link in plan.links if link.tail == link.head}

    def add(id: str, key: Key, title: str, message: str, places: tuple[Row, ...], about: str) -> None:
        rows = (*_message(message, MOST_LINES if "values" in shown else FEW_LINES), *places)
        state: BoxState = "failed" if id == "error" else ""
        found.append(Box(id, "error", state, title, "", rows, (), (visible(message, 1000),), ranks[key], None))
        kind: ArrowKind = "absent" if key in looped else "note"  # its line would run through the loop's number
        arrows.append(Arrow(id, None, boxes[key].id, kind, "", False, about, aside=True))

    failure = failure_callout(now)
    if failure is not None and failure.node in plan.key_of:
        key = plan.key_of[failure.node]
        add("error", key, failure.title, failure.message, failure.places, "the error was raised here")
        arrows += overwriter_arrows(now, plan, boxes, boxes[key].id)
    if "findings" not in shown:
        return found, arrows
    places = [(one, boxes_of(one, plan)) for one in happened(now) if one.kind not in FAILURES]
    drawn = [(one, keys[0]) for one, keys in places if keys]
    for number, (one, key) in enumerate(drawn[: MOST_CALLOUTS - len(found)]):
        add(f"finding{number}", key, mark(one), one.headline, _line(now, one), "this is where it is wrong")
    return found, arrows


def _line(now: Moment, one: Finding) -> tuple[Row, ...]:
    if one.place is None:
        return ()
    return (Row(location(now.recording, one.place), code_at(now.recording, one.place, 40), "alarm"),)


def _message(message: str, most: int) -> list[Row]:
    lines = [part for line in message.splitlines() for part in textwrap.wrap(visible(line, 1000), MESSAGE_WIDTH)]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: MESSAGE_WIDTH - 1] + "…"]
    return [Row("", line) for line in lines]
