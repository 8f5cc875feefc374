"""What is said of hooks: the received gradient is the sum of its terms, and a hook is told from the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.pane_texts import PaneTexts
from tui.words.sentence import sentence
from tui.words.why import answer_lines

HOOKS = {  # what a hook makes of 3, and the hook
    "nothing": (lambda g: g, lambda g: None),
    "no effect": (lambda g: g, lambda g: g.clamp(-9000, 9000)),
    "double": (lambda g: g * 2, lambda g: g * 2),
    "more": (lambda g: g + 1, lambda g: g + 1),
}


def hooked(names, size=()):
    """The step of x, which is used twice and has 3 as its gradient, with these hooks."""
    with mt.record() as recorder:
        x = mt.ones(*size, requires_grad=True) if size else mt.tensor(1.0, requires_grad=True)
        for name in names:
            x.register_hook(HOOKS[name][1])
        (x * x + x).sum().backward()
    return StepCursor.open(recorder.recording).end()


def node_rows(cursor):
    return [plain(one) for one in PaneTexts(cursor, 100).node()]


@given(st.lists(st.sampled_from(sorted(HOOKS)), max_size=4), st.sampled_from([(), (40, 40)]))
def test_what_was_received_is_the_sum_of_its_terms_and_a_hook_that_changes_nothing_says_so(names, size):
    cursor, value = hooked(names, size), 3
    rows, every = node_rows(cursor), "all " if size else ""
    received = rows.index(next(one for one in rows if one.startswith("received")))
    assert rows[received].split("  ")[0] == f"received {every}3"
    assert [one.split("  from")[0].strip() for one in rows[received + 1 : received + 4]] == [
        f"= {every}1", f"+ {every}1", f"+ {every}1"
    ]  # fmt: skip
    told = []
    for name in names:
        after, hook = HOOKS[name][0](value), HOOKS[name][1]
        change = f"{every}{value} changed to {every}{after}" if after != value else "changed nothing"
        told.append(f"hook     <lambda>  (line {hook.__code__.co_firstlineno}, tensor)  {change}")
        value = after
    assert [one for one in rows if one.startswith("hook")] == told
    assert rows[-1].endswith(f".grad  None becomes {every}{value}")


def test_a_lambda_is_told_by_its_line_in_the_sentence_and_in_the_answer():
    cursor = hooked(["nothing", "double"])
    name = f"the hook <lambda> (line {HOOKS['double'][1].__code__.co_firstlineno})"
    assert f"{name} changed 3 to 6, and 6 becomes its .grad" in plain(sentence(cursor))
    answer = "\n".join(plain(one) for one in answer_lines(cursor, "x"))
    assert "1 + 1 + 1 = 3\n" + name.capitalize().replace("Lambda", "lambda") + " changed 3 to 6.\n" in answer


def test_a_change_too_small_for_few_digits_is_a_change():
    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True, dtype=mt.float64)
        x.register_hook(lambda g: g + 1e-9)
        (x * 2).backward()
    (row,) = [one for one in node_rows(StepCursor.open(recorder.recording).end()) if one.startswith("hook")]
    assert row.endswith("tensor)  2 changed by less than the digits shown")


@pytest.mark.parametrize("output", [0, 1])
def test_a_hook_of_one_output_leaves_that_of_the_other_as_it_came(output):
    with mt.record() as recorder:
        x = mt.tensor([2.0, 1.0], requires_grad=True)
        parts = (x * 1).unbind()
        parts[output].register_hook(hook := lambda g: g * 10)
        (parts[0] + parts[1] + parts[0]).backward()
    cursor = StepCursor.open(recorder.recording).end()
    node = next(one for one in recorder.recording.nodes if one.op == "unbind")
    said = plain(sentence(cursor.goto_node(node.id)))
    came, line = (2, 1), hook.__code__.co_firstlineno
    changed = f", which the hook <lambda> (line {line}) changed to {came[output] * 10}"
    assert f"2 for parts[0] (the sum of 2 terms){changed * (output == 0)} and 1 for parts[1]{changed * output}" in said
