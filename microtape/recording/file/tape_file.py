"""Recordings as `.tape` files: a zip of JSON and of arrays packed into `.npy` members. Never pickle.

Note [Format of a .tape file]
  `recording.json` holds the fields of the `Recording`. Nodes, tensors and other records that come in large numbers are
  stored as one column for each field, which `json_columns` describes; another record is the list of its fields in the
  order of `model.py`, which `fields` repeats. An array is stored as its number in the table `values` (see `packing`).
  `packs` names the `.npy` members, one for each dtype, with the number of elements in each.
  Equal recordings give equal bytes (with the same zlib): keys are sorted and the zip contains no times.
  Any change of the format raises `_VERSION`. An older file can be read if the fields it lacks may stay empty.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import re
import typing
import zipfile
from collections.abc import Mapping
from typing import Any, TypeGuard

from microtape.basics.collector import paused
from microtape.errors import RecordingError
from microtape.recording.file.archive import member, reason, unpacked, write_whole
from microtape.recording.file.integrity import check_integrity
from microtape.recording.file.json_columns import ColumnReader, column
from microtape.recording.file.json_records import Damaged, fields, reader
from microtape.recording.file.packing import DTYPES, Packer, npy_header, read_values, unpack_npy, value_reader
from microtape.recording.model import model
from microtape.recording.model.model import Recording

_FORMAT = "microtape recording"
_VERSION = 6
ELEMENT_BUDGET = 4096
TOTAL_BUDGET = 20_000_000
SIZE_LIMIT = 1_000_000_000

_JSON = "recording.json"
_TABLES = (  # stored as columns
    "nodes",
    "tensors",
    "passes",
    "scopes",
    "borders",
    "checks",
    "updates",
    "freed_by",
    "functions",
    "calls",
    "jacobians",
    "courses",
)
_MOST_TIMES = 40  # deflate makes JSON 1,000 times as short if it says nothing; that of a recording, up to 10 times
_SMALL = 4_000_000  # bytes that any member may unpack to
_JSON_SHARE = 5  # parsed JSON takes many times its size, so it may be at most a fifth of the size limit
_RECORDS = [kind for kind in vars(model).values() if isinstance(kind, type) and hasattr(kind, "_fields")]
_MANY = {name: typing.get_args(kind)[0] for name, kind in fields(Recording).items() if name in _TABLES}
_FIELDS = {kind.__name__: list(fields(kind)) for kind in (*_RECORDS, Recording)}
_NEW_IN = {  # fields of a Recording by the format that added them
    6: ("courses",),
    5: ("functions", "calls", "jacobians"),
    4: ("updates", "freed_by"),
    2: ("borders", "checks", "freed"),
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
        element_budget: an array with more elements is stored as a summary.
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
        path: a file written by `save`, or one that is open for reading; it need not be trusted.
        size_limit: the number of bytes that the file may unpack to.

    Raises:
        RecordingError: the file is missing, unreadable, damaged, too large, of another version, or not a recording.
    """
    source, path = path, "the file" if hasattr(path, "read") else os.fspath(path)
    try:
        data = source.read() if hasattr(source, "read") else _read(path, size_limit)
        with paused():
            return _from_members(_unzip(data, size_limit))
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {reason(error)}") from None
    except _Refused as refused:
        raise RecordingError(f"{path}: {refused}") from None
    except Damaged as damage:
        raise RecordingError(f"{path}: damaged recording ({damage}): record the program again") from None


class _Refused(Exception):  # noqa: N818
    """The file cannot be read; the message says why, for the user."""


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
    parts |= {name: column(kind, parts[name], packer.numbers) for name, kind in _MANY.items()}
    texts = {name: encode(part) for name, part in parts.items() if name != "notes"}
    rows, packs = packer.finish()
    texts["notes"] = encode([*recording.notes, *packer.notes])
    texts["values"] = encode(rows)
    texts["packs"] = encode({dtype: len(data) // DTYPES[dtype].itemsize for dtype, data in packs.items()})
    texts |= {"format": encode(_FORMAT), "version": encode(_VERSION), "fields": encode(_FIELDS)}
    text = "{" + ",\n".join(f'"{name}":{texts[name]}' for name in sorted(texts)) + "}\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member(_JSON), text, zipfile.ZIP_DEFLATED, compresslevel=2)  # a fifth of level 6's time
        for dtype, data in packs.items():
            archive.writestr(member(f"{dtype}.npy"), npy_header(dtype, len(data) // DTYPES[dtype].itemsize) + data)
    return buffer.getvalue()


def _read(path: str, limit: int) -> bytes:
    with open(path, "rb") as file:
        start = file.read(4)
        if start != b"PK\x03\x04":
            what = "empty" if not start else "not a recording (a .tape file is a zip archive)"
            raise _Refused(f"{what}: make one with `microtape record script.py -o run.tape`")
        data = start + file.read(min(limit, os.fstat(file.fileno()).st_size or limit))  # allocated at once
    if len(data) > limit:
        raise _Refused(f"larger than the limit of {limit:,} bytes; load(path, size_limit=...) raises it")
    return data


def _unzip(data: bytes, limit: int) -> dict[str, bytes]:
    """The members by name, unpacked after their sizes have been checked."""
    known = {_JSON, *(f"{dtype}.npy" for dtype in DTYPES)}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [one.filename for one in members]
            if _JSON not in names:
                raise _Refused("a zip archive, but not a recording: make one with `microtape record`")
            if len(set(names)) != len(names) or not known.issuperset(names):
                raise Damaged("unknown or repeated members")
            total = sum(member.file_size for member in members)
            if total > limit or archive.getinfo(_JSON).file_size > limit // _JSON_SHARE:
                raise _Refused(
                    f"unpacks to {total:,} bytes, more than the limit of {limit:,} ({limit // _JSON_SHARE:,} of JSON);"
                    " if you trust it, load(path, size_limit=...) raises it"
                )
            for one in members:
                if one.file_size > _MOST_TIMES * one.compress_size + _SMALL:
                    raise Damaged(f"a member unpacks to {one.file_size:,} bytes, more than any recording does")
            return {one.filename: unpacked(archive, one) for one in members}
    except (_Refused, Damaged):
        raise
    except Exception as error:  # zipfile and zlib raise a dozen kinds for damaged bytes
        raise Damaged("its zip archive is cut off or altered") from error


def _from_members(members: dict[str, bytes]) -> Recording:
    top = _Parts(members[_JSON])
    members[_JSON] = b""  # a large text that is not read again
    if top.get("format") != _FORMAT:
        raise _Refused("a zip archive, but not a recording: make one with `microtape record`")
    version = top.get("version")
    if type(version) is int and 1 <= version < _VERSION and top.get("fields") == _fields_before(version):
        _bring_up_to_date(top, version)
    elif version != _VERSION or top.get("fields") != _FIELDS:
        found = f"format {version}" if type(version) is int and abs(version) < 10**6 else "an unknown format"
        known = type(version) is int and 1 <= version <= _VERSION
        wanted = f"has another format {version}" if known else f"reads formats 1 to {_VERSION}"
        raise _Refused(f"written by another version of microtape ({found}; this one {wanted}): record it again")
    packs = top.get("packs")
    if type(packs) is not dict or members.keys() != {_JSON, *(f"{dtype}.npy" for dtype in packs)}:
        raise Damaged("arrays are missing")
    arrays = [unpack_npy(dtype, members[f"{dtype}.npy"]) for dtype in sorted(packs)]
    if [array.size for array in arrays] != [packs[dtype] for dtype in sorted(packs)]:
        raise Damaged("arrays of the wrong size")
    values = read_values(top.take("values"), arrays)
    read_value, columns = value_reader(values), ColumnReader(values)
    kinds = fields(Recording)
    options = top.get("options")
    if not _are_options(options):
        raise Damaged("an option that is neither a word, a number nor a list of them")
    tables = _MANY if version >= _COLUMNS else {}
    parts: dict[str, Any] = {
        name: tuple(columns.read(tables[name], top.take(name)))
        if name in tables
        else reader(kind, read_value)(top.take(name))
        for name, kind in kinds.items()
        if name != "options"
    }
    recording = Recording(**parts, options=options)
    check_integrity(recording)
    return recording


def _fields_before(version: int) -> dict[str, list[str]]:
    """The fields of an older format: 5 lacked courses, 4 calls too, 3 updates; 2 had the queues, 1 lacked borders."""
    new = _new_since(version)
    then = {name: list(names) for name, names in _FIELDS.items()}
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


def _bring_up_to_date(top: _Parts, version: int) -> None:
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


class _Parts:
    """The top-level members of the JSON, each parsed when it is asked for.

    `save` writes each member on a line of its own, so a large recording is never in memory both as JSON and as records.
    JSON that is laid out otherwise is parsed at once.
    """

    def __init__(self, text: bytes) -> None:
        self._texts: dict[str, bytes] = {}
        self._parsed: dict[str, Any] = {}
        lines = [line.partition(b":") for line in text.removeprefix(b"{").removesuffix(b"}\n").split(b",\n")]
        if len(lines) > 1 and all(re.fullmatch(rb'"\w+"', name) for name, _, _ in lines):
            self._texts = {name[1:-1].decode(): part for name, _, part in lines}
            return
        whole = _parse(text)
        self.update(whole if type(whole) is dict else {})

    def update(self, parts: Mapping[str, Any]) -> None:
        """Replace these parts."""
        self._parsed.update(parts)

    def get(self, name: str) -> Any:
        """A part; None if it is missing."""
        if name not in self._parsed and name in self._texts:
            self._parsed[name] = _parse(self._texts.pop(name))
        return self._parsed.get(name)

    def take(self, name: str) -> Any:
        """A part that is not needed afterwards: it is dropped here."""
        part = self.get(name)
        self._parsed.pop(name, None)
        return part


def _parse(text: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise Damaged(f"{constant} in its JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, a number of 5,000 digits, 100,000 brackets
        raise Damaged("its JSON cannot be read") from error


def _are_options(options: object) -> TypeGuard[Mapping[str, object]]:
    """Whether these are options of a recording: names with strings, finite numbers, None, or lists of these."""

    def is_plain(item: object) -> bool:
        return item is None or isinstance(item, str | int) or (isinstance(item, float) and math.isfinite(item))

    return isinstance(options, Mapping) and all(
        isinstance(name, str) and all(map(is_plain, option if isinstance(option, list) else [option]))
        for name, option in options.items()
    )
