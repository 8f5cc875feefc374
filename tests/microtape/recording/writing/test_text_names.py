"""Tensors of functions that have returned have the names that the program's text gives them, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given

from microtape.recording.writing.recorder import Recorder
from tests.support.true_names import Held, programs, results, run, untrue

NAMES = [
    ("h = p - 1\nreturn h.exp()", {"p - 1": "h"}),
    ("h = p / 2\nh.masked_fill_(p > 1, -9.0)\nreturn h.softmax(-1)", {"p / 2": "h"}),
    ("h = p - 1\nh.mul_(3)\nreturn h.exp()", {"p - 1": "h", "h.mul_(3)": "h"}),
    ("h = p - 1\nh += q\nreturn h.exp()", {"p - 1": "h", "h += q": "h"}),
    ("h = p - 1\nh[p > 1] = 0\nreturn h.exp()", {"p - 1": "h", "h[p > 1]": "h"}),
    ("h = p - 1\nk = h.mul_(3)\nreturn k.exp()", {"p - 1": "h"}),
    ("low, high = (p * q).chunk(2)\nreturn low * 2 + high.sum()", {"(p * q).chunk(2)": "low, high"}),
    ("low, _ = (p * q).chunk(2)\nreturn low * 2", {"(p * q).chunk(2)": "low, "}),
    ("[u, v, w] = mt.unbind(p)\nreturn u * v * w", {"mt.unbind(p)": "u, v, w"}),
    ("v, i = p.max(dim=1)\nreturn v * 2", {"p.max(dim=1)": "v, *"}),
    ("h = pair(p, q)\nreturn h[0]", {"both.tanh()": "", "a * b": "both"}),
    ("h, k = p - 1, (q.exp(), q)\nreturn h * k[0]", {"p - 1": "h", "q.exp()": ""}),
    ("h = k = p - 1\nreturn h.exp()", {"p - 1": "h"}),
    ("d = {}\nd['h'] = p - 1\nreturn d['h'].exp()", {"p - 1": "d['h']"}),
    ("if (h := p - 1).requires_grad: return h.exp()", {"p - 1": "h"}),
    ("h = mt.zeros(3, 3)\nh[0] = p[1]\nreturn h.exp()", {"h[0]": "h"}),
    ("h = p.new_ones(3, 3)\nh[0] += p[1]\nreturn h.exp()", {"h[0] += p[1]": "h"}),
    ("h = mt.zeros_like(p)\nfor i in range(3): h[i, :2] = p[i].exp()[1:]\nreturn h.exp()", {"h[i, :2]": "h"}),
]  # fmt: skip
"""The lines of a function, and what its expressions gave: `*` is any name."""
GRAD = "mt.autograd.grad((p * q).tanh().sum(), [p], create_graph=True)"
NAMELESS = [
    ("def f(x): return x * 2\nreturn f(p.tanh())", "p.tanh()"),
    ("a, a = (p * q).split([1, 2])\nreturn a", "(p * q).split([1, 2])"),
    ("a, *rest = p.unbind()\nreturn a", "p.unbind()"),
    ("several = p.unbind()\nreturn several[0]", "p.unbind()"),
    (f"(g,) = {GRAD}\nreturn g * 2", GRAD),
    ("a, b = map(mt.tanh, [p, q])\nreturn p.exp()", "p.exp()"),
    ("a, *rest = p - 1, p - 2\nreturn a", "p - 1"),
    ("a, a = p - 1, p - 2\nreturn a", "p - 2"),
    ("a = mt.zeros(3, 3)\nb = a[0]\nb[1:] = p[0, 1:]\nreturn a.exp()", "b[1:]"),
    ("a, b = mt.zeros(3, 3), mt.ones(3)\nb = a[0]\nb[1:] = p[0, 1:]\nreturn a.exp()", "b[1:]"),
    ("several = [0, 0]\nseveral[1] = p - 1\nreturn several[1]", "p - 1"),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_a_value_has_the_name_that_the_text_gives_it(text, expected):
    found = results(run(text.splitlines(), "microtape", Recorder()))
    for expression, names in expected.items():
        assert matches(found[expression], names), (expression, found[expression])


def matches(found, names):
    return all(name in ("*", one) for one, name in zip(found, names.split(", "), strict=True))


@pytest.mark.parametrize(("text", "expression"), NAMELESS)
def test_a_value_that_no_variable_of_its_own_holds_has_no_name(text, expression):
    assert not any(results(run(text.splitlines(), "microtape", Recorder()))[expression])


@given(programs)
def test_no_name_is_one_that_the_value_never_had(lines):
    recorder, held = Recorder(), Held()
    recording = run(lines, "microtape", recorder, held)
    assert recording.faults == ()
    assert list(untrue(recording, recorder.tape, lambda entry: entry.tensor, held)) == []
