"""Writes in place and versions in words: what a write replaced, who had saved that, and who will miss it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import NodeRecord, Place, UpdateRecord
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
INDENT = 5  # characters: `v12  `


def write_line(cursor: StepCursor, writes: Sequence[Write], width: int, *, values: bool) -> Line:
    """`version 0 → 1, saved by exp (line 4), which will miss it` for the row below a node.

    Without a node, it begins with what was written. With `values`, it has the old and the new one if there is room.
    """
    if len(writes) > 1 and writes[0].node is None:
        return _many(cursor, writes)
    found: list[Span] = []
    for i, write in enumerate(writes):
        found += [Span("; " if i else ""), *_write(cursor, write, width, named=len(writes) > 1, values=values)]
    return line(*found)


def _write(cursor: StepCursor, write: Write, width: int, *, named: bool, values: bool) -> Line:
    """The first way to say it that has room for the values; if none has, the first that has room at all."""
    values = values and write.before != write.after
    told = saved_by(cursor, write)
    whole: list[Line] = []
    for placed, saved in ((True, told), (False, told), (False, saved_by(cursor, write, brief=True))):
        begin = _subject(cursor, write, named=named, placed=placed)
        room = width - len(plain(begin)) - len(plain(saved)) - len(", ")
        change = _change(cursor, write, room) if values else ()
        found = line(*begin, *change, ", ", *saved)
        if room >= 0 and (change or not values):
            return found
        whole += [found] if room >= 0 else []
    return whole[0] if whole else found


def saved_by(cursor: StepCursor, write: Write, *, brief: bool = False) -> Line:
    """`saved by nobody`, or `saved by exp (line 4), which will miss it`. `brief`: only who will miss it, if anybody."""
    savers = cursor.timeline.versions.overwritten(write)
    fates: list[Fate] = [fate for fate in FATES if any(one.fate == fate for one in savers)]
    if not fates:
        return line(Span("saved by nobody", "dim"))
    groups: list[Line] = []
    for i, fate in enumerate(fates[:1] if brief else fates):
        who = sentence_list([_saver(cursor, one) for one in savers if one.fate == fate], 2)
        text, role = FATES[fate]
        which = "" if brief and fate != "lost" else f", which {text}"
        groups.append(line("; " if i else "saved ", "by ", *who, Span(which, role)))
    return line(*(span for one in groups for span in one))


class VersionText(NamedTuple):
    """A version in words, and the node that made it, if one did."""

    lines: tuple[Line, ...]
    node: int | None


def versions_told(cursor: StepCursor, tensor: int, width: int) -> tuple[VersionText, ...]:
    """The versions of a tensor's memory: who made each, its value, who saved it and who read it."""
    versions = cursor.timeline.versions
    owner = versions.owner(tensor)
    every = versions.of(owner)
    detached = [one for one in versions.writes.get(owner, ()) if one.before == one.after]
    return tuple(
        VersionText(
            tuple(_version(cursor, owner, one, before, width, [end for end in detached if end.after == one.number],
                           is_last=one is every[-1])),
            one.write.node if one.write is not None else one.node,
        )
        for one, before in zip(every, [-1, *(one.number for one in every)], strict=False)
    )  # fmt: skip


def tensors_at(cursor: StepCursor, node: int) -> tuple[int, ...]:
    """The tensors of a node whose versions can be told: its results, then its operands; one for each memory.

    Those that were written to come first.
    """
    record, tensors = cursor.timeline.node(node), cursor.recording.tensors
    if record.variable is not None:
        return (record.variable,)
    made = [ref.tensor for ref in record.outputs if ref is not None]
    used = [one.ref.tensor for one in record.operands if one.ref is not None]
    told = [*made, *(one for one in used if tensors[one].name or tensors[one].node is not None)]  # no numbers
    found: dict[int, int] = {}
    for tensor in told:
        found.setdefault(cursor.timeline.versions.owner(tensor), tensor)
    return tuple(sorted(found.values(), key=lambda one: len(cursor.timeline.versions.of(one)) == 1))


def whose_memory(cursor: StepCursor, tensor: int) -> Iterator[Line]:
    """Whose memory a tensor has, and who shares it; nothing for a tensor with memory of its own alone."""
    owner = cursor.timeline.versions.owner(tensor)
    if whose := view_of(cursor, tensor):
        yield line(Span(cursor.tensor_label(tensor), "name"), f" is {whose}. Writes to either count here.")
    versions, tensors = cursor.timeline.versions, cursor.recording.tensors
    others = [one.name for one in tensors if one.id not in (owner, tensor) and versions.owner(one.id) == owner]
    if names := list(dict.fromkeys(filter(None, others))):
        yield line(Span(cursor.tensor_label(owner), "name"), " shares its memory with ",
                   *sentence_list([line(Span(name, "name")) for name in names], 4))  # fmt: skip


def uncounted(cursor: StepCursor, tensor: int) -> Iterator[Line]:
    """The writes that no version counts."""
    found = cursor.timeline.versions.uncounted(tensor)
    if not found:
        return
    often = f"{len(found):,} times" if len(found) > 1 else "once"
    how = f" was written to {often}"
    warning = Span(", which no version counts; backward cannot notice it", "warn")
    yield line(Span(cursor.tensor_label(tensor), "name"), how, _at(found[0].place), warning)


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


def _subject(cursor: StepCursor, write: Write, *, named: bool, placed: bool) -> Line:
    """`version 0 → 1`, if `named` with the tensor; for a write without a node `w: sub_ in no_grad, version 0 → 1`."""
    if write.node is not None:
        name = line(Span(cursor.tensor_label(write.tensor), "name"), ": ") if named else ()
        return line(*name, f"version {write.before} → {write.after}")
    kind, at = cursor.recording.borders[write.border or 0].kind, _at(write.place) if placed else ""
    op = Span(_op(write.op), "op")
    name = line(Span(_written(cursor, write), "name"), ": ")
    if write.before == write.after:
        return line(*name, op, " ends its history, no value written", at)
    where = f" in {kind}" if kind in ("no_grad", "inference_mode") else ""
    return line(*name, op, where, at, f", version {write.before} → {write.after}")


def _written(cursor: StepCursor, write: Write) -> str:
    """The tensor whose memory was written to, and through which other tensor of the user's."""
    whose, through = cursor.tensor_label(cursor.timeline.versions.owner(write.tensor)), _through(cursor, write)
    return f"{whose}, through {through}" if through else whose


def _op(op: str) -> str:
    """`sub_`; but `SGD.step` and `load_state_dict`, which write by other operations, as they are."""
    return op if op.endswith(("_", ".step")) or op == "load_state_dict" else f"{op}_"


def _many(cursor: StepCursor, writes: Sequence[Write]) -> Line:
    """`SGD.step wrote 6 tensors in place: W1, b1, W2 and 3 others`."""
    names = dict.fromkeys(_written(cursor, one) for one in writes)
    missed = [one for one in writes if any(s.fate == "lost" for s in cursor.timeline.versions.overwritten(one))]
    lost = f"; {len(missed)} of the old values will be missed" if missed else ""
    return line(Span(_op(writes[0].op), "op"), f" wrote {len(names):,} tensors in place: ",
                *sentence_list([line(Span(name, "name")) for name in names], NAMED + 1), _at(writes[0].place),
                Span(lost, "bad"))  # fmt: skip


def _change(cursor: StepCursor, write: Write, room: int) -> Line:
    before, after = cursor.timeline.versions.change(write)
    width = min((room - 3) // 2, FULL)
    if before is None or after is None or width < WORTH // 2 or write.before == write.after:
        return ()
    texts = [format_value(one, width) for one in (before, after)]
    return line(", ", Span(texts[0], "value"), " → ", Span(texts[1], "value"))


def _version(
    cursor: StepCursor, owner: int, version: Version, before: int, width: int, detached: Sequence[Write],
    *, is_last: bool,
) -> Iterator[Line]:  # fmt: skip
    maker = _maker(cursor, version, before)
    value = cursor.timeline.versions.value(owner, version.number)
    room = width - INDENT - len(plain(maker)) - 2
    text = format_value(value, max(room, WORTH)) if value is not None else "value not kept"
    yield line(
        Span(f"v{version.number}".ljust(INDENT), "strong"),
        *maker,
        Span(f"  {text}", "value" if value is not None else "dim"),
    )
    saved = line(" " * INDENT, "saved ", *_savers(cursor, version.savers, overwritten=not is_last))
    readers = [_node(cursor, cursor.recording.nodes[one]) for one in version.readers]
    read = line("read by ", *sentence_list(readers, 4)) if readers else line(Span("read by nobody", "dim"))
    if len(plain(saved)) + len(plain(read)) + 2 <= width:
        yield line(*saved, "; ", *read)
    else:
        yield saved
        yield line(" " * INDENT, *read)
    for write in detached:
        yield line(" " * INDENT, Span(f"{write.op} took its history away", "warn"), _at(write.place))


def _maker(cursor: StepCursor, version: Version, before: int) -> Line:
    """`mul (line 3)`, `AddOne (line 28, mark_dirty)`, `sub_ (line 9, no_grad)`. `before`: the version before; or -1."""
    write = version.write
    if write is None and version.node is not None:
        return _node(cursor, cursor.recording.nodes[version.node])
    if write is None and version.update is not None:
        return _update(cursor, version.update, version.number - before)
    if write is None and before < 0:
        written = f", after {_count(version.number)}" if version.number else ""
        return line(f"as the program first used it{written}" if written else "as the program made it")
    if write is None:
        return line(Span("a write that was not recorded", "warn"))
    notes = [write.place.at_line] if write.place is not None else []
    op = write.op.partition(" into view")[0]
    if write.node is None:
        kind = cursor.recording.borders[write.border or 0].kind
        notes.append(kind if kind in ("no_grad", "inference_mode") else "without history")
    elif any(one.node == write.node for one in cursor.recording.functions):
        notes.append("mark_dirty")
    if through := _through(cursor, write):
        notes.append(f"through {through}")
    return line(
        Span(op if "mark_dirty" in notes else _op(op), "op"), Span(f" ({', '.join(notes)})" if notes else "", "dim")
    )


def _update(cursor: StepCursor, update: UpdateRecord, writes: int) -> Line:
    """`optimizer.step() (line 12)`; `(line 12, 2 writes)`: of these, nobody saw the version between."""
    said = expression(cursor.recording, update.place)
    notes = [update.place.at_line] if update.place is not None else []
    if update.is_counted is False:
        notes.append("no version counts it")
    elif writes > 1:
        notes.append(_count(writes))
    op = Span(said, "op") if 0 < len(said) <= FULL else Span("an update")
    return line(op, Span(f" ({', '.join(notes)})" if notes else "", "dim"))


def _count(writes: int) -> str:
    return f"{writes:,} writes" if writes > 1 else "1 write"


def _through(cursor: StepCursor, write: Write) -> str:
    """The name or expression of the view or detached tensor that was written to; empty for the owner itself."""
    versions, recording = cursor.timeline.versions, cursor.recording
    tensor: int | None = write.tensor
    if write.node is not None and recording.nodes[write.node].kind == "copy_slices":
        tensor = versions.view_written(write.node)
        if tensor is None:
            return "a view"
    if tensor is None or tensor == versions.owner(write.tensor):
        return ""
    if recording.tensors[tensor].base is None:
        return recording.tensors[tensor].name or "a detached tensor"
    return recording.tensors[tensor].name or expression(recording, write.place) or "a view"


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
    where = f" ({node.place.at_line})" if node.place is not None else f" (%{node.id})"
    return line(Span(node.op, "op"), Span(where, "dim"))


def _at(place: Place | None) -> Span:
    return Span(f", {place.at_name}" if place is not None else "", "dim")
