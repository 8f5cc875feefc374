"""Answers to predictions: right in every sensible way of writing them, and wrong if they say something else."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lessons.model.answers import is_right, wrong_form
from microtape.recording.model.formatting import format_number, format_shape

NUMBERS = st.one_of(
    st.integers(-400, 400).map(float),
    st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda number: abs(number) > 1e-6),
)
WAYS_OF_A_NUMBER = [
    "{0!r}", " {0!r} ", "= {0!r}", "x.grad = {0!r}", "x.grad: {0!r}", "`{0!r}`", "tensor({0!r})", "it is {0!r}.",
    "torch.tensor({0!r}, requires_grad=True)", "tensor({0!r}, dtype=torch.float64, grad_fn=<MulBackward0>)",
    "{1!r}/4", "{1!r} / 4", "{2!r}*0.5", "0.5 * {2!r}", "0.5·{2!r}", "({0!r})", "[{0!r}]", "{0!r} + 0", "about {0!r}",
    "{2!r} * 0.5 = {0!r}", "x.grad will be {0!r}",
]  # fmt: skip
SEPARATORS = [" ", ", ", ",", "; ", ";", " and ", ", and ", "\t", " & "]
NAMES = st.sampled_from(["x", "y", "hidden", "row", "leaf", "w5", "grad_z", "first", "a"])


def ways_of(number):
    return st.sampled_from(WAYS_OF_A_NUMBER).map(lambda way: way.format(number, number * 4, number * 2))


def far_apart(one, other):
    return abs(one - other) > 0.03 * max(abs(one), abs(other))


@given(NUMBERS, st.data())
def test_a_number_counts_in_every_way_of_writing_it(number, data):
    answer = data.draw(ways_of(number))
    assert is_right(answer, format_number(number, 4), about="x")


@given(NUMBERS, NUMBERS, st.data())
def test_another_number_does_not(number, other, data):
    assume(far_apart(number, other))
    answer = data.draw(ways_of(other))
    assert not is_right(answer, format_number(number, 4), about="x")


@given(st.lists(NUMBERS, min_size=2, max_size=4), st.sampled_from(SEPARATORS), st.sampled_from(["{}", "[{}]", "({})"]))
def test_several_numbers_may_be_separated_and_enclosed_in_any_way(numbers, separator, enclosed):
    right = f"[{', '.join(format_number(number, 4) for number in numbers)}]"
    answer = enclosed.format(separator.join(map(repr, numbers)))
    assert is_right(answer, right)
    assert is_right(f"x.grad = tensor([{separator.join(map(repr, numbers))}])", right, about="x")
    assert not is_right(f"{answer}{separator}{numbers[0]!r}", right), "one too many"
    assert not is_right(repr(numbers[0]), right), "one alone"


@given(st.lists(st.integers(0, 60), min_size=0, max_size=4), st.lists(st.integers(0, 60), min_size=0, max_size=4))
def test_a_shape_may_be_written_in_any_way(sizes, others):
    right = format_shape(tuple(sizes))
    ways = [right, str(tuple(sizes)), str(sizes), f"torch.Size({sizes})", f"x.grad.shape = {tuple(sizes)}"]
    if sizes:
        ways += [
            separator.join(map(str, sizes)) for separator in ("x", " x ", "×", "*", " by ", " and ", ", ", " ", ";")
        ]
    for way in ways:
        assert is_right(way, right, shape=True, about="x"), way
        assert sizes == others or not is_right(way, format_shape(tuple(others)), shape=True), way


@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_names_count_in_any_order_and_with_words_around_them(names, others):
    right = ", ".join(sorted(names))
    ways = [" and ".join(names), ", ".join(names), "; ".join(names), ", ".join(f"`{name}`" for name in names)]
    ways += [", ".join(f"{name}.grad" for name in names), f"it is {' & '.join(names)}.", " AND ".join(names).upper()]
    ways.append(f"the {' and the '.join(names)}")
    for way in ways:
        assert is_right(way, right), way
        assert set(names) == set(others) or not is_right(way, ", ".join(sorted(others))), way


@given(st.text(max_size=400), st.sampled_from(["4", "[1, 2]", "None", "x", "x, y", "%4", "yes", "no", "2×1", "scalar"]))
def test_whatever_is_typed_is_judged_and_its_form_too(answer, right):
    for shape in (False, True):
        assert is_right(answer, right, shape=shape) in (True, False)
        assert isinstance(wrong_form(answer, right, shape=shape), str)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("z", "z"), (" Z ", "z"), ("`z`", "z"), ("%2", "%2"), ("2", "%2"), ("row 4", "%4"), ("the row 4", "%4"),
     ("#4", "%4"), ("node 4", "%4"), ("6", "6"), ("6.0", "6"), ("6.", "6"), ("+6", "6"), ("6.00001", "6"),
     (".5", "0.5"), ("-.5", "-0.5"), ("−3", "-3"), ("0.54", "0.5403"), ("≈ 0.54", "0.5403"), ("0,25", "0.25"),
     ("1/4", "0.25"), ("12*0.25", "3"), ("2·12·0.25", "6"), ("3²", "9"), ("2**3", "8"), ("(1 + 3) * 2", "8"),
     ("tensor(4.)", "4"),
     ("= 3", "3"), ("x.grad = 3", "3"), ("x.grad == 3", "3"), ("∂z/∂x = 3", "3"), ("12 * 0.25 = 3", "3"),
     ("[6,12]", "[6, 12]"), ("6 12", "[6, 12]"), ("6 and 12", "[6, 12]"), ("6;12", "[6, 12]"), ("6, and 12", "[6, 12]"),
     ("6 -12", "[6, -12]"), ("1 + 3, 2 + 1, 0 + 4", "[[4], [3], [4]]"), ("1 2; 3 4", "[[1, 2], [3, 4]]"),
     ("array([6, 12])", "[6, 12]"), ("-3", "-3"), ("none", "None"), ("nothing", "None"), ("No gradient", "None"),
     ("x.grad stays None", "None"), ("none of them", "none"), ("y and x", "x, y"), ("both x and y", "x, y"),
     ("y.grad, x.grad", "x, y"), ("w", "w"), ("x y", "x, y"), ("the leaf w", "w"),
     ("the total row", "total"), ("total first", "total"), ("x row", "row, x"), ("the row of z", "z"),
     ("row", "row"), ("1 nan", "[1, nan]"), ("inf", "inf"),
     ("∞", "inf"), ("-∞", "-inf"), ("y", "yes"), ("yes.", "yes"), ("true", "yes"), ("n", "no"), ("no, it fails", "no"),
     ("it fails", "no"), ("it doesn't", "no"), ("12 x 0.25", "3"), ("2 × 1.5", "3"), ("3 × -1", "-3")],
)  # fmt: skip
def test_an_answer_that_counts_as_right(answer, right):
    assert is_right(answer, right)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("y", "z"), ("", "z"), ("", "6"), ("= ", "6"), ("5.8", "6"), ("-6", "6"), ("6", "[6, 12]"), ("6 12 18", "[6, 12]"),
     ("12, 6", "[6, 12]"), ("six", "6"), ("0.1", "0"), ("nan", "6"), ("5", "inf"), ("-inf", "inf"), ("1/3", "0.25"),
     ("6.12", "[6, 12]"), ("x", "x, y"), ("x y z", "x, y"), ("a and b", "b"), ("first and second", "second"),
     ("row", "w5"), ("the x row", "z"), ("0", "None"), ("", "none"), ("[1, 2]", "[1, nan]"),
     ("row 5", "%4"), ("2 + 2", "%4"), ("2 * 2 = 3", "3"), ("4 = 3", "3"), ("x = 3, y = 4", "3"), ("no error", "no"),
     ("yes, it fails", "yes"), ("no", "yes"), ("9**9**9**9", "6"), ("__import__('os').getpid()", "6"), ("(" * 250, "6"),
     ("1/0", "6"), ("(-8)**0.5", "6"), ("True", "1"), ("1j", "1")],
)  # fmt: skip
def test_an_answer_that_counts_as_wrong(answer, right):
    assert not is_right(answer, right)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("2 by 1", "2×1"), ("2 rows and 1 column", "2×1"), ("shape (2, 1)", "2×1"), ("(3,)", "3"), ("3 numbers", "3"),
     ("a 2 by 1 matrix", "2×1"), ("a single number", "scalar"), ("()", "scalar"), ("0-d", "scalar"),
     ("torch.Size([])", "scalar"), ("2x3", "2x3")],
)  # fmt: skip
def test_a_shape_that_counts_as_right(answer, right):
    assert is_right(answer, right, shape=True)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("3×2", "2×3"), ("2", "2×3"), ("6", "2×3"), ("2*3", "6"), ("2 by 3", "6"), ("1", "scalar"), ("0", "scalar"),
     ("", "scalar"), ("72", "24×3"), ("24 3 1", "24×3"), ("2.0 x 3", "2×3")],
)  # fmt: skip
def test_a_shape_that_counts_as_wrong(answer, right):
    assert not is_right(answer, right, shape=True)


@pytest.mark.parametrize(
    "answer", ["x.grad = 3", "x = 3", "grad x = 3", "gradient of x is 3", "grad_x = 3", "dx = 3", "the answer is 3"]
)
def test_an_answer_may_name_what_is_asked_about_and_nothing_else(answer):
    assert is_right(answer, "3", about="x")
    assert is_right(answer.replace("x", "Height"), "3", about="height")
    assert ("x" in answer.replace("the answer is", "")) != is_right(answer, "3", about="y")


@pytest.mark.parametrize(
    ("answer", "right", "shape", "said"),
    [("6", "[6, 12]", False, "The answer has 2 numbers, yours has one number."), ("x", "6", False, "Write a number."),
     ("6 12", "6", False, "The answer has one number, yours has 2 numbers."), ("", "[1, 2]", False, "Write 2 numbers."),
     ("5", "6", False, ""), ("[1, 2]", "[6, 12]", False, ""), ("y", "x", False, ""),
     ("maybe", "no", False, "Write yes or no."),
     ("x", "2×3", True, "Write a shape, such as 4, 2×3 or scalar."), ("3×2", "2×3", True, "")],
)  # fmt: skip
def test_what_is_wrong_with_the_form_of_an_answer_is_told(answer, right, shape, said):
    assert wrong_form(answer, right, shape=shape) == said


def test_the_right_number_with_another_name_is_told():
    assert wrong_form("width.grad = 3", "3", about="height") == "The question is about `height`."
    assert wrong_form("height.grad = 4", "3", about="height") == ""


def test_no_number_is_near_infinity():
    assert not any(is_right(str(number), "inf") for number in (0, 5, 1e300, -math.inf))
