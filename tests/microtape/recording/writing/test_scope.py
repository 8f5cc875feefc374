"""`microtape.scope`: names for parts of a program, which only a recording knows of."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.model.model import Recording, ScopeRecord


def scopes_of(recording: Recording) -> dict[str, str]:
    """Each operation and the path of its scopes."""

    def path(scope: int | None) -> str:
        if scope is None:
            return ""
        one = recording.scopes[scope]
        return f"{path(one.outer)}/{one.name}" if one.outer is not None else one.name

    return {node.op: path(node.scope) for node in recording.nodes if node.variable is None}


def test_an_operation_knows_the_scopes_it_was_recorded_in() -> None:
    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True)
        with mt.scope("encoder"):
            y = x.exp()
            with mt.scope("inner"):
                y = y.tanh()
            y = y * 2.0
        y = y.sin()
    assert scopes_of(recorder.recording) == {"exp": "encoder", "tanh": "encoder/inner", "mul": "encoder", "sin": ""}


def test_every_entry_is_a_scope_of_its_own() -> None:
    @mt.scope("cell")
    def cell(x: mt.Tensor) -> mt.Tensor:
        return x.exp()

    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True)
        for _ in range(3):
            x = cell(x)
    assert recorder.recording.scopes == tuple(ScopeRecord(number, "cell", None) for number in range(3))


def test_a_scope_ends_where_an_exception_leaves_it() -> None:
    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True)
        with pytest.raises(ZeroDivisionError), mt.scope("a"):
            raise ZeroDivisionError
        x.exp()
    assert scopes_of(recorder.recording) == {"exp": ""}


def test_each_thread_has_its_own() -> None:
    x = mt.tensor(1.0, requires_grad=True)
    found = []

    def run() -> None:
        with mt.record() as recorder:
            x.exp()
        found.append(scopes_of(recorder.recording))

    with mt.scope("here"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert found == [{"exp": ""}]


@pytest.mark.parametrize(("name", "error"), [(3, TypeError), ("", ValueError), ("  ", ValueError)])
def test_a_scope_has_a_name(name: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"scope\(\) takes a name"):
        mt.scope(name)  # type: ignore[arg-type]


def test_a_file_keeps_them_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True)
        with mt.scope("a"), mt.scope("b"):
            x.exp()
    recording, path = recorder.recording, tmp_path / "run.tape"
    mt.save(recording, path)
    assert mt.load(path).scopes == recording.scopes == (ScopeRecord(0, "a", None), ScopeRecord(1, "b", 0))
    assert mt.load(path).nodes == recording.nodes
    for scopes in ((), (ScopeRecord(0, "a", 1), ScopeRecord(1, "b", 0)), (ScopeRecord(1, "a", None),) * 2):
        mt.save(replace(recording, scopes=scopes), path)
        with pytest.raises(RecordingError, match="damaged recording"):
            mt.load(path)
