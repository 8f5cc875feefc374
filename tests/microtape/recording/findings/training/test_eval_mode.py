"""A model that trains in eval mode from the start: what is named, and how often it was so."""

from __future__ import annotations

from pathlib import Path

import pytest

import microtape as mt
from microtape import load, nn, save
from microtape.recording import record
from microtape.recording.findings import Finding, findings


def found() -> Finding:
    """What is said of a model in eval mode, where `eval()` is called of another module."""
    mt.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.BatchNorm1d(4), nn.Linear(4, 1))
    teacher = nn.Linear(3, 1)
    optimizer = mt.optim.SGD(model.parameters(), lr=0.1)

    def program() -> None:
        teacher.eval()
        model.train(False)
        for _ in range(3):
            x = mt.randn(8, 3)
            with mt.no_grad():
                wanted = teacher(x)
            loss = (model(x) - wanted).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    (finding,) = (one for one in findings(record(program)) if one.kind == "eval mode")
    return finding


def test_the_eval_of_another_module_is_not_named() -> None:
    finding = found()
    assert "as teacher.eval()" not in " ".join(finding.explanation)
    assert finding.place is not None
    assert finding.headline.endswith(f"test_eval_mode.py:{finding.place.line}")


def test_passes_are_counted_and_not_layers() -> None:
    finding = found()
    assert finding.explanation[1] == "So in 3 passes, though its weight learns."


@pytest.mark.parity
def test_it_is_named_where_a_file_has_no_more_than_summaries(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 1, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def program(mode: bool) -> None:
        model.train(mode)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(4, 3, 8, 8)).square().mean().backward()
            optimizer.step()

    for mode, count in (False, 1), (True, 0):
        save(record(program, mode), tmp_path / "small.tape", element_budget=32)
        found = [one for one in findings(load(tmp_path / "small.tape")) if one.kind == "eval mode"]
        assert len(found) == count
