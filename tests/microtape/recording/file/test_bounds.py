"""A file takes memory and time in proportion to what it holds, or is refused; an honest recording never is."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microtape as mt
import viz
from microtape.errors import RecordingError
from microtape.recording.engines import record
from microtape.recording.file.tape_file import SIZE_LIMIT, load, save, to_bytes
from microtape.recording.model.calls import CallRecord, CallStep
from microtape.recording.model.model import FiniteDifferences, Recording, ScopeRecord, Summary
from tests.mutations.content import members_of


def chain(operations: int) -> Recording:
    """Of a program that repeats one operation."""
    w = mt.tensor(0.5, requires_grad=True)
    x = w * 1.0
    for _ in range(operations):
        x = x * w
    recording = record(x.backward)
    assert isinstance(recording, Recording)
    return recording


CHAIN = chain(10)


def refusal(data: bytes) -> str:
    with pytest.raises(RecordingError) as refused:
        load(io.BytesIO(data))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300
    return str(refused.value)


def with_json(edit: Callable[[bytes], bytes]) -> bytes:
    """The chain with other JSON."""
    members = members_of(to_bytes(CHAIN))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (members | {"recording.json": edit(members["recording.json"])}).items():
            archive.writestr(name, data)
    return buffer.getvalue()


# Honest recordings


def test_a_million_operations_are_within_the_limit() -> None:
    """With half of the limit to spare: here for 1,000 operations."""
    assert load(io.BytesIO(to_bytes(chain(1_000))), size_limit=SIZE_LIMIT // 2_000).nodes


def test_a_recording_that_deflates_too_well_is_not_deflated(tmp_path: Path) -> None:
    recording = dataclasses.replace(CHAIN, sources={"run.py": "x = x * w\n" * 1_000_000})
    save(recording, tmp_path / "run.tape")
    assert load(tmp_path / "run.tape").sources == recording.sources


def test_an_object_that_deflates_too_well_is_not_deflated(tmp_path: Path) -> None:
    mt.save(["x" * 10_000_000], tmp_path / "texts")
    assert mt.load(tmp_path / "texts") == ["x" * 10_000_000]


def test_a_long_text_is_cut(tmp_path: Path) -> None:
    tensors = tuple(one._replace(names=("n" * 200_000,)) for one in CHAIN.tensors)
    save(dataclasses.replace(CHAIN, tensors=tensors), tmp_path / "run.tape")
    assert load(tmp_path / "run.tape").tensors[0].name == "n" * 99_999 + "…"


def test_scopes_inside_of_each_other_are_drawn() -> None:
    scopes = tuple(ScopeRecord(k, f"s{k}", k - 1 if k else None) for k in range(2_000))
    nodes = tuple(node._replace(scope=1_999) for node in CHAIN.nodes)
    dot = viz.draw(dataclasses.replace(CHAIN, nodes=nodes, scopes=scopes), fold=True).dot
    assert "s0" in dot
    assert "s1999" not in dot


# Memory


def peak_of(data: bytes) -> int:
    """The memory that it takes to refuse a file."""
    tracemalloc.start()
    try:
        refusal(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("at", [20, 24])
def test_a_directory_that_says_that_a_member_is_large_is_not_believed(at: int) -> None:
    """The 30 MB of a member are 30 kB deflated: it says that these are 30 MB as well, or that it unpacks to little."""
    data = bytearray(with_json(lambda text: text[:-3] + b',"x":"' + b" " * 30_000_000 + b'"}'))
    entry = data.index(b"PK\x01\x02")
    size = 30_000_000 if at == 20 else 1_000
    data[entry + at : entry + at + 4] = size.to_bytes(4, "little")
    assert peak_of(bytes(data)) < 5_000_000


@pytest.mark.parametrize("entry", [b"[],", b"{},", b"[[]],"])
@pytest.mark.parametrize("part", [b'"notes":[', b'"id":['])
def test_many_lists_are_refused_before_they_are_made(entry: bytes, part: bytes) -> None:
    """They take thirty times the memory of their text; what cannot be deflated is added, so that the file is large."""
    filler = random.Random(0).randbytes(200_000).hex().encode()
    data = with_json(lambda text: text.replace(part, part + b'"' + filler + b'",' + entry * 1_000_000, 1))
    assert peak_of(data) < 12 * (len(entry) * 1_000_000 + len(filler))


def test_brackets_in_texts_are_no_lists(tmp_path: Path) -> None:
    sources = {"run.py": '[{"\\' * 500_000}
    save(dataclasses.replace(CHAIN, sources=sources), tmp_path / "run.tape")
    assert load(tmp_path / "run.tape").sources == sources


def test_text_without_an_end_takes_no_time() -> None:
    """Many brackets, so that the text is looked through, and a string of quotes that has no end."""
    endless = b'"notes":["' + b'[{\\"' * 300_000
    assert "cannot be read" in refusal(with_json(lambda text: text.replace(b'"notes":[', endless)))


# Counts


def test_arrays_do_not_share_what_is_stored() -> None:
    def edit(text: bytes) -> bytes:
        top = json.loads(text)
        top["values"] = [[0, 0, top["packs"]["float32"]]] * len(top["values"])
        return json.dumps(top).encode()

    assert "arrays that share what is stored" in refusal(with_json(edit))


def call(number: int, *steps: CallStep) -> CallRecord:
    outer = number - 1 if number else None
    return CallRecord(number, "backward", "f", None, None, None, outer, None, steps, 0, 0, None)


def into(number: int) -> CallStep:
    return CallStep("call", "f", None, (), (), False, (), None, number)


def checked(*elements: int) -> FiniteDifferences:
    numbers = np.zeros(len(elements))
    return FiniteDifferences(0, CHAIN.passes[0].steps[0].node, 0, elements, numbers, numbers, True, "")


STEP = CHAIN.passes[0].steps[0]
SUMMARY = Summary((9,), "float32", 0.0, 1.0, 0.5, 0.1, 0, 0, 0, (9,), ((0.5,),))


def tensors(**changes: Any) -> dict[str, Any]:
    return {"tensors": tuple(one._replace(**changes) for one in CHAIN.tensors)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (tensors(shape=(1,) * 65), "65 dimensions"),
        (tensors(values={0: SUMMARY._replace(histogram=(1,) * 65)}), "more detail"),
        (tensors(values={0: SUMMARY._replace(thumbnail=((0.5,) * 65,))}), "more detail"),
        (tensors(values={0: SUMMARY._replace(infs=1, negative_infs=2)}), "describes no array"),
        ({"nodes": tuple(one._replace(sequence_nr=2**63) for one in CHAIN.nodes)}, "out of range"),
        ({"passes": (CHAIN.passes[0]._replace(steps=(STEP._replace(deliveries=STEP.deliveries * 9),)),)}, "deliveries"),
        ({"calls": (*(call(k, into(k + 1)) for k in range(300)), call(300))}, "calls around it"),
        ({"calls": (call(0, into(1), into(1)), call(1))}, "call 1 is made twice"),
        ({"checks": (checked(0), checked(0))}, "same gradient"),
        ({"checks": (checked(0, 1),)}, "out of range"),
    ],
)
def test_counts_that_no_recording_has(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(to_bytes(dataclasses.replace(CHAIN, **changes)))
