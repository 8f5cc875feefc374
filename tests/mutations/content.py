"""Changes of a file's JSON, of its arrays and of the zip around them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.mutations import variants

JSON = "recording.json"
Members = dict[str, bytes]


def members_of(data: bytes) -> Members:
    """The members of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Members, method: int = zipfile.ZIP_DEFLATED, again: str | None = None) -> bytes:
    """The members as a zip; `again` is written twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)  # without the time of day
        if again is not None:
            archive.NameToInfo.pop(again)  # else zipfile warns
            archive.writestr(zipfile.ZipInfo(again), members[again], method)
    return buffer.getvalue()


def changed_json(members: Members, random: Random, name: str = JSON) -> Members:
    """Change fields by their types: numbers, indices, counts, texts, missing and additional entries."""
    top = json.loads(members[name])
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        _change_part(top, random)
    if random.random() < 0.1 and isinstance(top.get("options"), dict):
        said = [random.choice(variants.NUMBERS) if random.random() < 0.6 else variants.other(random) for _ in range(2)]
        top["options"] |= dict(zip(("rank", "ranks"), said, strict=True))
    lines = [f"{json.dumps(key)}:{json.dumps(part, separators=(',', ':'))}" for key, part in top.items()]
    return members | {name: ("{" + random.choice((",\n", ",\n", ", ")).join(lines) + "}\n").encode()}


def _change_part(top: dict[str, Any], random: Random) -> None:
    name = random.choice(list(top))
    if random.random() < 0.02:
        top.pop(name)
    elif random.random() < 0.02:
        top[random.choice(variants.TEXTS)] = variants.other(random)
    elif isinstance(top[name], dict | list) and top[name]:
        places = list(_places(top[name]))
        _change_place(random.choice(places), random)
    else:
        top[name] = _other(top[name], random)


def _places(item: Any) -> Iterator[Any]:
    """All lists and dicts in it that are not empty."""
    yield item
    for one in item.values() if isinstance(item, dict) else item:
        if isinstance(one, dict | list) and one:
            yield from _places(one)


def _change_place(place: Any, random: Random) -> None:
    if isinstance(place, dict):
        key = random.choice(list(place))
        kind = random.randrange(6)
        if kind == 0:
            place.pop(key)
        elif kind == 1:
            place[random.choice(variants.TEXTS)] = variants.other(random)
        elif kind == 2 and isinstance(place[key], list):
            other = random.choice(list(place))
            place[key], place[other] = place[other], place[key]
        else:
            place[key] = _other(place[key], random)
        return
    at, other = random.randrange(len(place)), random.randrange(len(place))
    kind = random.randrange(8)
    if kind == 0:
        del place[at]
    elif kind == 1:
        place.insert(at, place[other])
    elif kind == 2:
        place[at], place[other] = place[other], place[at]
    elif kind == 3:
        place[at] = place[other]
    elif kind == 4 and type(place[at]) is int and type(place[other]) is int and at != other:
        place[at], place[other] = place[at] + 1, place[other] - 1  # lengths that still add up
    else:
        place[at] = _other(place[at], random)


def _other(now: Any, random: Random) -> Any:
    """Another value, of the same type unless by chance."""
    if random.random() < 0.1:
        return variants.other(random)
    if isinstance(now, bool):
        return not now
    if isinstance(now, int):
        return variants.number(random, now)
    if isinstance(now, float):
        return random.choice((*variants.REALS, float("nan"), float("inf")))
    if isinstance(now, str):
        return variants.text(random, now)
    if isinstance(now, list):
        return random.choice((now[:-1], now + now, now[::-1], []))
    return variants.other(random)


def changed_arrays(members: Members, random: Random) -> Members:
    """Change the `.npy` members: headers that claim other dtypes and shapes, bytes of elements, members too many."""
    names = [name for name in members if not name.endswith(".json")]
    if not names:
        return members | {"float32.npy": b""}
    name = random.choice(names)
    data = members[name]
    kind = random.randrange(8)
    if kind == 0:
        return {one: content for one, content in members.items() if one != name}
    if kind == 1:
        other = random.choice([f"{dtype}.npy" for dtype in variants.DTYPES])
        return {other if one == name else one: content for one, content in members.items()}
    if kind == 2:
        shape = random.choice((b"(99999999999,)", b"(-1,)", b"(2, 2)", b"()", b"(9e9,)"))
        start, end = data.index(b"("), data.index(b")") + 1
        header = data[:start] + shape + data[end:127]
        return members | {name: header[:127].ljust(127) + data[127:]}
    if kind == 3:
        descr = random.choice((b"'|O' ", b"'<f8'", b"'>f4'", b"'|V4'", b"'<U9'"))
        at = data.index(b"'", data.index(b":"))
        return members | {name: data[:at] + descr + data[at + 5 :]}
    if kind == 4:
        return members | {name: data[: random.randrange(len(data))]}
    if kind == 5:
        return members | {name: data + random.randbytes(random.randrange(1, 20))}
    if kind == 6:
        return members | {random.choice(("int8.npy", "../x.npy", "a", "float32.npy")): random.randbytes(40)}
    changed = bytearray(data)
    for _ in range(random.randrange(1, 9)):
        changed[random.randrange(len(changed))] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
    return members | {name: bytes(changed)}


def changed_zip(members: Members, random: Random) -> bytes:
    """Change the archive: methods, repeated members, sizes that are lies, bytes."""
    kind = random.randrange(6)
    if kind == 0:
        return zipped(members, random.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED)))
    if kind == 1:
        return zipped(members, again=random.choice(list(members)))
    data = bytearray(zipped(members))
    if kind == 2:
        return bytes(data[: random.randrange(len(data))])
    if kind == 3:
        return bytes(random.randbytes(random.randrange(9)) + data + random.randbytes(random.randrange(9)))
    if kind == 4:  # a lie in the directory: sizes, checksum, method, flags, offset
        at = data.index(b"PK\x01\x02") + random.choice((8, 10, 16, 20, 24, 28, 30, 42))
        data[at : at + 2] = random.choice((b"\x00\x00", b"\xff\xff", b"\x01\x00", b"\x00\x80", b"\x09\x00"))
        return bytes(data)
    for _ in range(random.randrange(1, 9)):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)
