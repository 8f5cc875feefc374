"""Every view of the stepper has its twin in `microtape trace`: as text, and as JSON that says the same."""

import json
from pathlib import Path

import pytest

import tui
from microtape import save
from tests.programs.corpus import HERE, recorded
from tests.support.recordings import handmade
from tui.commands.cli import main
from tui.shell.exits import Exit

RECORDINGS = Path(tui.__file__).parent / "recordings"


@pytest.fixture
def trace(tmp_path, capfd):
    """`trace(recording, *options)`: what is printed; JSON where it is asked for."""

    def run(recording, *options):
        path = recording if isinstance(recording, str) else tmp_path / "run.tape"
        if not isinstance(recording, str):
            save(recording, path)
        else:
            path = RECORDINGS / f"{recording}.tape"
        assert main(["trace", str(path), *options]) == Exit.OK
        out, err = capfd.readouterr()
        assert err == ""
        return json.loads(out) if "--json" in options else out

    return run


WRONG = """
import microtape as mt
class Triple(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3
    @staticmethod
    def backward(ctx, g):
        return g * 2
w = mt.tensor([1.0, 2.0], requires_grad=True)
Triple.apply(w).sum().backward()
"""

VIEWS = {
    "a step": ("--step", "2"),
    "a node": ("--node", "x"),
    "forward": ("--forward",),
    "an operation": ("--forward", "--step", "1"),
    "the boxes": ("--boxes",),
    "the numbers": ("--array", "x"),
    "why": ("--why", "x"),
    "the line of time": ("--marks",),
    "a breakpoint": ("--break", "grad.max() >= 0"),
    "a watch": ("--changes", "x"),
    "what was found": ("--find", "x"),
    "folds": ("--fold",),
    "the passes": ("--passes",),
    "two passes": ("--compare", "1,2"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_each_view_is_there_as_text_in_ascii_and_as_json(view, trace):
    assert trace(handmade.twice(), "--pass", "1-2", *view).strip()
    assert trace(handmade.twice(), "--pass", "1-2", *view, "--ascii").isascii()
    data = trace(handmade.twice(), "--pass", "1", *view, "--json") if "--compare" not in view else (
        trace(handmade.twice(), *view, "--json"))  # fmt: skip
    assert (data["format"], data["version"]) == ("microtape trace", 1)


def test_a_step_shows_its_lines_of_the_source_with_the_expression_underlined(trace):
    out = trace(handmade.diamond(), "--step", "3")
    assert "\n  > 5  z = (x * y) * (x + y)\n            ^^^^^\n    6  z.backward()\n" in out
    data = trace(handmade.diamond(), "--step", "3", "--json")
    assert (data["expression"], data["place"]["line"]) == ("x * y", 5)


def test_the_json_of_a_step_has_what_the_panes_say(trace):
    data = trace(handmade.diamond(), "--step", "2", "--json")
    assert data["sentence"].endswith("x and y each wait for 1 more term. Next: %2 mul, the only ready node.")
    assert [one["node"] for one in data["waiting"]] == [0, 1]
    assert data["waiting"][0] == {
        "node": 0, "dependencies_left": 1, "buffer": {"0": {"shape": [], "dtype": "float64", "data": 6.0}}
    }  # fmt: skip
    assert "sends    → x  g = 6   waits for 1 more" in data["words"]["node"]
    assert data["words"]["leaves"][0] == "x = 2  .grad  None  1 of 2 terms: 6"
    assert data["words"]["engine"][-1] == "done     2 of 5 nodes"


def test_the_forward_pass_is_traced_operation_by_operation(trace):
    out = trace(handmade.diamond(), "--forward")
    for number, name in (1, "%2 mul"), (2, "%3 add"), (3, "z (%4)"):
        assert f"── Operation {number} of 3  ·  {name}  ·  diamond.py:5" in out
    assert "mul computed 6 from x and y. It keeps x and y for backward." in out
    operations = trace(handmade.diamond(), "--forward", "--json")["operations"]
    assert [one["node"] for one in operations] == [2, 3, 4]
    one = trace(handmade.diamond(), "--forward", "--step", "1", "--json")
    assert (one["operations_done"], one["steps_done"], one["sentence"]) == (1, 0, operations[0]["sentence"])


def test_the_marks_of_the_line_of_time(trace):
    assert trace("nan_gradient", "--marks").splitlines()[-2:] == [
        "step 5          here                        accumulates",
        "step 6          there                       accumulates",
    ]
    marks = trace("nan_gradient", "--marks", "--json")["marks"]
    assert [(one["steps"], one["what"]) for one in marks] == [
        (1, "infinity begins"), (5, "accumulates"), (6, "accumulates"),
    ]  # fmt: skip
    assert marks[0]["about"] == "5 nodes are not finite because of it"
    assert "failed: ModifiedInPlaceError: " in trace("in_place_error", "--marks")
    tape = handmade.Tape("forward.py", "")
    tape.op("exp", "", [tape.tensor("x", 1)], 2, [None])
    assert trace(tape.recording(), "--marks") == "nothing in this pass\n"


def test_the_marks_name_the_gradients_that_a_check_found_wrong(tmp_path, capfd):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    assert main(["trace", str(script), "--check", "--marks"]) == Exit.OK
    wrong, accumulated = (line.split(maxsplit=4) for line in capfd.readouterr().out.splitlines())
    assert wrong[:4] == ["step", "2", "%1", "Triple"]
    assert wrong[4] == "finite differences differ: it sent 2.000, they give 3.000 at [0]"
    assert accumulated == ["step", "3", "w", "accumulates"]
    assert main(["trace", str(script), "--marks"]) == Exit.OK
    assert "differ" not in capfd.readouterr().out


def test_where_breakpoints_stop_and_when_a_watch_changes(trace):
    out = trace(handmade.diamond(), "--break", "grad.max() > 5", "--break", "y", "--changes", "x")
    assert [line.split() for line in out.splitlines()] == [
        ["step", "1", "z", "(%4)", "stops:", "grad.max()", ">", "5"],
        ["step", "2", "%3", "add", "changes:", "x"],
        ["step", "2", "%3", "add", "stops:", "grad.max()", ">", "5"],
        ["step", "3", "%2", "mul", "changes:", "x"],
        ["step", "3", "%2", "mul", "stops:", "grad.max()", ">", "5"],
        ["step", "4", "y", "stops:", "grad.max()", ">", "5"],
        ["step", "4", "y", "stops:", "y"],
        ["step", "5", "x", "changes:", "x"],
        ["step", "5", "x", "stops:", "grad.max()", ">", "5"],
    ] or out  # fmt: skip


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--break", "nothing"), "there is no 'nothing' here"),
        (("--break", "grad ++"), "grad ++"),
        (("--changes", "nothing"), "there is no 'nothing' here"),
        (("--find", "nothing"), "'nothing' occurs in no row of this pass"),
        (("--forward", "--step", "9"), "pass 1 has 3 operations before it: --step takes 0 (before the first) to 3"),
        (("--step", "9"), "pass 1 has 5 steps: --step takes 0 (before the first) to 5"),
    ],
)
def test_an_unknown_name_gives_one_line(options, problem, tmp_path, capfd):
    save(handmade.diamond(), tmp_path / "run.tape")
    assert main(["trace", str(tmp_path / "run.tape"), *options]) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    assert out == ""
    assert problem in err
    assert err.count("\n") == 1


def test_the_boxes_as_data(trace):
    data = trace(handmade.diamond(), "--boxes", "--step", "2", "--json")
    assert [(box["node"], box["operands"]) for box in data["boxes"]] == [
        (0, []), (1, []), (2, [0, 1]), (3, [0, 1]), (4, [2, 3])
    ]  # fmt: skip
    states = {box["label"]: (box["state"], box["delivered"]) for box in data["boxes"]}
    assert states == {"x": ("future", True), "y": ("future", True), "%2": ("future", False),
                      "%3": ("current", False), "z": ("done", False)}  # fmt: skip
    large = trace(handmade.chain(200), "--boxes", "--node", "100", "--json")
    assert len(large["boxes"]) < large["of"], "the neighbourhood, and how much there is in all"


def test_an_array_comes_with_its_statistics_and_histogram(trace):
    out = trace("linear", "--array", "weight")
    assert "\n  min " in out
    assert "█" in out
    value = next(one for one in trace("linear", "--array", "weight", "--json")["arrays"]
                 if one["name"] == "value")  # fmt: skip
    assert sum(value["summary"]["histogram"]) == 4


def test_rows_that_were_looked_for_and_folds(trace):
    found = trace("rnn", "--find", "W_output")
    assert [line.split()[0] for line in found.splitlines()[1:]] == ["103", "104"]
    assert [one["id"] for one in trace("rnn", "--find", "W_output", "--json")["nodes"]] == [103, 104]
    assert "▸ line 31 ×20   100 of 100 done" in trace("rnn", "--fold")
    folds = [one for one in trace("rnn", "--fold", "--json")["rows"] if not isinstance(one, int)]
    assert [(one["fold"], len(one["nodes"])) for one in folds] == [("line 31 ×20", 100)]


def test_a_trace_begins_with_what_is_wrong(trace):
    recording = recorded(HERE / "broken" / "attention_share.py")
    first = trace(recording).splitlines()[1]
    assert first == "✗ nan          NaN begins at div, attention_share.py:10: 0 / 0 = nan"
    found = trace(recording, "--json")["findings"]
    assert [(one["kind"], one["severity"], one["place"]["line"]) for one in found] == [("nan", "error", 10)]
    assert found[0]["remedy"]
    assert trace(handmade.diamond(), "--json")["findings"] == []


def test_why_says_first_what_is_wrong_with_the_node(trace):
    recording = recorded(HERE / "broken" / "attention_share.py")
    origin = trace(recording, "--why", "share").splitlines()
    assert origin[0].startswith("✗ NaN begins at div")
    assert any(one.startswith("Remedy: ") for one in origin)
    carried = trace(recording, "--why", "loss").splitlines()
    assert carried[0] == "The value of loss (%9) is nan."
    assert any("It begins here: NaN begins at div" in one for one in carried)
