"""What happens inside of functions, in words."""

import json
from dataclasses import replace

import pytest

from microtape import save
from tests.tui.inside import PROGRAMS, recorded
from tui.commands.cli import main
from tui.shell.exits import Exit
from tui.shell.spans import plain
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.words.functions.inside import InsideWords
from tui.words.functions.inside_lines import call_lines, why_not
from tui.words.trace import trace


def call(name, kind, *, nth=0):
    """The words of a call of a program."""
    recording = recorded(name)
    found = [one.id for one in recording.calls if one.kind == kind]
    return InsideWords(CallCursor(recording, (found[nth],)))


def rows(words):
    return [" ".join(f"{row.op} {row.operands} {plain(row.result)}".split()) for row in words.rows]


def test_backward_says_what_is_unpacked_and_which_gradient_belongs_to_which_argument():
    assert rows(call("clip", "backward")) == [
        "enter g = [-0, 2, 0] from z; "
        "_g_inside = [False, False, False] from inside, which is non-differentiable: zeros",
        "unpack mask = [0, 1, 0], saved at version 0, now 0; x = [-3, 2, 7], saved at version 2, now 2",
        "mul g, mask scaled = [-0, 2, 0]",
        "return scaled = [-0, 2, 0] to x; None to lo, hi",
    ]


def test_forward_says_what_its_outputs_are():
    assert rows(call("clip", "forward", nth=1)) == [
        "enter x = [-3, 2, 7]; lo = -1.0; hi = 4.0",
        "greater_equal x, -1.0 x >= lo = [False, True, True]",
        "less_equal x, 4.0 x <= hi = [True, True, False]",
        "bitwise_and (x >= lo), (x <= hi) inside = [False, True, False]",
        "to inside mask = [0, 1, 0]",
        "mul x, mask x * mask = [-0, 2, 0]",
        "return z = [-0, 2, 0], differentiable; "
        "inside = [False, True, False], non-differentiable (mark_non_differentiable)",
    ]


def test_a_write_in_place_has_both_values_and_versions():
    assert rows(call("clip", "forward")) == [
        "enter x = [-4, 1, 6]",
        "add_ x, 1.0 x: [-4, 1, 6] → [-3, 2, 7], version 0 → 1",
        "return y = [-3, 2, 7], x itself, dirty",
    ]


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ("tensor hook", "return the gradient [1, 1, 1] becomes [0.5, 0.5, 0.5]"),
        ("node pre-hook", "return the gradient [0.5, 0.5, 0.5] becomes [1.5, 1.5, 1.5]"),
        ("node post-hook", "return None: the gradient stays [9, 18, 54]"),
        ("post-accumulate hook", "return .grad [9, 36, 162] becomes [18, 72, 324]"),
    ],
)
def test_hooks_say_the_gradient_before_and_after(kind, end):
    assert rows(call("nested", kind))[-1] == end


def test_setup_context_says_what_is_kept():
    assert rows(call("nested", "setup_context"))[-1] == "return ctx.scale = 3.0; saves x"


def test_jvp_returns_tangents():
    assert rows(call("tangent", "jvp")) == [
        "enter t = [1, 0]",
        "mul t, 2.0 t * ctx.factor = [2, 0]",
        "return [2, 0], the tangents of the outputs",
    ]


def test_a_function_and_a_pass_that_are_called_inside_have_a_row():
    found = rows(call("nested", "backward"))
    assert found[3] == "call Square.forward(inner) y = [1, 4, 36]"
    assert found[5] == "backward pass 2, 3 steps"


def test_an_unpack_hook_is_a_call_with_its_result():
    found = rows(call("unpacked", "backward"))
    assert found[1].startswith("call unpack([2, 4])")
    assert found[1].endswith("= [1, 2]")
    assert found[2].startswith("unpack x = [1, 2], saved at version 0")


def test_both_kinds_of_checkpoints_compute_again():
    reentrant, early = rows(call("checkpointed", "recomputation")), rows(call("checkpointed", "recomputation", nth=1))
    assert [one.split()[0] for one in early] == ["enter", "mul", "tanh", "mul", "return"]
    assert reentrant[-1].endswith(", computed again")
    assert early[-1] == "return stops: all that was saved is computed again"


def test_an_exception_is_the_last_step():
    assert rows(call("raises", "backward"))[-1] == ("raise RuntimeError: shape '[2, 2]' is invalid for input of size 3")


def test_the_variables_say_what_is_new_and_what_has_changed():
    words = call("clip", "backward")
    assert [(one.name, plain(one.text)) for one in words.variables(2)] == [
        ("scaled", "[-0, 2, 0]  result"),
        ("g", "[-0, 2, 0]"),
        ("_g_inside", "[False, False, False]"),
        ("mask", "[0, 1, 0]  new"),
        ("x", "[-3, 2, 7]  version 2  new"),
        ("ctx.lo", "-1.0"),
    ]
    written = call("clip", "forward")
    assert [plain(one.text) for one in written.variables(1)] == ["[-3, 2, 7]  version 1  was [-4, 1, 6]"]


def test_an_argument_that_needs_a_gradient_and_gets_none_stands_out():
    recording = recorded("clip")
    at = next(one.id for one in recording.calls if one.name == "Clip.backward")
    record = recording.calls[at]
    nothing = record.steps[-1].outputs[1]
    last = record.steps[-1]._replace(outputs=(nothing, nothing, nothing))
    calls = list(recording.calls)
    calls[at] = record._replace(steps=(*record.steps[:-1], last))
    words = InsideWords(CallCursor(replace(recording, calls=tuple(calls)), (at,)))
    assert rows(words)[-1] == "return None to x, which needs a gradient; None to lo, hi"


def test_steps_that_were_not_kept_are_counted_where_they_are_missing():
    recording = recorded("long")
    lines = [plain(one) for _, one in call_lines(CallCursor(recording, (1,)))]
    missing = recording.calls[1].left_out
    at = lines.index(f"    {missing:,} more steps were not kept")
    assert lines[at - 1].startswith("200 ")
    assert lines[at + 1].startswith(f"{missing + 201} ")
    assert lines[-1].startswith("402 line 13")


def test_the_trace_has_the_inside_below_its_step():
    text = "\n".join(trace(recorded("nested"), into=True))
    step = text.split("── Step 2 of 5")[1].split("── Step 3")[0]
    kinds = [one.strip() for one in step.splitlines() if one.strip().startswith("inside")]
    assert kinds == [
        "inside halve (tensor hook)  nested.py:38",
        "inside <lambda> (node pre-hook)  nested.py:57",
        "inside Outer.backward  nested.py:29",
        "inside Square.forward  nested.py:6",
        "inside watch (node post-hook)  nested.py:42",
    ]
    assert "inside" not in "\n".join(trace(recorded("nested")))


@pytest.fixture
def printed(tmp_path, capfd):
    def run(name, *options):
        save(recorded(name), tmp_path / "run.tape")
        assert main(["trace", str(tmp_path / "run.tape"), *options]) == Exit.OK
        return capfd.readouterr().out

    return run


def test_the_command_prints_it_for_backward_and_for_forward(printed):
    assert "scaled = [-0, 2, 0] to x; None to lo, hi" in " ".join(printed("clip", "--into").split())
    assert "inside Clip.forward" in printed("clip", "--into", "--forward")
    assert "inside Clip.backward" in printed("clip", "--into", "--step", "3")
    printed("clip", "--into", "--ascii").encode("ascii")


def test_the_json_has_the_same_words(printed):
    steps = json.loads(printed("nested", "--into", "--json"))["passes"][0]["steps"]
    backward = next(one for one in steps[1]["inside"] if one["kind"] == "backward")
    assert backward["name"] == "Outer.backward"
    assert backward["steps"][-1]["words"] == "return: [9, 18, 54] to x; None to scale"
    assert backward["steps"][3]["calls"][0]["name"] == "Square.forward"
    assert "inside" not in json.loads(printed("nested", "--json"))["passes"][0]["steps"][1]
    forward = json.loads(printed("nested", "--into", "--json", "--forward", "--pass", "1"))["operations"]
    assert [one["name"] for one in forward[1]["inside"]] == ["Outer.forward", "Outer.setup_context"]


def test_where_there_is_nothing_inside_the_reason_is_one_line():
    recording = recorded("clip")
    before, clip = StepCursor.after(recording, 1), StepCursor.after(recording, 3)
    assert why_not(before, "i") == "None of your code ran in this step: i opens Functions, hooks, checkpoints."
    older = replace(recording, calls=(), functions=())
    assert "An older microtape" in why_not(StepCursor.after(older, 3), "i")
    cut = replace(recording, calls=(), notes=("7 calls of Functions and hooks were not kept, after the first 1,000",))
    assert "7 calls of Functions" in why_not(StepCursor.after(cut, 3), "i")
    assert clip.position in clip.timeline.calls


@pytest.mark.parametrize("program", sorted(one.stem for one in PROGRAMS.glob("*.py")))
def test_every_step_of_every_call_has_words(program):
    recording = recorded(program)
    assert recording.faults == ()
    for one in recording.calls:
        words = InsideWords(CallCursor(recording, (one.id,)))
        assert all(row.op for row in words.rows)
        for at in range(len(one.steps)):
            assert all(local.name for local in words.variables(at))
            words.arrays(at)
