"""Whether an answer is right: the learner may write it in any sensible way.

number     4    4.0    = 4    x.grad = 4    tensor(4.)    8 / 2    16 * 0.25    it is 4
numbers    6, 12    6 and 12    6; 12    6 12    [6, 12]    tensor([ 6., 12.])
shape      2×1    2x1    2 by 1    (2, 1)    torch.Size([2, 1])    2 rows, 1 column
names      x, y    y and x    `x` y    x.grad, y.grad
row        scores    %4    row 4    the leaf x    the scores row
nothing    None    nothing    no gradient
yes, no    yes    y    true    it succeeds    no, it fails
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator

NEAR = 0.01  # a number is right to about two digits
LONGEST = 300  # characters of an answer that are read
NOTHING = ("none", "nothing", "null", "no gradient", "no grad", "neither", "none of them", "nothing at all")
YES = ("yes", "y", "true", "it does", "it succeeds", "succeeds", "it works", "works")
NO = ("no", "n", "false", "it does not", "it doesnt", "it fails", "fails", "error", "an error", "it raises an error")
SCALAR = ("scalar", "a scalar", "()", "[]", "0-d", "0d", "0-dimensional", "number", "a number", "a single number",
          "([])", "one number", "no dimensions")  # fmt: skip

_AS_TYPED = str.maketrans({"−": "-", "–": "-", "·": "*", "⋅": "*", "∞": " inf ", "`": "", "'": "", '"': ""}
                          | {"²": "**2", "³": "**3"})  # fmt: skip
_SETTING = re.compile(r",\s*(?:dtype|grad_fn|requires_grad|device|size)\s*=\s*(?:<[^<>]*>|[\w.]+)")  # in `tensor(...)`
_EQUALS = re.compile(r"==?|≈|:|\b(?:is|are|be|gets|get|receives|stays|remains|equals)\b")
_ABOUT = re.compile(r"^(?:about|approximately|approx\.?|roughly|around|~)\s*")
_ARRAY = re.compile(r"\b(?:(?:torch|mt|np|numpy|microtape)\.)?(?:tensor|array|size|scalar)\s*(?=[(\[])")
_TIMES = re.compile(r"(?<=[\d.)])\s*[×x]\s*(?=[\d.(-])")
_AND = re.compile(r"[\s,]*(?:\band\b|[&;,])[\s,]*")
_BEFORE = ("the", "both", "only", "row", "rows", "node", "nodes", "leaf", "leaves", "tensor", "tensors", "grad",
           "gradient", "of")  # fmt: skip
_AFTER = ("row", "rows", "node", "nodes", "leaf", "leaves", "tensor", "tensors", "first", "next", "one")
_LABEL = frozenset([*_BEFORE, "a", "it", "answer", "result", "shape", "size", "value", "number", "numbers", "will",
                    "would", "at", "in", "to", "for", "that", "what", "d"])  # fmt: skip
_CONSTANTS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def is_right(answer: str, right: str, *, shape: bool = False, about: str = "") -> bool:
    """Whether an answer says the same as the right one.

    Args:
        answer: what the learner wrote.
        right: the right answer, as the stepper writes it: names, numbers, a shape, None, yes or no.
        shape: whether the right answer is a shape, in which × does not multiply.
        about: the name of the tensor that is asked about. An answer that begins with another name is wrong:
            `y.grad = 3` is no answer to a question about x.
    """
    typed, wanted = answer[:LONGEST].strip().strip("`'\"").casefold(), right.casefold()
    if typed == wanted:
        return True
    *labels, given = _EQUALS.split(_SETTING.sub("", typed.translate(_AS_TYPED)))
    given = _ABOUT.sub("", given.strip()).rstrip(" .!?") if given.strip() else ""
    return _says(given, wanted, shape) and all(_is_label(one, wanted, shape, about.casefold()) for one in labels)


def hint_about(answer: str, wrong: Iterable[tuple[str, str]], *, shape: bool = False, about: str = "") -> str:
    """The hint about the first of these wrong answers that says the same as the given one; empty if none does."""
    return next((hint for one, hint in wrong if is_right(answer, one, shape=shape, about=about)), "")


def wrong_form(answer: str, right: str, *, shape: bool = False, about: str = "") -> str:
    """What is wrong with the form of an answer, as a sentence; empty if it has the form of the right one."""
    if about and is_right(answer, right, shape=shape):
        return f"The question is about `{about}`."
    given = _EQUALS.split(_SETTING.sub("", answer[:LONGEST].casefold().translate(_AS_TYPED)))[-1].strip()
    if shape:
        return "" if _shape(given) is not None else "Write a shape, such as 4, 2×3 or scalar."
    wanted = right.casefold()
    expected = None if wanted.startswith("%") else next(_readings(wanted), None)
    if expected is None:
        return "Write yes or no." if wanted in ("yes", "no") else ""
    counts = [len(numbers) for numbers in _readings(given)]
    if len(expected) in counts:
        return ""
    if not counts:
        return "Write a number." if len(expected) == 1 else f"Write {len(expected)} numbers."
    return f"The answer has {_count(len(expected))}, yours has {_count(counts[-1])}."


def _count(number: int) -> str:
    return "one number" if number == 1 else f"{number} numbers"


def _says(given: str, wanted: str, shape: bool) -> bool:
    """Whether the text says what is wanted, whatever stands before an equals sign."""
    if not given:
        return False
    if wanted == "none":
        return given in NOTHING
    if wanted in ("yes", "no"):
        same, opposite = (YES, NO) if wanted == "yes" else (NO, YES)
        first, _, reason = given.partition(",")
        return first.strip() in same and reason.strip() not in opposite
    if shape:
        return _shape(given) == _shape(wanted)
    expected = None if wanted.startswith("%") else next(_readings(wanted), None)
    if expected is not None:
        return any(_near(numbers, expected) for numbers in _readings(given))
    named = _names(wanted)
    return _names(given, named) == named


def _is_label(text: str, wanted: str, shape: bool, about: str) -> bool:
    """Whether the text before an equals sign is empty, a name of what is asked about, or the right answer itself."""
    if not shape and next(_readings(text.strip()), None) is not None:
        return _says(text.strip(), wanted, shape)
    words = set(re.findall(r"[^\W\d]\w*", text)) - (_LABEL - {about})
    names = (about, f"d{about}", f"d_{about}", f"grad_{about}", f"{about}_grad")
    return not about or not words or any(name in words for name in names)


def _names(text: str, wanted: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names in `x and y`, without the words around them: `the row x` and `the x row` are x.

    Such a word alone may be a name itself, and behind another one, if it is wanted.
    """
    found: set[str] = set()
    for item in re.split(r"[,;&+]|\band\b", text.replace(".grad", "").replace("`", "")):
        words = item.split()
        while len(words) > 1 and words[0] in _BEFORE:
            del words[0]
        while len(words) > 1 and words[-1] in _AFTER and words[-1] not in wanted:
            del words[-1]
        found |= {word.lstrip("%#") for word in words}
    return frozenset(found)


def _shape(text: str) -> tuple[int, ...] | None:
    """The sizes of a shape; None if the text is not one."""
    text = _ARRAY.sub("", text)
    if text in SCALAR:
        return ()
    text = re.sub(r"\s*(?:matrix|table|tensor|vector)$", "", text)
    text = re.sub(r"(\d)\s*(?:rows?|numbers?|elements?|columns?|cols?)\b", r"\1", text)
    text = re.sub(r"^(?:a|the)?\s*(?:shape|(?:torch\.)?size)?\s*(?:of\s)?\s*", "", text)
    sizes = re.fullmatch(r"[(\[]*\s*(\d+(?:(?:\s*[x×*,;]\s*|\s+by\s+|\s*,?\s*and\s+|\s+)\d+)*)\s*,?\s*[)\]]*", text)
    return tuple(int(size) for size in re.findall(r"\d+", sizes[1])) if sizes is not None else None


def _near(numbers: list[float], expected: list[float]) -> bool:
    """Whether the numbers are the expected ones, to about two digits."""
    return len(numbers) == len(expected) and all(
        a == b or (math.isnan(a) and math.isnan(b)) or (math.isfinite(b) and abs(a - b) <= NEAR * abs(b))
        for a, b in zip(numbers, expected, strict=True)
    )


def _readings(text: str) -> Iterator[list[float]]:
    """The numbers that a text may stand for: as Python, as numbers side by side, with a decimal comma."""
    text = _AND.sub(", ", _TIMES.sub("*", _ARRAY.sub("", text))).strip(" ,")
    apart = re.sub(r"\s*([*/])\s*", r"\1", re.sub(r"[\[\](),]", " ", text)).split()
    for parts in ([text], apart):
        try:
            if numbers := [number for part in parts for number in _numbers(ast.parse(part, mode="eval").body)]:
                yield numbers
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            continue
    if decimal := re.fullmatch(r"([+-]?\d+),\s?(\d+)", text):
        yield [float(f"{decimal[1]}.{decimal[2]}")]


def _numbers(node: ast.expr) -> list[float]:
    """The numbers of an expression of numbers and lists. Raises ValueError for any other expression."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return [float(number)]
        case ast.Name(id=name) if name in _CONSTANTS:
            return [_CONSTANTS[name]]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [number for part in parts for number in _numbers(part)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [-number for number in _numbers(operand)]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _numbers(operand)
        case ast.BinOp(op=sign, left=left, right=right) if type(sign) in _OPERATORS:
            (one,), (other,) = _numbers(left), _numbers(right)
            result = _OPERATORS[type(sign)](one, other)
            if isinstance(result, float):  # and not complex
                return [result]
    raise ValueError("not a number")
