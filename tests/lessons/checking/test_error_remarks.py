"""Remarks on errors. The tests raise each error, so that a remark fails when the error's message changes."""

import numpy as np
import pytest

import microtape as mt
from lessons.checking.error_remarks import ERROR_REMARKS, RESULT_REMARKS, remark_on_difference, remark_on_error
from lessons.checking.observe import Raised
from lessons.checking.plain_data import Difference, difference, plain


class Two(mt.autograd.Function):
    """Two arguments, whose gradients are `Two.returns`."""

    returns: object = None

    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, grad_z):
        return Two.returns


class OneTaken(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1, x * 2

    @staticmethod
    def backward(ctx, grad_z):
        return grad_z


class WithSelf(mt.autograd.Function):
    def forward(self, ctx, x):
        return x


def leaf(*values: float) -> mt.Tensor:
    return mt.tensor(values, requires_grad=True)


def returning(gradients: object) -> None:
    Two.returns = gradients
    Two.apply(leaf(1.0, 2.0), 3.0).sum().backward()


def written_over() -> None:
    y = leaf(1.0, 2.0).exp()
    y += 1
    y.sum().backward()


def into_a_leaf() -> None:
    x = leaf(1.0)
    x += 1


def into_a_part_of_a_leaf() -> None:
    leaf(1.0)[0] = 2.0


def twice() -> None:
    z = leaf(1.0).exp().sum()
    z.backward()
    z.backward()


def into_a_view() -> None:
    stretched = np.broadcast_to(1.0, (2,))
    stretched += 1  # type: ignore[misc]


def into_a_small_one() -> None:
    small = np.ones(1)
    small += np.ones((2, 2))


def with_a_class() -> None:
    with mt.no_grad:  # type: ignore[attr-defined]
        pass


def again() -> None:
    again()


ERRORS = {
    "one gradient for each argument of forward, ctx not counted: 2": lambda: returning(mt.ones(2)),
    "Argument 2 of forward": lambda: returning((mt.ones(2), mt.ones(2))),
    "must have the shape of its tensor": lambda: returning((mt.ones(3), None)),
    "one gradient for each output": lambda: OneTaken.apply(leaf(1.0))[0].sum().backward(),
    "The first argument is ctx": lambda: WithSelf.apply(leaf(1.0)),
    "Nothing behind this number": lambda: leaf(1.0).detach().sum().backward(),
    "result.backward(gradient)": lambda: leaf(1.0, 2.0).exp().backward(),
    "was overwritten after it had been saved": written_over,
    "while operations are recorded. Do it under": into_a_leaf,
    "while operations are recorded": into_a_part_of_a_leaf,
    "has freed": twice,
    "`is None`": lambda: bool(leaf(1.0, 2.0)),
    "neither true nor false": lambda: np.ones(2) or 1.0,
    "`np.size(...)`": lambda: (1.0).size,  # type: ignore[attr-defined]
    "can be a single number": lambda: len(1.0),  # type: ignore[arg-type]
    "a tuple": lambda: (leaf(1.0),) ** 2,  # type: ignore[operator]
    "(x,)": lambda: (leaf(1.0),) * leaf(1.0),  # type: ignore[operator]
    "`x, y = ...`": lambda: (leaf(1.0),).sum(),  # type: ignore[attr-defined]
    "inner sizes": lambda: np.ones((2, 3)) @ np.ones((2, 3)),
    "A matrix product is `@`": lambda: np.ones((2, 1)) * np.ones((3, 2)),
    "only a view": into_a_view,
    "or too small": into_a_small_one,
    "list of the rows still": again,
    "Call it, with parentheses": with_a_class,
}


def raised_by(action: object, line: int | None = 7, code: str = "") -> Raised:
    with pytest.raises((RuntimeError, TypeError, ValueError, AttributeError)) as caught:
        action()  # type: ignore[operator]
    return Raised(caught.type.__name__, str(caught.value), line, code)


@pytest.mark.parametrize("said", ERRORS)
def test_an_error_is_explained(said):
    assert said in remark_on_error(raised_by(ERRORS[said]))


def test_every_remark_on_an_error_is_tried_above():
    tried = {remark_on_error(raised_by(action)) for action in ERRORS.values()}
    assert len(tried) == len(ERROR_REMARKS)


class Tape:
    def backward(self, last):
        pass


@pytest.mark.parametrize("call", [lambda: Tape().backward(), lambda: Tape().backward("z", 1.0)])  # type: ignore
def test_a_tape_of_numbers_has_no_ctx(call):
    assert remark_on_error(raised_by(call)) == ""


RESULTS = {
    "Is a `return` missing?": lambda: None.detach(),  # type: ignore[attr-defined]
    "a single number there": lambda: list(1.0),  # type: ignore[call-overload]
    "a dict here": lambda: [].get("x"),  # type: ignore[attr-defined]
    "must return 2 values": lambda: [a for a, b in [(1, 2, 3)]],
    "and returned one": lambda: [a for a, b in [1]],  # type: ignore[misc]
}


@pytest.mark.parametrize("said", RESULTS)
def test_an_error_in_a_check_is_explained_by_what_the_code_returned(said):
    assert said in remark_on_error(raised_by(RESULTS[said], line=None))
    assert not remark_on_error(raised_by(RESULTS[said], line=3)), "in the learner's own line, it may be anything"


@pytest.mark.parametrize(("returned", "said"), [(None, "Is a `return` missing?"), (1.0, "a single number there")])
def test_a_name_is_looked_for_in_something_that_is_no_dict(returned, said):
    assert said in remark_on_error(raised_by(lambda: "x" in returned, line=None))


def test_every_remark_on_a_result_is_tried_above():
    assert len(RESULTS) == len(RESULT_REMARKS)


def test_unpacking_more_tensors_than_were_saved():
    raised = raised_by(lambda: [a for a, b in [()]], code="x, y = ctx.saved_tensors")
    assert "save_for_backward" in remark_on_error(raised)


def test_a_clear_message_needs_no_remark():
    assert remark_on_error(Raised("NameError", "name 'z' is not defined", 3, "return z")) == ""


def told(did: object, expected: object) -> str:
    found = difference(plain(did), plain(expected))
    assert isinstance(found, Difference)
    return remark_on_difference(found)


def test_values_that_differ_only_in_their_type():
    assert "`.item()`" in told(mt.tensor(2.0), 2.0)
    assert "`.tolist()`" in told(mt.tensor([1.0, 2.0]), [1.0, 2.0])
    assert "`.tolist()`" in told([("w", np.array([1.0]))], [("w", [1.0])])
    assert told(mt.tensor(3.0), 2.0) == ""
    assert told(3.0, 2.0) == ""
