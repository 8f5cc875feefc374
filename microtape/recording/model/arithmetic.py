"""Evaluates formulas in mathematical notation, such as `g · (1 - z²)`, on single numbers."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ˣʸᶻⁿ", "0123456789-xyzn")
FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "ln": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "arsinh": np.arcsinh,
    "arcosh": np.arccosh,
    "artanh": np.arctanh,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "sigma": lambda x: 1 / (1 + np.exp(-x)),
}
OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
}


def evaluate(text: str, numbers: Mapping[str, float]) -> float | None:
    """The value of `g · (1 - z²)` for these numbers; None if it is not arithmetic. Division by 0 is Inf or NaN."""
    tree = _parse(text)
    if tree is None:
        return None
    try:
        with np.errstate(all="ignore"):
            return float(_value(tree, {name: np.float64(x) for name, x in numbers.items()}))
    except (LookupError, TypeError, ArithmeticError):
        return None


def _with_conditions(text: str) -> str:
    """`1 where x > 0, else 0` and `x / z,  0 where z = 0` as Python writes them, also as the factor of g."""
    before, inner = ("g · ", text[5:-1]) if text.startswith("g · (") and text.endswith(")") else ("", text)
    if found := re.fullmatch(r"(.+) where (.+), ½ where .+", inner):
        yes, test = found.groups()
        no = f"½ if {test.replace('>', '==').replace('<', '==')} else 0"
    elif found := re.fullmatch(r"(.+) where (.+), else (.+)", inner):
        yes, test, no = found.groups()
    elif found := re.fullmatch(r"(.+),  (0) (?:where|at) (.+)", inner):
        no, yes, test = found.groups()
    else:
        return text
    test = test.replace(" = ", " == ").replace("≥", ">=").replace("≤", "<=")
    return f"{before}(({yes}) if ({test}) else ({no}))"


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr | None:
    text = _with_conditions(text)
    text = text.replace("·", "*").replace("^", "**").replace("√", "sqrt ").replace("σ", "sigma").replace("½", "0.5")
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", text).replace("∞", "inf")
    text = text.replace("log₂", "log2").replace("log₁₀", "log10")
    text = re.sub(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻ˣʸᶻⁿ]+)", lambda m: f"**({m[1].translate(SUPERSCRIPTS)})", text)
    text = re.sub(r"(\d)(?!e-?\d)([a-z])", r"(\1*\2)", re.sub(r"(\d) \(", r"\1*(", text))
    text = re.sub(rf"\b({'|'.join(FUNCTIONS)}) ([a-z]|[\d.]+)\b", r"\1(\2)", text)
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value(tree: ast.expr, numbers: Mapping[str, float]) -> float:
    """Evaluate the few kinds of expression that formulas use. Raises LookupError for any other."""
    match tree:
        case ast.Constant(value=int() | float() as number):
            return np.float64(number)
        case ast.Name(id="e" | "inf" as constant):
            return np.float64(getattr(math, constant))
        case ast.Name(id=name):
            return numbers[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, numbers)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, numbers), _value(right, numbers))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(one, numbers) for one in (left, *others)]
            return all([OPERATORS[type(op)](*pair) for op, pair in zip(ops, pairwise(values), strict=True)])
        case ast.IfExp(test=test, body=yes, orelse=no):
            return _value(yes if _value(test, numbers) else no, numbers)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return FUNCTIONS[name](_value(argument, numbers))
    raise LookupError(ast.dump(tree))
