"""The trace: the stepper's plain-text twin, and its JSON for machines."""

import json
import math
import re

import numpy as np

from microtape.recording.file.tape_file import save
from microtape.recording.model.model import Summary
from tests.support.recordings import handmade
from tui.commands.cli import main
from tui.time.cursor import StepCursor
from tui.words.trace import trace, trace_step
from tui.words.trace_json import as_json, as_plain, step_as_json

STEP_3 = """\
── Pass 1 of 1  ·  z.backward()  ·  diamond.py:6  ·  complete, 5 steps ─────────

    no.     op   name operands shape  value gradient |g|
  +   0 ○   leaf x             scalar 2     21       ████████
  +   1 ○   leaf y             scalar 3     16       ███████▊
  >   2 ●   mul       x, y     scalar 6     5        ██████▊
      3 │ ● add       x, y     scalar 5     6        ██████▉
      4 ●─╯ mul  z    %2, %3   scalar 30    1        █████▍

── Step 3 of 5  ·  %2 mul  ·  diamond.py:5  ·  x * y ───────────────────────────
  %2 mul received 5; its rule ∂%2/∂x = y, ∂%2/∂y = x sends 15 to x and 10 to y.
  Gradients of values used more than once add up: x has 6 + 15 = 21 and y has 6
  + 10 = 16. Next: y, because leaves go first.
  %2  diamond.py:5  x * y   MulBackward0
  rule     %2 = x · y   ∂%2/∂x = y,   ∂%2/∂y = x
  received 5
  kept     x  2
           y  3
  sends    → x  g · y = 5 · 3 = 15,  6 + 15 = 21   ready
           → y  g · x = 5 · 2 = 10,  6 + 10 = 16   ready
  freed    the tensors that it kept

── Source  ·  diamond.py ───────────────────────────────────────────────────────
    3  x = mt.tensor(2.0, requires_grad=True)
    4  y = mt.tensor(3.0, requires_grad=True)
  > 5  z = (x * y) * (x + y)
            ^^^^^
    6  z.backward()

── Leaves ──────────────────────────────────────────────────────────────────────
  x = 2  .grad  None  all 2 terms, not added yet: 21
  y = 3  .grad  None  all 2 terms, not added yet: 16

── Engine ──────────────────────────────────────────────────────────────────────
  ready    y and x
  done     3 of 5 nodes
"""


def text(recording, **options):
    return "\n".join(trace(recording, **options)) + "\n"


def test_one_step_is_a_page_to_read():
    assert "\n".join(trace_step(handmade.diamond(), 3, width=80)) + "\n" == STEP_3


def test_gradients_are_partial_before_all_terms_have_come():
    assert "6 (1/2)" in "\n".join(trace_step(handmade.diamond(), 2))


def test_the_whole_trace_has_every_step_of_every_pass():
    whole = text(handmade.twice())
    assert whole.startswith("twice.py: 6 operations and 2 leaves on the tape, 2 backward passes\n")
    for number in (1, 2):
        assert f"Pass {number} of 2" in whole
    assert whole.count("── Step 5 of 5") == 2
    assert "x = 2  .grad  42  complete" in whole


def test_the_trace_can_be_limited_to_chosen_passes():
    second = text(handmade.twice(), passes=[1])
    assert "Pass 2 of 2" in second
    assert "Pass 1 of 2" not in second


def test_a_failed_pass_ends_at_the_failure_with_both_lines():
    whole = text(handmade.failing())
    assert "failed at step 3" in whole
    assert "saved    inplace.py:4   mt.exp(x)" in whole
    assert "modified inplace.py:5   e.add_(1.0)" in whole


def test_a_long_trace_leaves_nothing_out():
    recording = handmade.chain(500)
    whole = text(recording)
    steps = len(recording.passes[0].steps)
    assert all(f"Step {number} of {steps} " in whole for number in range(1, steps + 1))
    assert not re.search(r"and \d+ more (terms|edges|leaves)", whole)


def test_ascii_is_ascii_and_no_line_ends_in_spaces():
    for recording in (handmade.diamond(), handmade.failing(), handmade.chain(30, 6)):
        assert text(recording, ascii=True).isascii()
        assert all(line == line.rstrip() for line in text(recording).splitlines())


def test_a_recording_without_passes_says_so():
    tape = handmade.Tape("forward.py", "")
    tape.op("exp", "", [tape.tensor("x", 1)], 2, [None])
    assert "backward was never called" in text(tape.recording())


def test_json_holds_the_recording_field_by_field():
    recording = handmade.diamond()
    data = json.loads(json.dumps(as_json(recording), allow_nan=False))
    assert [node["name"] for node in data["nodes"]] == [node.name for node in recording.nodes]
    step = data["passes"][0]["steps"][2]
    assert step["deliveries"][0]["total"] == {"shape": [], "dtype": "float64", "data": 21.0}
    assert step["sentence"].startswith("%2 mul received 5")
    assert data["passes"][0]["nodes"] == [0, 1, 2, 3, 4]


def test_json_of_one_step_has_the_leaves_as_they_are_then():
    data = step_as_json(StepCursor.after(handmade.diamond(), 2))
    assert data["node"]["op"] == "add"
    assert [(leaf["name"], leaf["state"], leaf["arrived"]) for leaf in data["leaves"]] == [
        ("x", "partial", 1),
        ("y", "partial", 1),
    ]


def test_json_writes_what_json_lacks():
    assert as_plain(np.array([np.nan, np.inf, -np.inf, 1.5])) == {
        "shape": [4],
        "dtype": "float64",
        "data": ["nan", "inf", "-inf", 1.5],
    }
    assert as_plain(np.array(1 + 2j))["data"] == [1.0, 2.0]
    assert as_plain(Summary((9,), "float32", None, None, None, None, 0, 9, 0, (), ()))["summary"]["nans"] == 9
    assert as_plain(math.nan) == "nan"


def test_why_and_node_on_the_command_line(tmp_path, capfd):
    path = str(tmp_path / "diamond.tape")
    save(handmade.diamond(), path)
    assert main(["trace", path, "--why", "x"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[0] == "∂z/∂x = 21"
    assert "    by its rule g · y = 5 · 3" in out
    assert main(["trace", path, "--why", "x", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["gradient"]["data"], [term["node"] for term in data["terms"]]) == (21.0, [3, 2])
    assert main(["trace", path, "--node", "add"]) == 0
    assert "Step 2 of 5" in capfd.readouterr().out
    assert main(["trace", path, "--node", "nope"]) == 2
    assert "there is no 'nope' here" in capfd.readouterr().err


def test_keep_says_how_large_an_array_is_kept_whole(tmp_path, capfd):
    script = tmp_path / "large.py"
    script.write_text("import microtape as mt\nx = mt.ones(100, requires_grad=True)\n(x * 2).sum().backward()\n")
    for keep, whole in (("99", False), ("100", True)):
        assert main(["trace", str(script), "--keep", keep, "--node", "x", "--json"]) == 0
        grad = json.loads(capfd.readouterr().out)["step"]["grad_after"]
        assert ("data" in grad) is whole
    assert main(["trace", str(script), "--keep", "none"]) == 2
    assert "'none' is not a number of elements" in capfd.readouterr().err


def test_every_number_of_a_node_is_printed_with_all_its_digits(tmp_path, capfd):
    script = tmp_path / "thirds.py"
    script.write_text(
        "import microtape as mt\nx = mt.arange(1.0, 2001.0)\nx.requires_grad_()\ny = x / 3\ny.sum().backward()\n"
    )
    assert main(["trace", str(script), "--array", "y", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    values = {one["name"]: one["value"]["data"] for one in data["arrays"]}
    assert set(values) == {"gradient", "value", "kept y", "to x"}
    assert np.array_equal(np.float32(values["value"]), np.arange(1, 2001, dtype=np.float32) / np.float32(3))
    assert main(["trace", str(script), "--array", "y"]) == 0
    out = capfd.readouterr().out
    text = re.search(r"^value  2000  float32\n  min .*?\n.*?\n  \[(.*?)\]\n", out, re.M | re.S)[1]
    assert np.array_equal(np.float32(text.split()), np.float32(values["value"])), "nothing is left out"
    assert main(["trace", str(script), "--keep", "99", "--array", "y"]) == 0
    assert "record with --keep 2000 to keep the whole array" in capfd.readouterr().out
    assert main(["trace", str(script), "--step", "0", "--array", "y"]) == 0
    assert "gradient" not in capfd.readouterr().out
    assert main(["trace", str(script), "--array", "nope"]) == 2
    assert "there is no 'nope' here" in capfd.readouterr().err
