"""The benchmarks measure what they say: engines agree before they are timed, and reports show what was measured."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import microtape as mt
from benchmarks import __main__ as command
from benchmarks import report, stepper, training
from benchmarks.available import ENGINES
from benchmarks.figures import Figure
from benchmarks.measure import DifferentError, Ratio, Result, compare, interleaved, ratios, run_workload
from benchmarks.workloads import WORKLOADS

BY_NAME = {workload.name: workload for workload in WORKLOADS}
LARGE = {"large mlp"}
WITH_A_FLOOR = [one for one in WORKLOADS if one.floor is not None and one.name not in LARGE]


@pytest.mark.parametrize("workload", WITH_A_FLOOR, ids=lambda workload: workload.name)
def test_a_floor_computes_what_the_engine_computes(workload):
    engine = ENGINES["microtape"]()
    run = engine.prepare(workload)
    expected = ENGINES["numpy"]().prepare(workload)()
    compare(workload.name, engine.arrays(run()), expected, workload.tolerance)


def test_a_run_leaves_nothing_behind_for_the_next_one():
    run = ENGINES["microtape"]().prepare(BY_NAME["mlp"])
    first, second = run(), run()
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.array, b.array)


def test_engines_that_disagree_are_not_timed():
    workload = replace(BY_NAME["mlp"], floor=lambda parameters, constants: lambda: [p * 0 for p in parameters])
    with pytest.raises(DifferentError, match="mlp: microtape has another gradient for parameter 0"):
        run_workload(workload, {"numpy": ENGINES["numpy"](), "microtape": ENGINES["microtape"]()}, 1, 0.0)


def test_a_workload_is_timed_on_every_engine_that_can_run_it():
    engines = {"numpy": ENGINES["numpy"](), "microtape": ENGINES["microtape"]()}
    result = run_workload(BY_NAME["scalar mlp"], engines, rounds=2, block=0.0)
    assert result.skipped == {"numpy": "no floor"}
    assert set(result.seconds) == {"microtape"}
    assert result.seconds["microtape"] > 0


@pytest.mark.parity
@pytest.mark.parametrize("program", training.PROGRAMS, ids=lambda program: program.title)
def test_steps_of_models_are_the_same_on_torch(program):
    import torch

    losses = []
    for make, module in ((program.ours, mt), (program.theirs, torch)):
        module.manual_seed(0)
        step = make(module)
        losses.append([step().item() for _ in range(3)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert (losses[0][2] < losses[0][0]) == program.title.startswith("training")


def test_training_is_not_timed_without_torch():
    figures = list(training.training({"microtape": ENGINES["microtape"]()}, quick=True))
    assert [(one.value, one.note) for one in figures] == [(None, "torch is not installed")] * len(training.PROGRAMS)


def test_every_other_round_runs_in_the_opposite_order():
    order = []
    interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=2, block=-1.0)
    warm_up, rounds = order[:2], order[2:]
    assert warm_up == ["a", "b"]
    assert rounds == ["a", "b", "b", "a"]


def test_a_ratio_is_the_median_over_the_rounds_with_its_quartiles():
    times = {"microtape": [1.0, 2.0, 3.0, 4.0, 5.0], "torch": [1.0, 1.0, 1.0, 1.0, 1.0]}
    assert ratios(times, "microtape") == {"torch": Ratio(median=3.0, low=2.0, high=4.0)}


def result_with(median: float) -> Result:
    """An MLP measured at this ratio to numpy, whose target is 1.42."""
    ratio = Ratio(median, median - 0.1, median + 0.1)
    return Result(BY_NAME["mlp"], {"microtape": 0.0002, "numpy": 0.0001}, {"numpy": ratio}, {})


def test_a_target_is_missed_only_above_it():
    assert result_with(1.42).missed == []
    assert result_with(1.43).missed == ["numpy"]
    assert not Figure("x", 8.0, "×", 8).missed
    assert Figure("x", 8.1, "×", 8).missed
    assert not Figure("x", None, "×", 8, "not there").missed


def test_the_page_shows_ratios_targets_and_what_is_missing():
    figure = Figure("recording", 9.0, "×", 8)
    engines = {"microtape": ENGINES["microtape"](), "numpy": ENGINES["numpy"]()}
    page = report.markdown([result_with(1.5)], [figure], engines, {"torch": "not installed"}, "ratios.svg")
    assert "| MLP 64-128-10, batch 64, cross-entropy | 200 µs | **1.50** [1.40, 1.60] / 1.42 |" in page
    assert "| recording | **9 ×** | 8 × |" in page
    assert "- torch is missing: not installed." in page
    assert f"numpy {np.__version__}" in page


def test_the_picture_has_a_dot_for_each_ratio():
    drawing = ET.fromstring(report.picture([result_with(1.0), result_with(2.0)]))
    dots = [one for one in drawing.iter("{http://www.w3.org/2000/svg}circle") if one.get("r") == "4"]
    left, right = (float(dot.get("cx", "nan")) for dot in dots)
    assert left == pytest.approx(report.across(1.0), abs=0.1)
    assert right == pytest.approx(report.across(2.0), abs=0.1)


def test_an_unknown_name_is_answered_with_the_known_names():
    arguments = [sys.executable, "-m", "benchmarks", "--only", "mlpp"]
    result = subprocess.run(arguments, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert result.returncode == 2
    assert "invalid choice: 'mlpp'" in result.stderr
    assert "double backward" in result.stderr


@pytest.mark.parametrize(("ratio", "arguments", "code"), [(1.5, ["--gate"], 1), (1.5, [], 0), (1.4, ["--gate"], 0)])
def test_the_gate_fails_where_a_target_is_missed(ratio, arguments, code, monkeypatch, capsys):
    monkeypatch.setattr(command, "measure", lambda *_: ([result_with(ratio)], []))
    monkeypatch.setattr(command, "available", lambda: ({}, {}))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick", *arguments])
    assert command.main() == code
    assert f"{int(ratio > 1.42)} targets missed" in capsys.readouterr().out


def test_the_page_says_by_how_much_a_target_is_missed():
    page = report.markdown([result_with(1.5)], [Figure("recording", 9.0, "×", 8)], {}, {}, "ratios.svg")
    missed = "1.5, which is 6 % above the target of 1.42"
    assert f"- MLP 64-128-10, batch 64, cross-entropy, to numpy by hand: {missed}." in page
    assert "- recording: 9, which is 12 % above the target of 8." in page


def test_a_missed_floor_is_shown_with_the_time_of_the_formulas_alone():
    result = replace(result_with(1.5), seconds={"microtape": 3.0, "formulas": 2.6, "numpy": 2.0})
    page = report.markdown([result], [], {}, {}, "ratios.svg")
    assert "to numpy by hand: 1.5, which is 6 % above the target of 1.42; formulas alone take 1.30." in page


def test_a_check_that_fails_keeps_its_findings():
    def check():
        yield Figure("first", 1.0)
        raise RuntimeError("nothing came\nfor a long time")

    first, broken = command.attempted("stepper", check())
    assert first.what == "first"
    assert (broken.what, broken.value, broken.note) == ("stepper", None, "failed: nothing came")


def test_the_programs_that_the_stepper_is_timed_with_exist():
    for program in (stepper.IMPORTS, stepper.MICROTAPE):
        result = subprocess.run(
            [sys.executable, "-c", program, "--help"], capture_output=True, text=True, cwd=Path(__file__).parents[2]
        )
        assert result.returncode == 0, result.stderr


def test_formulas_alone_make_the_calls_of_the_engine():
    calls = []
    workload = BY_NAME["mlp"]
    node = type(mt.relu(mt.ones(1, requires_grad=True)).grad_fn)
    forward, grad_x = node.forward, node.grad_x
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node, "forward", staticmethod(lambda x: (calls.append("forward"), forward(x))[1]))
        patch.setattr(node, "grad_x", lambda self, *args: (calls.append("backward"), grad_x(self, *args))[1])
        run = ENGINES["formulas"]().prepare(workload)
        calls.clear()
        run()
    assert calls == ["forward", "backward"]
    engine = ENGINES["microtape"]()
    compare("formulas", engine.arrays(run()), engine.arrays(engine.prepare(workload)()), 0.0)
