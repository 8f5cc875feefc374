"""What the panes and the sentence say at a moment, word for word."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from lessons.checking.wrong_engines import injected
from tests.support.recordings import handmade
from tui.shell.spans import line, plain, sentence_list, wrapped
from tui.time.cursor import StepCursor
from tui.words.pane_texts import PaneTexts
from tui.words.sentence import sentence
from tui.words.why import answer_lines


def said(recording, steps, pass_index=0):
    return plain(sentence(StepCursor.after(recording, steps, pass_index)))


def node_pane(recording, steps, width=80):
    return [plain(one).rstrip() for one in PaneTexts(StepCursor.after(recording, steps), width).node()]


def leaves(recording, steps, pass_index=0):
    return [plain(one) for one in PaneTexts(StepCursor.after(recording, steps, pass_index), 80).leaves()]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (0, "z (%4) = 30. backward() computes ∂z/∂x and ∂z/∂y, through 3 operations. The first step visits the last of "
                "them: z (%4), with ∂z/∂z = 1."),
        (1, "z (%4) received 1; its rule ∂z/∂%2 = %3, ∂z/∂%3 = %2 sends 5 to %2 mul and 6 to %3 add. "
            "Next: %3 add, the last recorded of 2 ready nodes."),
        (2, "%3 add received 6; its rule ∂%3/∂x = 1, ∂%3/∂y = 1 sends 6 to x and 6 to y. x and y each wait for 1 more "
            "term. Next: %2 mul, the only ready node."),
        (3, "%2 mul received 5; its rule ∂%2/∂x = y, ∂%2/∂y = x sends 15 to x and 10 to y. Gradients of values used "
            "more than once add up: x has 6 + 15 = 21 and y has 6 + 10 = 16. Next: y, because leaves go first."),
        (4, "y is a leaf, so its gradient goes no further: 16 becomes its .grad, which was None. "
            "Next: x, the only ready node."),
        (5, "x is a leaf, so its gradient goes no further: 21 becomes its .grad, which was None. "
            "That was the last step: backward is done."),
    ],
)  # fmt: skip
def test_every_step_of_the_diamond_is_described_with_its_numbers(steps, expected):
    assert said(handmade.diamond(), steps) == expected


@pytest.mark.parametrize(
    ("pass_index", "expected"),
    [
        (0, "loss_a (%3) = 3. backward() computes ∂loss_a/∂x, through 3 operations. The first step visits the last of "
            "them: loss_a (%3), with ∂loss_a/∂loss_a = 1."),
        (1, "loss_b (%5) = 9. backward() computes ∂loss_b/∂x, through 3 operations, and adds it to .grad. The first "
            "step visits the last of them: loss_b (%5), with ∂loss_b/∂loss_b = 1."),
        (2, "a (%1) = 3 and loss_b (%5) = 9. backward() computes the gradient of x, through 3 operations, and adds it "
            "to .grad. The first step visits the last of them: loss_b (%5), with the seed 2."),
        (3, "a (%1) = 3. grad() computes the gradients of x and a, through 1 operation. The first step visits it: "
            "a (%1), with the seed 5."),
        (4, "x = 3. backward() computes ∂x/∂x, and adds it to .grad. Next: x, the only ready node."),
    ],
)  # fmt: skip
def test_each_pass_is_introduced_by_its_own_root(pass_index, expected):
    with mt.record() as recorder:
        x = mt.tensor(3.0, requires_grad=True)
        a = x * 1.0
        b = a * 1.0
        loss_a = b * 1.0
        c = a * 3.0
        loss_b = c * 1.0
        loss_a.backward(retain_graph=True)
        loss_b.backward(retain_graph=True)
        mt.autograd.backward([a, loss_b], [mt.tensor(1.0), mt.tensor(2.0)], retain_graph=True)
        mt.autograd.grad(a, [x, a], mt.tensor(5.0))
        x.backward()
    assert said(recorder.recording, 0, pass_index) == expected


def test_no_reason_is_given_for_what_an_engine_with_a_fault_runs_next():
    with mt.record() as recorder, injected("no_reverse_order"):
        x = mt.tensor(1.0, requires_grad=True)
        a = x * 3
        z = a * (a + 1)
        z.backward()
    assert said(recorder.recording, 1).endswith("a (%1) waits for 1 more term. Next: a (%1).")


def test_a_second_pass_adds_to_grad():
    assert "its .grad was not None, so backward adds to it: 21 + 21 = 42." in said(handmade.twice(), 5, 1)


def test_a_stale_saved_tensor_is_described_with_both_versions_and_the_line():
    assert said(handmade.failing(), 3) == (
        "e (%1) failed. It kept e at version 0, but an in-place operation (line 5) has since changed it to "
        "version 1: the value that its derivative needs is gone."
    )


def test_the_forward_part_is_described_too():
    start = StepCursor.open(handmade.failing()).move(-100)
    told = [plain(sentence(start.move(moments))) for moments in range(3)]
    assert told == [
        "The program has not computed anything yet. It will record 3 operations on the tape.",
        "exp computed [1, 2.718] from x. It keeps e for backward.",
        "add changed e in place from [1, 2.718] to [2, 3.718], using 1.0. It keeps no value: backward needs none.",
    ]


def test_the_node_pane_shows_rule_gradients_saved_tensors_and_deliveries():
    assert node_pane(handmade.diamond(), 3) == [
        "%2  diamond.py:5  x * y   MulBackward0",
        "rule     %2 = x · y   ∂%2/∂x = y,   ∂%2/∂y = x",
        "received 5",
        "kept     x  2",
        "         y  3",
        "sends    → x  g · y = 5 · 3 = 15,  6 + 15 = 21   ready",
        "         → y  g · x = 5 · 2 = 10,  6 + 10 = 16   ready",
        "freed    the tensors that it kept",
    ]


def test_the_rule_leaves_out_what_concerns_a_constant():
    x = mt.tensor(2.0, requires_grad=True)
    cursor = StepCursor.after(mt.record((x * 3).backward), 1)
    node = [plain(one) for one in PaneTexts(cursor, 80).node()]
    assert node[1] == "rule     %1 = x · 3   ∂%1/∂x = 3"
    before = [plain(one) for one in PaneTexts(cursor, 80).operation(cursor.recording.nodes[-1])]
    assert "keeps    3" in before
    assert sum(line.startswith("sends") or "nothing" in line for line in node) == 1
    assert "its rule ∂%1/∂x = 3 sends 3 to x." in plain(sentence(cursor))


def test_the_node_pane_of_a_leaf_shows_what_its_gradient_is_the_sum_of():
    assert node_pane(handmade.diamond(), 5) == [
        "%0 x   AccumulateGrad",
        "received 21",
        "         = 6  from %3 add",
        "         + 15  from %2 mul",
        "goes to  .grad  None becomes 21",
    ]


def test_the_node_pane_of_a_failure_shows_the_versions_the_error_and_both_lines():
    text = "\n".join(node_pane(handmade.failing(), 3))
    assert "version 0 kept, 1 now" in text
    assert "RuntimeError: one of the variables needed" in text
    assert "saved    inplace.py:4   mt.exp(x)" in text
    assert "modified inplace.py:5   e.add_(1.0)" in text


def test_the_leaves_tell_how_many_terms_have_come():
    recording = handmade.diamond()
    assert [leaves(recording, steps)[0] for steps in (0, 2, 3, 5)] == [
        "x = 2  .grad  None  0 of 2 terms",
        "x = 2  .grad  None  1 of 2 terms: 6",
        "x = 2  .grad  None  all 2 terms, not added yet: 21",
        "x = 2  .grad  21  complete",
    ]


def test_the_engine_pane_shows_ready_and_waiting_nodes():
    text = [plain(one) for one in PaneTexts(StepCursor.after(handmade.diamond(), 2), 80).engine()]
    assert text == [
        "ready    %2 mul",
        "waiting  x  6  and 1 more to come",
        "         y  6  and 1 more to come",
        "done     2 of 5 nodes",
    ]


def test_a_long_list_is_cut_and_says_by_how_much():
    tape = handmade.Tape("hub.py", "")
    x = tape.tensor("x", 1)
    parts = [tape.op("exp", "", [x], 1, [lambda g: g]) for _ in range(40)]
    tape.backward(tape.op("stack", "", parts, 40, [lambda g: g] * 40))
    cut = [plain(one) for one in PaneTexts(StepCursor.after(tape.recording(), 1), 80).node()]
    assert cut[-1].strip() == "and 28 more edges"
    whole = list(PaneTexts(StepCursor.after(tape.recording(), 1), 80, limit=None).node())
    assert sum("ready" in plain(one) for one in whole) == 40


def test_ascii_mode_is_plain_ascii():
    recording = handmade.diamond()
    for steps in range(6):
        cursor = StepCursor.after(recording, steps)
        describer = PaneTexts(cursor, 80)
        for one in (*describer.node(), *describer.leaves(), *describer.engine(), sentence(cursor)):
            assert plain(one, ascii=True).isascii()


def test_what_would_control_the_terminal_is_written_out():
    assert plain(line("a\x1b[31m\u202eb")) == "a\\x1b[31m\\u202eb"


def test_lists_are_joined_as_in_prose():
    words = [line(word) for word in "abcde"]
    assert plain(sentence_list(words[:1])) == "a"
    assert plain(sentence_list(words[:2])) == "a and b"
    assert plain(sentence_list(words[:3])) == "a, b and c"
    assert plain(sentence_list(words)) == "a, b and 3 others"


def with_hooks():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as r:
        y = x * 3
        x.register_hook(clip)
        y.grad_fn.register_prehook(double)
        y.grad_fn.register_hook(ten_times)
        (y * y).sum().backward()
    return r.recording


def clip(gradient):
    return gradient.clamp(-1, 1)


def double(gradients):
    return (gradients[0] * 2,)


def ten_times(sent, arrived):
    return sent[0] * 10, None


def test_the_effect_of_a_hook_is_described_wherever_the_numbers_would_not_add_up():
    cursor = StepCursor.open(with_hooks()).goto("y")
    said = plain(sentence(cursor))
    assert said.startswith(
        "y (%1) received [6, 12] (the sum of 2 terms), which the hook double changed to [12, 24]; its rule"
    )
    assert "its rule ∂y/∂x = 3, then the hook ten_times, sends [360, 720] to x" in said
    node = "\n".join(plain(one) for one in PaneTexts(cursor, 100).node())
    assert "g · 3 = [360, 720], then the hook ten_times" in node
    answer = "\n".join(plain(one) for one in answer_lines(cursor.end(), "x[1]"))
    assert "The hook clip changed 720 to 1." in answer
    assert "6 + 6 = 12\nThe hook double changed 12 to 24." in answer
    assert "differ" not in answer.replace("finite differences agree", "")
    assert "the hook clip changed [360, 720] to [1, 1], and [1, 1] becomes its .grad" in plain(sentence(cursor.end()))


@given(st.text("ab-·, ").map(str.strip), st.integers(5, 40), st.text(" ", max_size=4), st.text(" ", max_size=4))
def test_long_lines_are_broken_at_spaces_as_textwrap_does(text, width, indent, hanging):
    expected = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=hanging,
                             break_long_words=False, break_on_hyphens=False)  # fmt: skip
    assert wrapped(text, width, indent, hanging) == expected


def test_a_label_of_spaces_stays_in_front_of_a_word_that_is_too_long():
    assert wrapped("    " + "x" * 9 + " y", 8, hanging="    ") == ["    xxxxxxxxx", "    y"]
