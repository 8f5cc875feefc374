"""Why a gradient is what it is, down to an element and back to the seed; and why there is none."""

from dataclasses import replace

import numpy as np
import pytest

import microtape as mt
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, bar, row, shown, stepper
from tui.shell.spans import plain
from tui.stepper.why_screen import MOST_TERMS
from tui.time.cursor import StepCursor
from tui.words.why import Subject, answer_lines, move_element, subject_named, why


def end(recording):
    return StepCursor.open(recording).end()


def text(cursor, what):
    return [" ".join(plain(line).split()) for line in answer_lines(cursor, what)]


def test_a_gradient_is_the_sum_of_its_terms_and_leads_back_to_the_seed():
    assert text(end(handmade.diamond()), "x") == [
        "∂z/∂x = 21",
        "It is the sum of 2 terms, because x was used more than once:",
        "6 + 15 = 21",
        "6 from %3 add",
        "by its rule g",
        "finite differences agree: 6.000 vs 6.000",
        "diamond.py:5 x + y",
        "15 from %2 mul",
        "by its rule g · y = 5 · 3",
        "which kept x 2",
        "which kept y 3",
        "finite differences agree: 15.00 vs 15.00",
        "diamond.py:5 x * y",
        "",
        "∂z/∂%2 = 5",
        "5 from z (%4) mul",
        "by its rule g · %3 = 1 · 5",
        "which kept %2 6",
        "which kept %3 5",
        "finite differences agree: 5.000 vs 5.000",
        "diamond.py:5 (x * y) * (x + y)",
        "",
        "∂z/∂z = 1",
        "1 is the seed, where backward begins. The derivative of a number with respect to itself is 1.",
    ]


def test_a_small_term_is_seen_in_the_sum_also_of_one_element():
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as recorder:
        (w + w * 0.0004091).sum().backward()
        (w * 1e-5).sum().backward()
    recording = recorder.recording
    first = text(StepCursor.open(recording, 0).end(), "w[0]")
    assert first[0].endswith("/∂w[0] = 1.0004")
    assert first[2] == "1 + 0.0004091 = 1.0004"
    second = text(StepCursor.open(recording, 1).end(), "w[1]")
    assert second[2].endswith("root mean square 1 before, 1e-5 new, 1.00042 afterwards.")
    assert second[7] == ".grad was not None, so backward added to it: 1 + 1e-5 = 1.00042"


def test_an_earlier_moment_has_an_earlier_answer():
    cursor = StepCursor.after(handmade.diamond(), 2)
    assert text(cursor, "x")[0] == "∂z/∂x = 6 so far: 1 more term to come"


def test_one_element_of_a_matrix_product_is_a_row_times_a_column():
    h = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = mt.tensor([[1.0, 0.0, -1.0], [2.0, 0.5, 3.0]], requires_grad=True)
    scale = mt.tensor([[1.0, 10.0, 100.0], [0.0, 1.0, 0.0]])
    cursor = end(mt.record(((h @ w) * scale).sum().backward))
    found = text(cursor, "h[0, 1]")
    assert found[0].endswith("h[0, 1] = 307")
    assert "by its rule G · wᵀ = 100 · 3 + 10 · 0.5 + 1 · 2" in found
    assert any(line.endswith("%2[0, 2] = 100") or "[0, 2] = 100" in line for line in found), (
        "the largest factor is followed"
    )
    assert "by its rule hᵀ · G = 1 · 100 + 3 · 0" in text(cursor, "w[0, 2]")


def test_the_element_farthest_from_zero_is_the_one_asked_for_by_default():
    a = mt.tensor([1.0, 5.0, -2.0], requires_grad=True)
    cursor = end(mt.record((a * a).sum().backward))
    about = subject_named(cursor, "a")
    assert about.index == (1,)
    assert move_element(cursor, about, 0, 1).index == (2,)
    assert move_element(cursor, about, 0, 9).index == (2,), "it stops at the end"
    assert move_element(cursor, about, 1, 1) == about


@pytest.mark.parametrize("what", ["nope", "x[0]", "x[a]", "x[0,0,0]"])
def test_an_unknown_name_is_reported(what):
    with pytest.raises(LookupError, match=r"nope|x\[|element"):
        subject_named(end(handmade.diamond()), what)


def test_of_several_nodes_with_a_name_the_current_one_is_meant_else_the_last():
    def program():
        h = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(3):
            h = h.tanh()
        h.sum().backward()

    cursor = end(mt.record(program))
    named = sorted(cursor.find("tanh"))
    for node in named:
        assert subject_named(cursor.goto_node(node), "tanh").node == node
    assert subject_named(cursor.goto(f"%{max(named) + 1}"), "tanh[0]") == Subject(max(named), (0,))


def test_every_term_of_a_real_pass_sums_to_the_gradient():
    """On a network, for every node: the terms shown are those recorded, and each sender is where it came from."""
    x = mt.tensor(np.linspace(-1, 1, 12).reshape(4, 3))
    w = mt.tensor(np.linspace(-2, 2, 6).reshape(3, 2), requires_grad=True)
    b = mt.tensor([0.5, -0.5], requires_grad=True)
    h = (x @ w + b).tanh()
    cursor = end(mt.record((h * h + h).sum().backward))
    for node in cursor.timeline.rows:
        answer = why(cursor, subject_named(cursor, f"%{node}"))
        assert len(answer.terms) == len(cursor.arrived(node))
        for term, arrival in zip(answer.terms, cursor.arrived(node), strict=True):
            assert (term.sender.node if term.sender else None) == arrival.sender


def used_often(times):
    x = mt.tensor(2.0, requires_grad=True)
    total = x
    for _ in range(times):
        total = total + x * x
    return mt.record(total.backward)


def test_of_many_terms_the_first_ones_are_as_in_the_whole_answer():
    cursor = end(used_often(20))
    (x,) = [node for node in cursor.timeline.rows if cursor.timeline.node(node).variable is not None]
    whole, short = why(cursor, Subject(x, ())), why(cursor, Subject(x, ()), 7)
    assert (len(whole.terms), whole.left_out) == (41, 0)
    assert (short.terms, short.left_out) == (whole.terms[:7], 34)
    assert (short.heading, short.subject) == (whole.heading, whole.subject)


async def test_a_list_of_thousands_of_terms_says_how_many_it_leaves_out():
    async with stepper(used_often(1_500)).run_test(size=LARGE) as pilot:
        await pilot.press("end", "x", *"x", "enter")
        terms = pilot.app.screen.query_one("OptionList")
        assert terms.option_count == MOST_TERMS + 1
        last = terms.get_option_at_index(MOST_TERMS)
        assert last.disabled
        assert last.prompt.plain.startswith("and 2,801 more terms")


def program(tmp_path, text):
    from microtape.recording.script.run import record_script

    script = tmp_path / "program.py"
    script.write_text("import microtape as mt\n" + text)
    record_script(script, out=tmp_path / "p.tape", passes="all")
    return end(mt.load(tmp_path / "p.tape"))


WITHOUT = """
x = mt.tensor(2.0, requires_grad=True)
unused = mt.tensor(1.0, requires_grad=True)
plain = mt.tensor(3.0)
cut = (x * plain).detach()
with mt.no_grad():
    quiet = x * 5
later = quiet + 1
place = (x > 0).float()
middle = x * cut * later * place
aside = unused * x
before = x * 7
within = before.detach() * x
middle = middle + within
bare = x * 9
middle = middle * bare.item()
lonely = mt.tensor(2.0, requires_grad=True)
with mt.no_grad():
    alone = lonely * 2
loss = middle * 2 * alone
loss.backward()
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "program.py:5 plain = mt.tensor(3.0) To get a gradient, create the tensor with requires"),
        ("cut", "program.py:6 (x * plain).detach() This takes the result off the tape"),
        ("quiet", "program.py:8 x * 5 This ran under no_grad"),
        (
            "later",
            "program.py:9 quiet + 1 It was computed from a value that was already off the tape, because of: "
            "program.py:8 x * 5",
        ),
        ("place", "already off the tape, because of: program.py:10 x > 0 This has no derivative"),
        (
            "before",
            "loss was not computed from it. A value computed from it is used, but its history "
            "ends here: program.py:14 before.detach() This takes the result off the tape",
        ),
        ("bare", "but its history ends here: program.py:17 bare.item() This takes the bare value"),
        ("lonely", "but its history ends here: program.py:20 lonely * 2 This ran under no_grad"),
        ("unused", "unused has no gradient in this pass: loss was not computed from it."),
        ("aside", "aside (%6) has no gradient in this pass: loss was not computed from it. program.py:12 unused * x"),
    ],
)
def test_why_is_this_none(tmp_path, name, expected):
    assert expected in " ".join(text(program(tmp_path, WITHOUT), name))


def test_before_backward_there_is_no_gradient_yet():
    cursor = StepCursor.open(handmade.diamond())
    assert text(cursor, "x") == [
        "x has no gradient yet: backward has not reached it. It waits for 2 more terms.",
        "diamond.py:5 x + y",
        "diamond.py:5 x * y",
    ]
    assert "x has no gradient because backward has not run yet." in text(cursor.move(-1), "x")


def test_after_a_failure_the_failure_is_the_reason():
    said = text(end(handmade.failing()), "x")
    assert said[0] == "x has no gradient because the pass failed before it was reached."
    assert said[1] == "inplace.py:4 mt.exp(x)", "where it failed"


async def test_enter_explains_follows_and_comes_back():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("g", "x", "enter", "enter")
        heading = pilot.app.screen.query_one("#heading")
        assert "6 + 15 = 21" in heading.render().plain
        await pilot.press("down", "enter")
        assert "= 5" in heading.render().plain
        assert "x ← %2" in pilot.app.screen.query_one("#crumbs").render().plain
        await pilot.press("backspace")
        assert "6 + 15 = 21" in heading.render().plain
        await pilot.press("down", "enter", "g")
        assert row(pilot.app, 2).startswith("▶")


async def test_x_asks_for_any_gradient():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("end", "x", "y", "enter")
        assert "∂z/∂y = 16" in pilot.app.screen.query_one("#heading").render().plain
        await pilot.press("escape", "x", "q", "enter")
        assert "there is no 'q' here" in shown(pilot.app, "#problem")
        await pilot.press("escape", "home")
        assert bar(pilot.app) == "step 0 of 5"


def test_a_subject_without_elements_is_still_answered():
    cursor = end(handmade.diamond())
    assert why(cursor, Subject(0, None)).heading


def test_a_tensor_that_is_no_leaf_keeps_no_grad():
    assert text(end(handmade.diamond()), "z")[1] == (
        "z.grad stays None: it is not a leaf (diamond.py:5), and retain_grad() was not called on it."
    )


def test_a_constant_stands_in_the_rule_with_its_number():
    x = mt.tensor(2.0, requires_grad=True)
    found = text(end(mt.record((x**3).backward)), "x")
    assert "by its rule g · (3 · x²) = 1 · (3 · 2²)" in found


SIX = """\
import microtape as mt
w = mt.tensor([1.0, 2.0], requires_grad=True)
plain = mt.tensor([3.0, 4.0])
cut = (w * 2).detach()
with mt.no_grad():
    quiet = w * 3
mid = w * plain
unused = mt.tensor([1.0], requires_grad=True)
side = unused * 2
loss = (mid * cut + quiet).sum()
later = mt.tensor(2.0, requires_grad=True)
loss.backward()
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "cause", "line"),
    [
        ("plain", "does not require a gradient", "p.py:3"),
        ("cut", "takes the result off the tape", "p.py:4"),
        ("quiet", "ran under no_grad", "p.py:6"),
        ("mid", "it is not a leaf (p.py:7), and retain_grad() was not called", "p.py:7"),
        ("side", "loss was not computed from it", "p.py:9"),
        ("unused", "loss was not computed from it", "p.py:8"),
    ],
)
def test_every_cause_of_none_is_explained_with_its_line(tmp_path, name, cause, line):
    from microtape import load
    from microtape.recording.script.run import record_script

    (tmp_path / "p.py").write_text(SIX)
    record_script(tmp_path / "p.py", out=tmp_path / "p.tape")
    recording = load(tmp_path / "p.tape")
    told = " ".join(text(end(recording), name))
    assert cause in told
    assert line in told
    before = " ".join(text(end(recording).home().home(), "w"))
    assert "backward has not run yet" in before
    assert "p.py:12" in before
    unused = " ".join(text(end(recording), "later"))
    assert "nothing that backward visited was computed from it" in unused
    assert "p.py:11" in unused
    with pytest.raises(LookupError, match=r"w\[5\] does not exist: the shape is \(2,\)"):
        text(end(recording), "w[5]")


def test_where_the_gradient_is_no_number_finite_differences_say_nothing():
    import microtape as mt

    x = mt.tensor([0.0, 4.0], requires_grad=True)
    with mt.record() as r:
        ((x - 1) * mt.tensor([float("nan"), 2.0])).sum().backward()
    told = text(end(r.recording), "x[0]")
    assert not [line for line in told if "finite differences" in line and "nan" in line]
    assert any("finite differences agree: 2.000 vs 2.000" in line for line in text(end(r.recording), "x[1]"))


async def test_a_long_refusal_is_also_shown_as_a_notification():
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        await pilot.press("b", *"shapely > 3", "enter")
        (told,) = [notice.message for notice in pilot.app._notifications]
        assert told.startswith("there is no 'shapely' in conditions; there are grad, value")
        await pilot.press(*["backspace"] * 11, "q", "enter")
        assert "q" in shown(pilot.app, "#problem")
        assert not pilot.app._notifications


@pytest.mark.parametrize("came_in", [(), (3, 2)])
@pytest.mark.parametrize("shape", [(3, 2), (2,), (0,), (1, 1, 1)])
def test_terms_of_another_shape_are_told(shape, came_in):
    recording = handmade.diamond()
    (only,) = recording.passes
    steps = tuple(
        step._replace(
            grad_outputs=tuple(np.ones(came_in) for _ in step.grad_outputs),
            deliveries=tuple(one._replace(term=np.ones(shape)) for one in step.deliveries),
        )
        for step in only.steps
    )
    cursor = end(replace(recording, passes=(only._replace(steps=steps),)))
    for node in cursor.timeline.rows:
        for index in (None, (), (0,), (4, 4), (2, 1)):
            assert why(cursor, Subject(node, index)).heading
