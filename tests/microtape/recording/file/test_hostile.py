"""A `.tape` file from a stranger: a zip whose checksums are right and whose content is not."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.engines import record
from microtape.recording.file.tape_file import load, save
from microtape.recording.model.model import Recording

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A good recording: two leaves, a product, a mask of bools."""
    x = mt.tensor([1.0, -2.0], requires_grad=True)
    w = mt.tensor([3.0, 4.0], requires_grad=True)
    loss = mt.where(x > 0, x * w, w).sum()
    recording = record(loss.backward)
    save(recording, tmp_path / "run.tape")
    return tmp_path / "run.tape"


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, content: dict[str, bytes], **options: Any) -> None:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    content = members(path)
    top = json.loads(content["recording.json"])
    edit(top)
    write(path, content | {"recording.json": json.dumps(top).encode()})


def of_tensors(top: dict[str, Any], field: str) -> Any:
    """A column of the tensors."""
    return top["tensors"][field]


def of_nodes(top: dict[str, Any], field: str) -> Any:
    """A column of the nodes."""
    return top["nodes"][field]


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(RecordingError) as refused:
        load(path, **options)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < len(str(path)) + 300
    return str(refused.value)


def test_unchanged_it_is_read(path: Path) -> None:
    change(path, lambda top: None)
    assert load(path).nodes


def test_a_later_format_names_the_versions(path: Path) -> None:
    change(path, lambda top: top.update(version=10))
    assert "written by another version of microtape (format 10; this one reads formats 1 to 9)" in refusal(path)


def test_a_format_that_is_not_what_it_was(path: Path) -> None:
    change(path, lambda top: top.update(version=1))
    assert "(format 1; this one has another format 1)" in refusal(path)


def test_borders_that_lead_nowhere(path: Path) -> None:
    def edit(top: dict[str, Any]) -> None:
        detach = {"at": [0], "of": ["detach"]}
        none = {"at": [], "of": {"ref": {"at": [], "of": {"tensor": [], "version": []}}, "text": {"at": [], "of": []}}}
        places: dict[str, Any] = {name: [] for name in ("line", "end_line", "column", "end_column")}
        words: dict[str, Any] = {name: {"at": [], "of": []} for name in ("file", "function")}
        top["borders"] = {
            "kind": detach,
            "op": detach,
            "place": {"at": [None], "of": places | words},
            "operands": {"count": [0], "of": none},
            "outputs": {"count": [1], "of": {"at": [0], "of": {"tensor": [9999], "version": [0]}}},
            "in_place": [False],
            "tape": [0],
        }

    change(path, edit)
    assert "border 0 refers to a tensor that does not exist" in refusal(path)


def test_freed_nodes_that_are_not_there(path: Path) -> None:
    change(path, lambda top: top.update(freed=[9999]))
    assert "freed nodes" in refusal(path)


@pytest.mark.parametrize("version", [None, "1", [1], True, 1e400, -(10**40)])
def test_a_version_that_is_none(path: Path, version: object) -> None:
    change(path, lambda top: top.update(version=version, fields={}))
    refusal(path)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"nul", b"\xff\xfe", b"[" * 200_000, b'{"format":' + b"9" * 9999])
def test_json_that_is_none(path: Path, text: bytes) -> None:
    write(path, members(path) | {"recording.json": text})
    refusal(path)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_have(path: Path, constant: str) -> None:
    text = members(path)["recording.json"].replace(b'"notes":[]', f'"notes":[{constant}]'.encode())
    write(path, members(path) | {"recording.json": text})
    assert f"{constant} in its JSON" in refusal(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda top: top["nodes"].popitem(),
        lambda top: top.pop("tensors"),
        lambda top: top["nodes"].update(extra=[]),
        lambda top: of_nodes(top, "id").pop(),
        lambda top: of_nodes(top, "edges")["count"].append(0),
        lambda top: of_nodes(top, "edges")["count"].__setitem__(0, -1),
        lambda top: of_nodes(top, "edges")["count"].__setitem__(0, 10**12),
        lambda top: of_nodes(top, "edges").update(count=None),
        lambda top: of_nodes(top, "name")["at"].__setitem__(0, -1),
        lambda top: of_nodes(top, "name")["at"].__setitem__(0, 9999),
        lambda top: of_nodes(top, "name")["at"].__setitem__(0, None),
        lambda top: of_nodes(top, "name")["at"].__setitem__(0, True),
        lambda top: of_nodes(top, "in_place").__setitem__(0, 0),
        lambda top: top["passes"]["error"]["count"].__setitem__(0, 2),
        lambda top: top["values"].pop(),
        lambda top: top.pop("values"),
        lambda top: top.pop("title"),
        lambda top: top["values"].__setitem__(0, [0, 0, -1]),
        lambda top: top["values"].__setitem__(0, [0, 10**9, 2]),
        lambda top: top["values"].__setitem__(0, [99, 0, 2]),
        lambda top: top["values"].__setitem__(0, [0, 0, *[0] * 70]),
        lambda top: top["values"].__setitem__(0, [0, 0, 0, *[2**62] * 5]),
        lambda top: top["values"].__setitem__(0, [True, 0, 2]),
        lambda top: top["values"].__setitem__(0, [[-1], "float32", 0, 0, 0, 0, 0, 0, 0, [], []]),
        lambda top: top["values"].__setitem__(0, [[1], "object", 0, 0, 0, 0, 0, 0, 0, [], []]),
        lambda top: top["values"].__setitem__(0, [[1], "float32", 1e999, 0, 0, 0, 0, 0, 0, [], []]),
        lambda top: top["values"].__setitem__(0, [[1], "float32", 10**400, 0, 0, 0, 0, 0, 0, [], []]),
        lambda top: top["packs"].update(float32=1),
        lambda top: top["packs"].update(int64=0),
        lambda top: top["packs"].update({"../evil": 0}),
        lambda top: of_nodes(top, "id").__setitem__(0, 1),
        lambda top: of_nodes(top, "kind")["of"].__setitem__(0, "magic"),
        lambda top: top.update(nodes=[]),
        lambda top: of_tensors(top, "values")["keys"].__setitem__(0, -1),
        lambda top: of_tensors(top, "values")["keys"].__setitem__(0, "0"),
        lambda top: of_tensors(top, "values")["of"].__setitem__(0, 9999),
        lambda top: of_tensors(top, "values")["of"].pop(),
        lambda top: top["options"].update(deep=[[[]]]),
        lambda top: top["sources"].update({"a.py": 3}),
        lambda top: top["passes"]["index"].__setitem__(0, -1),
        lambda top: top.update(notes="abc"),
    ],
)
def test_content_that_cannot_be(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    change(path, edit)
    assert "damaged recording" in refusal(path)


def test_an_edge_that_leads_forward_is_refused(path: Path) -> None:
    def edit(top: dict[str, Any]) -> None:
        edges = of_nodes(top, "edges")["of"]
        edges["of"]["node"] = [len(of_nodes(top, "id")) - 1] * len(edges["of"]["node"])

    change(path, edit)
    assert "leads to a node that does not come before it" in refusal(path)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.sampled_from([0, -1, 2**31]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@SAME_FOLDER
@given(st.data())
def test_whatever_stands_in_the_json_it_is_refused_or_safe_to_walk(path: Path, data: st.DataObject) -> None:
    content = members(path)
    top = json.loads(content["recording.json"])
    at: Any = top
    while True:  # go down to a random place, and put something else there
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        below = at[key]
        if not isinstance(below, list | dict) or not below or data.draw(st.integers(0, 9)) == 0:
            break
        at = below
    at[key] = data.draw(JSON)
    changed = path.with_name("changed.tape")
    write(changed, content | {"recording.json": json.dumps(top).encode()})
    try:
        loaded = load(changed)
    except RecordingError:
        return
    walk(loaded)


def walk(recording: Recording) -> None:
    """What every viewer does without looking twice."""
    for node in recording.nodes:
        assert isinstance(recording.label(node.id), str)
        assert all(edge.node is None or edge.node < node.id for edge in node.edges)
        for ref in (*node.outputs, *[operand.ref for operand in node.operands], *[one.ref for one in node.saved]):
            recording.value(ref)
    for one, step in recording.steps():
        assert recording.nodes[step.node]
        assert all(recording.nodes[k] for k in (*step.made, *one.nodes, *one.ready, *one.dependencies))
        assert all(recording.nodes[step.node].edges[delivery.output] for delivery in step.deliveries)
        assert all(recording.tensors[k] for k in one.grads)


# The archive


def test_members_that_do_not_belong_there(path: Path) -> None:
    write(path, members(path) | {"../../evil.py": b""})
    assert "unknown or repeated members" in refusal(path)


def test_members_that_are_missing(path: Path) -> None:
    content = members(path)
    write(path, {name: data for name, data in content.items() if name != "float32.npy"})
    assert "arrays are missing" in refusal(path)
    write(path, {name: data for name, data in content.items() if name != "recording.json"})
    assert "a zip archive, but not a recording" in refusal(path)


def test_another_zip_archive(path: Path) -> None:
    write(path, {"recording.json": b'{"format": "something else"}'})
    assert "a zip archive, but not a recording" in refusal(path)


def test_a_header_that_asks_for_pickle(path: Path) -> None:
    content = members(path)
    header = content["float32.npy"].replace(b"'<f4'", b"'|O' ")
    write(path, content | {"float32.npy": header})
    assert "damaged recording (its float32 arrays" in refusal(path)


def test_bools_are_0_or_1(path: Path) -> None:
    content = members(path)
    write(path, content | {"bool.npy": content["bool.npy"][:-1] + b"\x02"})
    assert "a bool that is neither 0 nor 1" in refusal(path)


def test_a_bomb_is_not_unpacked(path: Path) -> None:
    write(path, members(path) | {"int8.npy": bytes(3_000_000)}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 20_000
    message = refusal(path, size_limit=1_000_000)
    assert "unpacks to 3," in message
    assert "size_limit" in message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_method_that_unpacks_without_bound_is_refused(path: Path, method: int) -> None:
    write(path, members(path), compression=method)
    assert "compressed by another method than deflate" in refusal(path)


@pytest.mark.parametrize("said", [100, 2_000_000, 40_000_000])
def test_a_size_that_is_a_lie_costs_no_memory(path: Path, said: int) -> None:
    """The member unpacks to 30 MB. Its entry says otherwise, with the checksum of so many bytes."""
    true = bytes(30_000_000)
    write(path, members(path) | {"int8.npy": true}, compression=zipfile.ZIP_DEFLATED)
    content = path.read_bytes()
    lies = {len(true): said, zlib.crc32(true): zlib.crc32(true[:said])}
    for truth, lie in lies.items():
        content = content.replace(truth.to_bytes(4, "little"), lie.to_bytes(4, "little"))
    path.write_bytes(content)
    tracemalloc.start()
    try:
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("entry", [b"0,", b"[],", b"{},", b'"",'])
def test_json_that_says_nothing_at_length_is_not_parsed(path: Path, entry: bytes) -> None:
    text = members(path)["recording.json"].replace(b'"notes":[]', b'"notes":[' + entry * 10_000_000 + b"0]")
    write(path, members(path) | {"recording.json": text}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        assert "more than those of any recording" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_million_notes_are_refused(path: Path) -> None:
    change(path, lambda top: top.update(notes=[""] * 1_000_000))
    assert "1,000,000 notes" in refusal(path)


def test_a_file_larger_than_the_limit_is_not_read(path: Path) -> None:
    assert "larger than the limit of 100 bytes" in refusal(path, size_limit=100)


def test_an_encrypted_member_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 8] |= 1
    content[content.index(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(content)
    assert "cut off or altered" in refusal(path)
