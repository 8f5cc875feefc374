"""A failed step in the picture: the message, the lines that matter, and who overwrote what was saved."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from microtape.recording.model import ErrorRecord, Recording, TensorRef
from microtape.recording.moment import Moment
from viz.characters import visible
from viz.extent import Key
from viz.graph import Arrow, Box, Row
from viz.naming import code_at, tensor_name, where

MESSAGE_WIDTH = 58
MOST_LINES = 8


def failure_boxes(now: Moment, nodes: Sequence[int], ranks: Mapping[Key, int]) -> tuple[list[Box], list[Arrow]]:
    """The error beside the node that raised it, and an arrow from what overwrote the tensors it had saved."""
    step = now.failed
    if step is None or step.error is None or step.node not in ranks:
        return [], []
    box = Box(
        id="error",
        kind="error",
        state="failed",
        title=visible(step.error.type, 60),
        note="",
        rows=(*_message(step.error.message), *_places(now.recording, step.error)),
        ports=(),
        tooltip=(visible(step.error.message, 1000),),
        rank=ranks[step.node],
        node=None,
    )
    arrows = [Arrow("error", None, f"n{step.node}", "note", "", False, "the error was raised here")]
    drawn = set(nodes)
    for used in step.saved:
        writer, _ = now.timeline.producer.get(TensorRef(used.ref.tensor, used.version_now), (None, 0))
        if used.version_now != used.ref.version and writer in drawn and writer != step.node:
            label = f"overwrote {tensor_name(now, used.ref)}"
            arrows.append(
                Arrow(
                    f"n{writer}",
                    None,
                    f"n{step.node}",
                    "overwrote",
                    label,
                    True,
                    f"%{writer} {label} after it was saved",
                )
            )
    return [box], arrows


def _message(message: str) -> list[Row]:
    lines = [part for line in message.splitlines() for part in textwrap.wrap(visible(line, 1000), MESSAGE_WIDTH)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: MESSAGE_WIDTH - 1] + "…"]
    return [Row("", line) for line in lines]


def _places(recording: Recording, error: ErrorRecord) -> list[Row]:
    return [
        Row(visible(role, 20), f"{where(recording, place)}  {code_at(recording, place, 40)}", "alarm")
        for role, place in error.places
    ]
