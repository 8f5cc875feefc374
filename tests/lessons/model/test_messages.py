"""The lesson for an error message: every piece that a lesson explains is of a message that the engine really gives."""

import warnings

import pytest

import microtape as mt
from lessons.model.messages import lessons_about
from microtape.utils.checkpoint import checkpoint
from tests.support.course import COURSE


class Function(mt.autograd.Function):
    returns = (1.0, None)

    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @classmethod
    def backward(cls, ctx, grad_z):
        return cls.returns


class TooFew(Function):
    returns = (mt.ones(2),)


class WrongShape(Function):
    returns = (mt.ones(3), None)


class SavesANumber(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor


class NotStatic(mt.autograd.Function):
    def forward(self, ctx, x):
        return x


def leaf():
    return mt.tensor([1.0, 2.0], requires_grad=True)


def overwritten():
    y = leaf().exp()
    y += 1
    y.sum().backward()


def leaf_in_place():
    x = leaf()
    x += 1


def view_of_a_leaf_in_place():
    x = leaf()
    x[:1] += 1


def one_of_several_views_in_place():
    one, _ = (leaf() * 2).unbind()
    one += 1


def second_backward():
    y = leaf().exp().sum()
    y.backward()
    y.backward()


def anomaly():
    with mt.autograd.detect_anomaly():
        (mt.tensor([0.0], requires_grad=True).sqrt() * 0).sum().backward()


def gradcheck_of_a_mistake():
    class Wrong(Function):
        @staticmethod
        def backward(ctx, grad_z):
            return grad_z * 7, None

    mt.autograd.gradcheck(lambda x: Wrong.apply(x, 2.0), mt.ones(2, dtype=mt.float64, requires_grad=True))


def differentiated_twice():
    class Once(Function):
        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, grad_z):
            return grad_z * 2, None

    x = leaf()
    z = Once.apply(x, 2.0)
    (slope,) = mt.autograd.grad((z * z).sum(), x, create_graph=True)
    slope.sum().backward()


PROGRAMS = {
    "broadcasting": [lambda: mt.ones(3) + mt.ones(2)],
    "the_vector": [lambda: leaf().exp().backward(), lambda: leaf().exp().backward(mt.ones(3))],
    "matmul": [lambda: mt.ones(2, 3) @ mt.ones(2, 3)],
    "leaves": [lambda: (leaf() * 2).grad, lambda: setattr(leaf() * 2, "requires_grad", False),
               lambda: mt.tensor([1, 2], requires_grad=True)],
    "detach_and_no_grad": [lambda: mt.ones(()).backward(), lambda: leaf().numpy()],
    "freed_graphs": [second_backward],
    "grad": [lambda: mt.autograd.grad(leaf().sum(), leaf()), lambda: mt.autograd.grad(leaf().sum(), mt.ones(2))],
    "first_function": [lambda: WrongShape.apply(leaf(), 2.0).sum().backward(), lambda: NotStatic()(leaf())],
    "mul_constant": [lambda: TooFew.apply(leaf(), 2.0).sum().backward(), lambda: SavesANumber.apply(leaf(), 2.0)],
    "in_place": [overwritten, leaf_in_place],
    "views": [view_of_a_leaf_in_place, one_of_several_views_in_place],
    "hooks": [lambda: mt.ones(2).register_hook(print)],
    "gradcheck": [gradcheck_of_a_mistake, differentiated_twice],
    "nan": [anomaly],
    "checkpointing": [lambda: checkpoint(mt.exp, leaf())],
}  # fmt: skip
"""For each piece of a message that a lesson explains, a program that gets the message."""


def message(program):
    """What the program is told: an error or a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            program()
        except Exception as error:
            return str(error)
    return str(caught[0].message)


@pytest.mark.parametrize("lesson", [one for one in COURSE if one.explains], ids=lambda one: one.name)
def test_each_message_leads_to_its_lesson(lesson):
    programs = PROGRAMS[lesson.name]
    assert len(programs) == len(lesson.explains)
    for piece, program in zip(lesson.explains, programs, strict=True):
        told = message(program)
        assert piece in told
        assert lessons_about(COURSE, told) == [lesson]
        assert lessons_about(COURSE, f"Traceback (most recent call last):\n  ...\nRuntimeError: {told}") == [lesson]
        assert lesson in lessons_about(COURSE, piece[:25])


@pytest.mark.parametrize(
    ("text", "names"),
    [("modified by an inplace", ["in_place"]), ("Modified by an in-place operation", ["in_place"]),
     ("leaf variable that requires grad", ["in_place", "views"]), ("inplace modified", ["in_place", "views"]),
     ("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", ["matmul"]),
     ("\"a second\n time\"", ["freed_graphs"])],
)  # fmt: skip
def test_a_part_of_a_message_is_enough(text, names):
    assert [lesson.name for lesson in lessons_about(COURSE, text)] == names


@pytest.mark.parametrize("text", ["", "  ", "a", "no such thing", "SyntaxError: invalid syntax"])
def test_other_texts_have_no_lesson(text):
    with pytest.raises(LookupError):
        lessons_about(COURSE, text)
