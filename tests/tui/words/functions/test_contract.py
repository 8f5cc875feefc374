"""What the node pane, the sentence and the answers say of a Function's contract."""

import textwrap

import pytest

import microtape as mt
from tests.support.recordings.live import leaf, recorded
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.functions.contract import contract
from tui.words.pane_texts import PaneTexts
from tui.words.sentence import sentence
from tui.words.why import answer_lines


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        inside = (x >= lo) & (x <= hi)
        mask = inside.float()
        ctx.save_for_backward(mask, x)
        ctx.lo = lo
        ctx.mark_non_differentiable(inside)
        return x * mask, inside

    @staticmethod
    def backward(ctx, g, _g_inside):
        mask, _ = ctx.saved_tensors
        return g * mask, None, None


class AddOne(mt.autograd.Function):
    @staticmethod
    def forward(ctx, k, x):
        x.add_(k)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @mt.autograd.function.once_differentiable
    def backward(ctx, g):
        return None, g


class Parts(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, t):
        ctx.set_materialize_grads(False)
        return x.view(-1), w, x.sum(), 3

    @staticmethod
    def backward(ctx, g, gw, gs, g3):
        return g, gw, mt.ones(1)


@pytest.fixture(scope="module")
def clipped():
    def program():
        x = leaf([-2.0, 0.5, 3.0])
        y = x * 2
        y = AddOne.apply(1.0, y)
        z, inside = Clip.apply(y, -1.0, 4.0)
        loss = (z * z).sum() + inside.sum()
        loss.backward()

    return recorded(program)


@pytest.fixture(scope="module")
def parted():
    def program():
        x, w, t = leaf([1.0, 2.0]), leaf([3.0, 4.0]), mt.ones(1)
        flat, same, total, _ = Parts.apply(x, w, t)
        (flat * 5).sum().backward()
        assert same.requires_grad
        assert total.requires_grad

    return recorded(program)


def at(recording, op, *, run=True):
    """The cursor after the step (or operation) of the first node of that operation, and the node."""
    node = next(one.id for one in recording.nodes if one.op == op)
    cursor = StepCursor.open(recording)
    return (cursor.goto_node(node) if run else cursor.to_moment(cursor.timeline.forward_at[node])), node


def pane(cursor, width=100):
    return [plain(one).rstrip() for one in PaneTexts(cursor, width).node()][1:]


def lines(text):
    return textwrap.dedent(text).strip("\n").splitlines()


def test_the_pane_shows_the_contract_in_forward(clipped):
    cursor, _ = at(clipped, "Clip", run=False)
    assert pane(cursor) == lines("""
        operands x = y  [-3, 2, 7]   needs a gradient
                 lo = -1.0, hi = 4.0   no tensors
        result   z  [-0, 2, 0]   differentiable
                 inside  [False, True, False]   non-differentiable (mark_non_differentiable)
        keeps    mask  intermediate, version 0
                 x = y  input, version 2
        ctx      lo = -1.0, undefined gradients become zeros
    """)
    assert plain(sentence(cursor)) == (
        "Clip computed z = [-0, 2, 0] and inside = [False, True, False] (non-differentiable) from y, -1.0 and 4.0. "
        "It keeps mask and y for backward."
    )


def test_the_pane_shows_the_contract_in_backward(clipped):
    cursor, _ = at(clipped, "Clip")
    assert pane(cursor) == lines("""
        received z  [-0, 4, 0]
                 = [-0, 2, 0]  from %4 mul
                 + [-0, 2, 0]  from %4 mul
                 inside  zeros: non-differentiable
        kept     mask  [0, 1, 0]   intermediate, version 0, now 0
                 x = y  [-3, 2, 7]   input, version 2, now 2
        sends    x → y (%2)  [-0, 4, 0]   ready
                 None for lo, hi (no tensors)
        ctx      lo = -1.0, undefined gradients become zeros
        freed    the tensors that it kept
    """)
    assert plain(sentence(cursor)).startswith(
        "z, inside (%3) received [-0, 4, 0] for z (the sum of 2 terms) and zeros for inside; it sends"
    )


def test_a_delivery_names_the_output_that_it_goes_to(clipped):
    cursor, _ = at(clipped, "mul")
    cursor = cursor.goto_node(4)
    assert "sends    → z (output 0 of %3 Clip)  g · z = [-0, 2, 0]  ([1]: 1 · 2 = 2)   waits for 1 more" in pane(cursor)
    assert "z (%3) has [-0, 2, 0] + [-0, 2, 0]" in plain(sentence(cursor))


def test_a_dirty_argument_is_named_wherever_it_stands(clipped):
    cursor, _ = at(clipped, "AddOne", run=False)
    assert pane(cursor) == lines("""
        operands k = 1.0   no tensor
                 x = y  [-4, 1, 6]   needs a gradient
        result   y  [-4, 1, 6] → [-3, 2, 7]   the argument x itself, dirty
        wrote    version 0 → 2, saved by nobody
        ctx      undefined gradients become zeros; once_differentiable
    """)
    assert plain(sentence(cursor)).startswith("AddOne changed y in place from [-4, 1, 6] to [-3, 2, 7], using 1.0.")


def test_views_returned_arguments_and_missing_gradients_are_told(parted):
    cursor, _ = at(parted, "Parts", run=False)
    assert pane(cursor)[3:7] == lines("""
        result   flat  [1, 2]   a view of the argument x
                 same  [3, 4]   the argument w, returned unchanged
                 total  3   differentiable
                 output 3     no tensor
    """)
    cursor, _ = at(parted, "Parts")
    assert pane(cursor) == lines("""
        received flat  [5, 5]   a view of the argument x
                 same  None: nothing came
                 total  None: nothing came
                 output 3  None: no tensor
        sends    x → x  [5, 5]   ready
                 w → w  nothing (None)   ready
                 t  [1]   computed, but not needed
        ctx      undefined gradients stay None
    """)


def test_the_contract_has_lines_of_its_own(clipped):
    cursor, node = at(clipped, "Clip", run=False)
    assert [plain(one) for one in contract(cursor, node)] == lines("""
        x = y   needs a gradient
        lo, hi  no tensors
        z       differentiable
        inside  non-differentiable (mark_non_differentiable)
        saved   mask  intermediate, version 0
                x = y  input, version 2
        ctx     lo = -1.0
                undefined gradients become zeros
    """)
    cursor, node = at(clipped, "Clip")
    assert [plain(one) for one in contract(cursor, node)][:4] == lines("""
        x = y   needs a gradient → [-0, 4, 0]
        lo, hi  no tensors       → None
        z       differentiable   ← [-0, 4, 0]
        inside  non-differentiable (mark_non_differentiable) ← zeros
    """)
    taken = cursor.back().move_inside(1)  # backward has not run
    assert taken.node == node
    assert plain(next(contract(taken, node))) == "x = y   needs a gradient"
    assert not list(contract(cursor, 1))


def test_the_explanation_ends_with_the_contract_and_names_the_argument(clipped):
    cursor = StepCursor.open(clipped).end()
    answer = [plain(one) for one in answer_lines(cursor, "z")]
    assert answer[0] == "∂loss/∂z[1] = 4"
    assert "The contract of Clip:" in answer
    assert "  4  from z, inside (%3)   Clip, for its argument x" in [plain(one) for one in answer_lines(cursor, "y")]


def test_an_output_without_a_gradient_is_explained(clipped):
    first, where = (plain(one) for one in answer_lines(StepCursor.open(clipped).end(), "inside"))
    assert first.startswith("inside is an output of %3 Clip that gets no gradient: marked by mark_non_differentiable")
    assert where.endswith("Clip.apply(y, -1.0, 4.0)")
