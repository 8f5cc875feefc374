"""Writes in place and versions in words: what a write replaced, who had saved that, and who will miss it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression
from microtape.recording.model.versions import Fate, Saver, Version, Write
from tui.shell.spans import Line, Role, Span, line, plain, sentence_list
from tui.time.cursor import StepCursor

FATES: dict[Fate, tuple[str, Role]] = {
    "lost": ("will miss it", "bad"),
    "intact": ("had used it before", "dim"),
    "unused": ("backward does not use", "dim"),
}
WORTH = 16  # characters: in less room than this, the old and the new value say nothing
FULL = 40  # characters of a value
NAMED = 3  # tensors of an update that are named


def write_line(cursor: StepCursor, writes: Sequence[Write], width: int, *, values: bool) -> Line:
    """`version 0 → 1, saved by exp (line 4), which will miss it` for the row below a node.

    Without a node, it begins with what was written. With `values`, it has the old and the new one if there is room.
    """
    if len(writes) > 1 and writes[0].node is None:
        return _many(cursor, writes)
    found: list[Line] = []
    for write in writes:
        begin = _subject(cursor, write, several=len(writes) > 1)
        saved = saved_by(cursor, write)
        room = width - len(plain(begin)) - len(plain(saved)) - 2
        change = _change(cursor, write, room) if values else ()
        found.append(line(*begin, *change, ", ", *saved))
    return line(*(span for i, one in enumerate(found) for span in (Span("; " if i else ""), *one)))


def saved_by(cursor: StepCursor, write: Write) -> Line:
    """`saved by nobody`, or `saved by exp (line 4), which will miss it`."""
    savers = cursor.timeline.versions.overwritten(write)
    fates: list[Fate] = [fate for fate in FATES if any(one.fate == fate for one in savers)]
    if not fates:
        return line(Span("saved by nobody", "dim"))
    groups: list[Line] = []
    for i, fate in enumerate(fates):
        who = sentence_list([_saver(cursor, one) for one in savers if one.fate == fate], 2)
        text, role = FATES[fate]
        groups.append(line("; " if i else "saved ", "by ", *who, Span(f", which {text}", role)))
    return line(*(span for one in groups for span in one))


def version_lines(cursor: StepCursor, tensor: int, width: int) -> Iterator[Line]:
    """The versions of a tensor's memory: who made each, with its value, who saved it and who read it."""
    versions = cursor.timeline.versions
    owner = versions.owner(tensor)
    yield from _whose(cursor, tensor, owner)
    every = versions.of(owner)
    detached = [one for one in versions.writes.get(owner, ()) if one.before == one.after]
    for version in every:
        yield line(Span(f"v{version.number}".ljust(5), "strong"), *_maker(cursor, version))
        value = versions.value(owner, version.number)
        text = format_value(value, max(width - 9, WORTH)) if value is not None else "not kept"
        yield line(_label("value"), Span(text, "value" if value is not None else "dim"))
        later = any(one.write is not None and one.write.before >= version.number for one in every)
        yield line(_label("saved"), *_savers(cursor, version.savers, overwritten=later))
        readers = [_node(cursor, cursor.recording.nodes[one]) for one in version.readers]
        yield line(_label("read"), *(sentence_list(readers, 4) if readers else line(Span("by nobody", "dim"))))
        for write in detached:
            if write.before == version.number:
                yield line(_label("then"), Span(f"{write.op} took its history away", "warn"), _at(write.place))


def view_of(cursor: StepCursor, tensor: int) -> str:
    """`a view of x`, `detached from x: the same memory`; empty for a tensor with memory of its own."""
    owner = cursor.timeline.versions.owner(tensor)
    if owner == tensor:
        return ""
    name = cursor.tensor_label(owner)
    is_view = cursor.recording.tensors[tensor].base is not None
    return f"a view of {name}" if is_view else f"detached from {name}: the same memory"


def copy_slices_lines(cursor: StepCursor, node: NodeRecord) -> Iterator[Line]:
    """What a CopySlices did: whose memory was written, through which view, and what it recorded again."""
    ref = node.outputs[0] if node.outputs else None
    if node.kind != "copy_slices" or ref is None:
        return
    base, view = cursor.tensor_label(ref.tensor), cursor.timeline.versions.view_written(node.id)
    named = cursor.recording.tensors[view].name if view is not None else ""
    through = named or expression(cursor.recording, node.place) or "a view"
    whole = Span(base, "name")
    yield line(
        Span(through, "name"), " is a view of ", whole, ", so the write is to ", whole, ", which gets a new history"
    )
    again = f"; %{node.id + 1} records the view anew" if view is not None else ""
    op = Span(node.op.partition(" into ")[0], "op")
    yield line("backward sends the view's part of the gradient through ", op, f", the rest straight on{again}")


def _subject(cursor: StepCursor, write: Write, *, several: bool) -> Line:
    """`version 0 → 1`; for a write without a node `w: sub_ in no_grad, version 0 → 1`."""
    if write.node is not None:
        name = line(Span(cursor.tensor_label(write.tensor), "name"), ": ") if several else ()
        return line(*name, f"version {write.before} → {write.after}")
    border = cursor.recording.borders[write.border or 0]
    name = line(Span(_written(cursor, write), "name"), ": ")
    op = write.op if write.op.endswith("_") else f"{write.op}_"
    if write.before == write.after:
        return line(*name, Span(op, "op"), " ends its history, no value written", _at(write.place))
    where = f" in {border.kind}" if border.kind in ("no_grad", "inference_mode") else ""
    return line(*name, Span(op, "op"), where, _at(write.place), f", version {write.before} → {write.after}")


def _written(cursor: StepCursor, write: Write) -> str:
    """The tensor whose memory was written to, and through which other tensor of the user's."""
    owner, name = cursor.timeline.versions.owner(write.tensor), cursor.recording.tensors[write.tensor].name
    through = f", through {name}" if owner != write.tensor and name else ""
    return f"{cursor.tensor_label(owner)}{through}"


def _many(cursor: StepCursor, writes: Sequence[Write]) -> Line:
    """`6 tensors written in place: W1, b1, W2 and 3 others`."""
    names = dict.fromkeys(_written(cursor, one) for one in writes)
    missed = [one for one in writes if any(s.fate == "lost" for s in cursor.timeline.versions.overwritten(one))]
    lost = f"; {len(missed)} of the old values will be missed" if missed else ""
    return line(f"{len(names):,} tensors written in place: ",
                *sentence_list([line(Span(name, "name")) for name in names], NAMED + 1), _at(writes[0].place),
                Span(lost, "bad"))  # fmt: skip


def _change(cursor: StepCursor, write: Write, room: int) -> Line:
    before, after = cursor.timeline.versions.change(write)
    width = min((room - 3) // 2, FULL)
    if before is None or after is None or width < WORTH // 2 or write.before == write.after:
        return ()
    texts = [format_value(one, width) for one in (before, after)]
    return line(", ", Span(texts[0], "value"), " → ", Span(texts[1], "value"))


def _whose(cursor: StepCursor, tensor: int, owner: int) -> Iterator[Line]:
    """Whose memory it is, and who shares it."""
    if whose := view_of(cursor, tensor):
        yield line(Span(cursor.tensor_label(tensor), "name"), f" is {whose}. The versions count the writes to both.")
    tensors, versions = cursor.recording.tensors, cursor.timeline.versions
    others = [one.name for one in tensors if one.id != owner and one.name and versions.owner(one.id) == owner]
    if others:
        yield line("The memory of ", Span(cursor.tensor_label(owner), "name"), " is shared by ",
                   *sentence_list([line(Span(name, "name")) for name in dict.fromkeys(others)], 4))  # fmt: skip


def _maker(cursor: StepCursor, version: Version) -> Line:
    write = version.write
    if write is not None:
        how = line(Span(write.op, "op"), " in place")
        if write.node is None:
            kind = cursor.recording.borders[write.border or 0].kind
            how = line(*how, f", {kind}" if kind in ("no_grad", "inference_mode") else ", without history")
        elif cursor.recording.nodes[write.node].kind == "function":
            how = line(Span(write.op, "op"), ", mark_dirty")
        through = _written(cursor, write).partition(", through ")[2]
        return line(*how, _at(write.place), f", through {through}" if through else "")
    if version.node is not None:
        return line("made by ", *_node(cursor, cursor.recording.nodes[version.node]))
    if version.number:
        return line(Span("by a write that was not recorded", "warn"))
    return line("as the program made it")


def _savers(cursor: StepCursor, savers: Sequence[Saver], *, overwritten: bool) -> Line:
    if not savers:
        return line(Span("by nobody", "dim"))
    told = []
    for one in savers:
        text, role = FATES[one.fate]
        fate = "backward does not use it" if one.fate == "unused" else text
        told.append(line("by ", *_saver(cursor, one), Span(f", {fate}" if overwritten else "", role)))
    return sentence_list(told, 4)


def _saver(cursor: StepCursor, saver: Saver) -> Line:
    return _node(cursor, cursor.recording.nodes[saver.node])


def _node(cursor: StepCursor, node: NodeRecord) -> Line:
    """`exp (line 4)`."""
    where = f" (line {node.place.line})" if node.place is not None else f" (%{node.id})"
    return line(Span(node.op, "op"), Span(where, "dim"))


def _at(place: Place | None) -> Span:
    return Span(f", {PurePath(place.file).name}:{place.line}" if place is not None else "", "dim")


def _label(text: str) -> Span:
    return Span(f"     {text:<7}", "label")
