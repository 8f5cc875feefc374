"""A model that trains in eval mode from the start: what is named, and how often it was so."""

from __future__ import annotations

import microtape as mt
from microtape import nn
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
