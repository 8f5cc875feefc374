"""Recordings as `.tape` files: a zip of JSON and of arrays packed into `.npy` members. Never pickle.

Note [Format of a .tape file]
  `recording.json` holds the fields of the `Recording`. Nodes, tensors and other records that come in large numbers are
  stored as one column for each field, which `json_columns` describes; another record is the list of its fields in the
  order of `model.py`, which `fields` repeats. An array is stored as its number in the table `values` (see `packing`).
  `packs` names the `.npy` members, one for each dtype, with the number of elements in each.
  Equal recordings give equal bytes (with the same zlib): keys are sorted and the zip contains no times.
  Any change of the format raises `_VERSION`. An older file can be read if the fields it lacks have a default.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import typing
from collections.abc import Mapping
from typing import Any, TypeGuard

from microtape.basics.collector import paused
from microtape.errors import RecordingError
from microtape.recording.file.archive import Refused, most_unpacked, reason, write_whole, zipped
from microtape.recording.file.column_writing import column, written
from microtape.recording.file.integrity import check_integrity
from microtape.recording.file.journal import START, in_its_place, parts_of
from microtape.recording.file.json_columns import ColumnReader
from microtape.recording.file.json_parts import Parts
from microtape.recording.file.json_records import Damaged, fields, reader
from microtape.recording.file.packing import DTYPES, Packer, npy_header, read_values, unpack_npy, value_reader
from microtape.recording.file.stored_arrays import StoredArrays
from microtape.recording.file.unpacking import read_file, unzip
from microtape.recording.model import model
from microtape.recording.model.growing import GrowingRecording
from microtape.recording.model.model import Recording
from microtape.recording.tables.columns import Column, Items

_FORMAT = "microtape recording"
_VERSION = 9
ELEMENT_BUDGET = 4096
TOTAL_BUDGET = 20_000_000
SIZE_LIMIT = 2_000_000_000  # four times that of a chain of a million operations

_JSON = "recording.json"
_MEMBERS = {_JSON, *(f"{dtype}.npy" for dtype in DTYPES)}
_TABLES = (  # stored as columns
    "nodes",
    "tensors",
    "passes",
    "scopes",
    "borders",
    "checks",
    "updates",
    "freed_by",
    "alias_uses",
    "functions",
    "calls",
    "jacobians",
    "courses",
)
_RECORDS = [kind for kind in vars(model).values() if isinstance(kind, type) and hasattr(kind, "_fields")]
_MANY = {name: typing.get_args(kind)[0] for name, kind in fields(Recording).items() if name in _TABLES}
_FIELDS = {kind.__name__: list(fields(kind)) for kind in (*_RECORDS, Recording)}
_NEW_IN = {  # tables of a Recording by the format that added them
    8: ("alias_uses",),
    6: ("courses",),
    5: ("functions", "calls", "jacobians"),
    4: ("updates", "freed_by"),
    2: ("borders", "checks", "freed"),
}
_LATER = {  # fields of other records, likewise
    9: (("Summary", "negative_infs"), ("UpdateRecord", "again"), ("UpdateRecord", "is_counted")),
}
_PARTS_OF = {  # records in theirs
    "functions": ("ArgumentRecord", "OutputRecord", "Variable"),
    "calls": ("CallStep",),
    "courses": ("ParameterRecord", "Statistics"),
}
_COLUMNS = 3  # the format that began to store tables as columns
_QUEUE = 6  # in formats 1 and 2, the index of the ready queue among the fields of a step


def save(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    element_budget: int = ELEMENT_BUDGET,
    total_budget: int = TOTAL_BUDGET,
) -> None:
    """Write a recording to a file, whole or not at all: an existing file is replaced at the end, in one step.

    Args:
        recording: the recording to write.
        path: the file, by convention `*.tape`.
        element_budget: an array with more elements is stored as a summary, unless NaN or infinity begins in it: a
            finding names its numbers. Of whole numbers, such as tokens and classes, 16 times as many are kept.
        total_budget: bytes of array data in all; beyond that, the largest arrays become summaries (never those of
            64 elements or fewer). The file's `notes` say what was summarised and which option keeps it.

    Raises:
        RecordingError: the file cannot be written, or the recording holds something that no file can (an object array).
    """
    path = os.fspath(path)
    data = to_bytes(recording, element_budget=element_budget, total_budget=total_budget)
    try:
        write_whole(path, data)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {reason(error)}") from None


def to_bytes(recording: Recording, *, element_budget: int = ELEMENT_BUDGET, total_budget: int = TOTAL_BUDGET) -> bytes:
    """What `save` writes."""
    with paused():
        return _to_bytes(recording, Packer(element_budget, total_budget))


def load(path: Any, *, size_limit: int = SIZE_LIMIT) -> Recording:
    """Read a recording from a file. Arrays are read-only.

    Args:
        path: a file written by `save`, a journal, or a file that is open for reading; it need not be trusted. If there
            is none, but a journal of this name, that is read.
        size_limit: the number of bytes that the file may unpack to.

    Raises:
        RecordingError: the file is missing, unreadable, damaged, too large, of another version, or not a recording.
    """
    source, path = path, "the file" if hasattr(path, "read") else in_its_place(os.fspath(path))
    try:
        data = source.read() if hasattr(source, "read") else read_file(path, size_limit)
        with paused():
            if data.startswith(START):
                found = _from_journal(data, size_limit)
            else:
                members = unzip(data, _JSON, _MEMBERS, size_limit)
                del data  # which may be large
                found = _from_members(members)
            check_integrity(found)
            return found
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {reason(error)}") from None
    except Refused as refused:
        raise RecordingError(f"{path}: {refused}") from None
    except Damaged as damage:
        raise RecordingError(f"{path}: damaged recording ({damage}): record the program again") from None


def _to_bytes(recording: Recording, packer: Packer) -> bytes:
    def plain(item: Any) -> Any:
        """A mapping that is not a dict as a dict, for JSON."""
        if isinstance(item, Mapping):
            return dict(item)
        raise RecordingError(f"a recording cannot hold a {type(item).__name__} ({item!r:.60})")

    encode = json.JSONEncoder(
        check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=plain
    ).encode
    parts = {field.name: getattr(recording, field.name) for field in dataclasses.fields(recording)}
    if not _are_options(recording.options):
        raise RecordingError("the options of a recording are words, finite numbers or lists of them")
    texts = {name: encode(part) for name, part in parts.items() if name not in _MANY and name != "notes"}
    texts |= {name: written(column(kind, parts[name], packer.numbers), encode) for name, kind in _MANY.items()}
    if packer.hides_bad_numbers:
        from microtape.recording.findings.values.not_finite import arrays_where_bad_numbers_begin  # few files need it

        packer.keep_whole(arrays_where_bad_numbers_begin(recording))
    rows, packs = packer.finish()
    texts["notes"] = encode([*recording.notes, *packer.notes])
    texts["values"] = encode(rows)
    texts["packs"] = encode({dtype: len(data) // DTYPES[dtype].itemsize for dtype, data in packs.items()})
    texts |= {"format": encode(_FORMAT), "version": encode(_VERSION), "fields": encode(_FIELDS)}
    text = "{" + ",\n".join(f'"{name}":{texts[name]}' for name in sorted(texts)) + "}\n"
    arrays = {
        f"{dtype}.npy": npy_header(dtype, len(data) // DTYPES[dtype].itemsize) + data for dtype, data in packs.items()
    }
    return zipped(_JSON, text, arrays, level=2)  # a fifth of level 6's time


def _from_journal(data: bytes, limit: int) -> Recording:
    """The recording of which a journal has the parts; see Note [Journals]."""
    limit = min(limit, most_unpacked(len(data)))
    whole = GrowingRecording()
    for part in parts_of(data):
        members = unzip(part, _JSON, _MEMBERS, limit)
        limit -= sum(map(len, members.values()))
        whole.add(_from_members(members))
    return whole.recording()


def _from_members(members: dict[str, bytearray]) -> Recording:
    top = Parts(members[_JSON])
    members[_JSON] = bytearray()  # a large text that only the parts hold
    if top.get("format") != _FORMAT:
        raise Refused("a zip archive, but not a recording: make one with `microtape record`")
    version = top.get("version")
    if type(version) is int and 1 <= version < _VERSION and top.get("fields") == _fields_before(version):
        _bring_up_to_date(top, version)
    elif version != _VERSION or top.get("fields") != _FIELDS:
        found = f"format {version}" if type(version) is int and abs(version) < 10**6 else "an unknown format"
        known = type(version) is int and 1 <= version <= _VERSION
        wanted = f"has another format {version}" if known else f"reads formats 1 to {_VERSION}"
        raise Refused(f"written by another version of microtape ({found}; this one {wanted}): record it again")
    packs = top.get("packs")
    if type(packs) is not dict or members.keys() != {_JSON, *(f"{dtype}.npy" for dtype in packs)}:
        raise Damaged("arrays are missing")
    arrays = [unpack_npy(dtype, members[f"{dtype}.npy"]) for dtype in sorted(packs)]
    if [array.size for array in arrays] != [packs[dtype] for dtype in sorted(packs)]:
        raise Damaged("arrays of the wrong size")
    values = _values(top.take_rows("values"), arrays)
    read_value, columns = value_reader(values), ColumnReader(values)
    kinds = fields(Recording)
    options = top.get("options")
    if not _are_options(options):
        raise Damaged("an option that is neither a word, a number nor a list of them")
    tables = _MANY if version >= _COLUMNS else {}
    parts: dict[str, Any] = {
        name: columns.read(tables[name], top.take_columns(name))
        if name in tables
        else reader(kind, read_value)(top.take(name))
        for name, kind in kinds.items()
        if name != "options"
    }
    return Recording(**parts, options=options)


def _values(rows: Any, packs: list[Any]) -> Column:
    """The table of values, in which those of a long recording are made when they are asked for."""
    if type(rows) is not tuple:
        return Items(read_values(rows, packs))
    sizes, numbers = rows
    return StoredArrays(sizes, numbers, packs)


def _fields_before(version: int) -> dict[str, list[str]]:
    """The fields of an older format: 5 lacked courses, 4 calls too, 3 updates; 2 had the queues, 1 lacked borders."""
    new = _new_since(version)
    later = [one for since, fields in _LATER.items() if version < since for one in fields]
    then = {kind: [name for name in names if (kind, name) not in later] for kind, names in _FIELDS.items()}
    then["Recording"] = [name for name in then["Recording"] if name not in new]
    for name in new:
        if name in _MANY:
            del then[_MANY[name].__name__]
            for part in _PARTS_OF.get(name, ()):
                del then[part]
    if version < _COLUMNS:
        then["BackwardStep"].insert(_QUEUE, "ready")
    return then


def _new_since(version: int) -> list[str]:
    """The fields of a Recording that this format lacked."""
    return [name for since, names in _NEW_IN.items() if version < since for name in names]


def _bring_up_to_date(top: Parts, version: int) -> None:
    """Turn the content of an older file into today's format; damage is left for the reader to find."""
    for name in _new_since(version):
        stored = json.dumps(column(_MANY[name], (), lambda values: [])) if version >= _COLUMNS else "[]"
        top.update({name: json.loads(stored)})
    if version >= _COLUMNS:
        return
    passes, at = top.get("passes"), _FIELDS["Pass"].index("steps")
    for one in passes if type(passes) is list else ():
        steps = one[at] if type(one) is list and len(one) > at else ()
        for step in steps if type(steps) is list else ():
            if type(step) is list:
                del step[_QUEUE : _QUEUE + 1]


def _are_options(options: object) -> TypeGuard[Mapping[str, object]]:
    """Whether these are options of a recording: names with strings, finite numbers, None, or lists of these."""

    def is_plain(item: object) -> bool:
        return item is None or isinstance(item, str | int) or (isinstance(item, float) and math.isfinite(item))

    return isinstance(options, Mapping) and all(
        isinstance(name, str) and all(map(is_plain, option if isinstance(option, list) else [option]))
        for name, option in options.items()
    )
