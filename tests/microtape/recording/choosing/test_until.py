"""`--until nan|error|EXPR`: up to the pass where it happens, for those who do not know its number."""

import json

import pytest

from microtape import load
from microtape.errors import RecordingError
from microtape.recording.script.run import record_script
from tests.tui.stepper.test_app import LARGE, bar, row, shown, stepper
from tui.commands.cli import main
from tui.shell.exits import Exit

TRAINING = """\
import microtape as mt
w = mt.tensor(1.0, requires_grad=True)
for step in range({count}):
    loss = (w * (10.0 - 3.0 * step)).{op}()
    loss.backward()
    {after}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(count=9, op="log", after="w.grad = None"):
        (tmp_path / "train.py").write_text(TRAINING.format(count=count, op=op, after=after))
        return "train.py"

    return write


def until(script, what):
    ended = record_script(script, out="run.tape", until=what)
    return ended, load("run.tape") if ended.recording else None


def test_the_pass_with_the_first_nan_is_kept_and_those_before_are_not(program):
    ended, recording = until(program(), "nan")
    assert (ended.exit_code, ended.message) == (0, None)
    assert [one.index for one in recording.passes] == [4], "log of a negative number: 10 - 3 * 4"
    assert len([node for node in recording.nodes if node.op == "log"]) == 1
    assert recording.notes[-1].startswith("the program was stopped at pass 5, where nan came true")


def test_a_condition(program):
    ended, recording = until(program(op="exp"), "grad.max() > 1 and value.max() > 100 and op == 'mul'")
    assert recording is None
    assert ended.exit_code == 3
    assert ended.message == ("train.py never had grad.max() > 1 and value.max() > 100 and op == 'mul' in its 9 passes")
    _, recording = until(program(op="sin"), "value < 0 and op == 'mul'")
    assert [one.index for one in recording.passes] == [4]


def test_what_never_happens_is_one_line_and_nothing_is_kept(program):
    assert until(program(op="sin"), "nan")[0].message == "train.py computed no NaN in its 9 passes"
    assert until(program(op="sin"), "error")[0].message == "train.py did not fail"
    assert until(program(op="sin", count=1), "nan")[0].message == "train.py computed no NaN in its only pass"


def test_the_pass_that_fails(program):
    ended, recording = until(program(after="if step == 6: loss.backward()"), "error")
    assert ended.exit_code == 1
    (one,) = recording.passes[-1:]
    assert one.index == 7
    assert "second time" in one.error.message


def test_a_failure_outside_of_a_pass_counts_as_well(program):
    ended, recording = until(program(after="assert step < 5"), "error")
    assert ended.exit_code == 1
    assert recording.error.type == "AssertionError"
    assert [one.index for one in recording.passes] == [5], "the last one before"


def test_passes_that_share_a_graph_are_kept_together(program, tmp_path):
    (tmp_path / "double.py").write_text(
        "import microtape as mt\n"
        "for k in range(4):\n"
        "    x = mt.tensor(2.0 - k, requires_grad=True)\n"
        "    (slope,) = mt.autograd.grad((x * x * x), x, create_graph=True)\n"
        "    slope.backward()\n"
    )
    _, recording = until("double.py", "grad < 0 and name == 'x'")
    assert [(one.index, one.kind) for one in recording.passes] == [(6, "grad"), (7, "backward")]
    assert recording.nodes[0].variable is not None
    assert all(recording.value(ref) is not None for node in recording.nodes for ref in node.outputs)


def test_what_makes_no_sense_is_refused_before_anything_runs(program):
    with pytest.raises(RecordingError, match="say nan, error or a condition: there is no 'gred'"):
        until(program(), "gred > 1")
    with pytest.raises(RecordingError, match="not both"):
        record_script(program(), out="run.tape", until="nan", passes="2")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("command", [["trace"], ["draw", "-o", "graph.dot"], ["film", "-o", "run.html"], ["record"]])
def test_every_command_takes_it(program, command, capfd):
    assert main([*command, program(), "--until", "nan"]) == Exit.OK
    capfd.readouterr()
    assert main([*command, program(op="sin"), "--until", "nan"]) == Exit.NOTHING_RECORDED
    assert capfd.readouterr().err == "microtape: train.py computed no NaN in its 9 passes\n"


def test_the_command_line_refuses_what_contradicts_itself(program, capfd):
    assert main(["trace", program(), "--until", "nan", "--pass", "2"]) == Exit.BAD_INPUT
    assert capfd.readouterr().err == "microtape: --pass and --until both choose a pass: give only one of them\n"


def test_in_a_recording_it_chooses_the_pass(program, capfd):
    record_script(program(), out="run.tape", passes="all")
    assert main(["trace", "run.tape", "--until", "nan", "--json"]) == Exit.OK
    assert [one["index"] for one in json.loads(capfd.readouterr().out)["passes"]] == [4]
    assert main(["trace", "run.tape", "--until", "error"]) == Exit.NOTHING_RECORDED
    assert capfd.readouterr().err == "microtape: train.py did not fail\n"
    assert main(["trace", "run.tape", "--until", "w +"]) == Exit.BAD_INPUT


def test_who_fails_before_it_happens_is_shown_failing(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fails.py").write_text(
        "import microtape as mt\nw = mt.tensor([1.0, 2.0], requires_grad=True)\nfor step in range(9):\n"
        "    hidden = w.exp()\n    if step == 6:\n        hidden += 1\n    hidden.sum().backward()\n"
    )
    assert main(["trace", "fails.py", "--until", "nan"]) == Exit.SCRIPT_FAILED
    out, err = capfd.readouterr()
    assert "Pass 7 " in out
    assert "microtape: fails.py computed no NaN in its 7 passes, but failed; showing its last pass\n" in err


async def test_the_stepper_opens_where_it_happened(program):
    _, recording = until(program(), "nan")
    async with stepper(recording, until="nan").run_test(size=LARGE) as pilot:
        assert bar(pilot.app) == "step 0 of 3", "where the last operation has computed it"
        assert " nan " in row(pilot.app, 2)
    async with stepper(recording, until="op == 'mul' and step > 0").run_test(size=LARGE) as pilot:
        assert bar(pilot.app) == "step 2 of 3"
        assert "◆" in shown(pilot.app, "TimeBar")
