"""The text above a picture: the program, the pass, the current step, and notes about what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import ErrorRecord
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.graph import LINE_WIDTH, VisualGraph
from viz.planning.display_names import location
from viz.scene.saved_and_hooks import overwritten_saved

TERM_WIDTH = 22
_ADVICE = re.compile(r" \(\w+=\d+ keeps all\)$")  # how to record more
_OF_COMMAND = re.compile(r"; --pass all .*$")  # ends a note that says nothing about what is in the picture


def title(now: Moment) -> str:
    """The program and the pass: `spiral.py: backward() at line 40, pass 2`."""
    name = visible(now.recording.title, 60)
    if now.pass_ is None:
        return name
    place = f" at {location(now.recording, now.pass_.place)}" if now.pass_.place else ""
    number = f", pass {now.pass_.index + 1}" if len(now.recording.passes) > 1 or now.pass_.index else ""
    return f"{name}: {now.pass_.kind}(){place}{number}"


def with_title(graph: VisualGraph, text: str | None) -> VisualGraph:
    """The picture with the user's title; None keeps its own. Raises DrawError if it is no text."""
    if text is not None and not isinstance(text, str):
        raise DrawError(f"title={visible(repr(text), 30)} is not valid: it takes a text")
    return graph if text is None else replace(graph, title=visible(text, LINE_WIDTH))


def subtitle(now: Moment) -> str:
    """The position in the pass, and what the current step did."""
    if now.pass_ is None:
        if not now.recording.options.get("snapshot"):
            return "no backward pass was recorded"
        if spoilt := overwritten_saved(now):
            node, name = spoilt
            return f"backward fails at {_node(now, node.id)}: {name}, which it saved, was overwritten"
        gone = ", after backward: what was saved for it has been freed" if now.recording.freed else ""
        return f"the graph as it is now{gone}"
    if now.failed is not None:
        return f"failed in step {now.steps_done}: {_node(now, now.failed.node)}"
    total = len(now.pass_.steps)
    if now.pass_.error is not None and now.steps_done == total:
        if now.pass_.is_cut_short:
            return f"after step {total}, where the recording of this pass ends"
        return visible(f"failed: {_first_line(now.pass_.error)}", LINE_WIDTH)
    if now.steps_done == 0:
        return f"before step 1 of {total}" if total else "backward took no step"
    if now.current is None:
        return f"after all {total} steps" if total > 1 else "after its only step"
    return f"after step {now.steps_done} of {total}: {_node(now, now.current.node)}{_sent(now)}"


def notes(now: Moment, nodes: Sequence[int]) -> list[str]:
    """Notes about values that the recording lacks, and the error that ended the program, if any."""
    recording, found = now.recording, []
    if recording.error is not None:
        found.append(f"the program raised {_first_line(recording.error)}")
    refs = dict.fromkeys(ref for node in nodes for ref in recording.nodes[node].outputs if ref is not None)
    missing = sum(recording.value(ref) is None for ref in refs)
    if missing:
        about = "are gone: nothing kept them" if recording.options.get("snapshot") else "were not recorded"
        found.append(f"{missing} of {len(refs)} values {about}")
    found += [note for note in recording.notes if not _OF_COMMAND.search(note)]
    return [visible(_ADVICE.sub("", note), LINE_WIDTH) for note in found]


def note_advice(now: Moment) -> list[str]:
    """What recorded notes say about seeing more, which `notes` leaves out."""
    return [
        visible(note, LINE_WIDTH) for note in now.recording.notes if _ADVICE.search(note) or _OF_COMMAND.search(note)
    ]


def _first_line(error: ErrorRecord) -> str:
    return f"{error.type}: {error.message.partition(chr(10))[0]}"


def _node(now: Moment, node: int) -> str:
    return f"%{node} {visible(now.recording.nodes[node].name, 40)}"


def _sent(now: Moment) -> str:
    """The gradients that the current step sent, if there are at most three."""
    sent = now.current.deliveries if now.current else ()
    if not 1 <= len(sent) <= 3:
        return ""
    labels = (visible(now.recording.label(one.node), 16) for one in sent)
    terms = [f"{format_value(one.term, TERM_WIDTH)} to {label}" for one, label in zip(sent, labels, strict=True)]
    return f" sent {' and '.join(terms)}"
