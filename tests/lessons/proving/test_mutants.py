"""Mutants: the mistakes that are generated, and the survivors that the checks miss."""

import ast

import pytest

from lessons.model.load import load_course
from lessons.proving.evidence import Evidence
from lessons.proving.mutants import mutants
from tests.support.lesson_folder import CHECK, SOLUTION, write_lesson


def bodies(source):
    """The lines that replace the line of a one-line function in its mutants."""
    program = "import numpy as np\ndef f(x, y):\n" + "".join(f"    {line}\n" for line in source.splitlines())
    return {ast.unparse(ast.parse(mutant.text).body[-1].body).strip() for mutant in mutants(program)}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("total += x", "total = x"),
        ("return x - y", "return y - x"),
        ("return x - y", "return x + y"),
        ("return x + y", "return x"),
        ("return x + y", "return y"),
        ("return x @ y", "return y @ x"),
        ("return -x", "return x"),
        ("return not x", "return x"),
        ("return x.T", "return x"),
        ("return x.sum(0)", "return x"),
        ("return x.sum(0)", "return x.sum(1)"),
        ("return reversed(x)", "return x"),
        ("return np.atleast_1d(x)", "return x"),
        ("x.backward(retain_graph=True)", "x.backward()"),
        ("x.backward(retain_graph=True)", "x.backward(retain_graph=False)"),
        ("x.get(y, 0)", "x.get(0, y)"),
        ("return x, y", "return (y, x)"),
        ("return x, y", "return (None, y)"),
        ("return x, y", "pass"),
        ("return x > y", "return x >= y"),
        ("return x is None", "return x is not None"),
        ("return x and y", "return x or y"),
        ("return x if y else 3", "return x"),
        ("return 'mul'", "return 'mul?'"),
        ("if x: return y", "if not x:\n    return y"),
        ("with x: y()", "if True:\n    y()"),
        ("for i in x: break", "for i in x:\n    pass"),
    ],
)
def test_the_mutants_of_a_line(right, wrong):
    assert wrong in bodies(right)


def test_every_mutant_differs_from_the_program_and_occurs_once():
    text = "import math\ndef f(x):\n    y = math.sin(x) * 2\n    return y + y\n"
    texts = [mutant.text for mutant in mutants(text)]
    assert len(set(texts)) == len(texts)
    assert all(ast.dump(ast.parse(one)) != ast.dump(ast.parse(text)) for one in texts)


def test_a_mutant_has_a_line_and_a_description():
    first = mutants("def f(x):\n    return -x\n")
    assert ("without '-'", 2) in {(mutant.mistake, mutant.line) for mutant in first}


def test_docstrings_and_the_main_block_are_not_mutated():
    text = '"""One."""\ndef f():\n    """Two."""\nif __name__ == "__main__":\n    print(1 + 2)\n'
    assert mutants(text) == []


class TestSurvivors:
    def survivors(self, tmp_path, **changes):
        (lesson,) = course = load_course(write_lesson(tmp_path, **changes))
        return [mutant.mistake for mutant in Evidence(lesson, course).survivors]

    def test_checks_that_catch_everything(self, tmp_path):
        assert self.survivors(tmp_path) == []

    def test_checks_that_look_at_one_number_only(self, tmp_path):
        narrow = 'def two(exercise):\n    """double(2)"""\n    return exercise.double(2)\n'
        assert "`2 + x` for `2 * x`" in self.survivors(tmp_path, check=narrow)

    @pytest.mark.slow
    def test_a_mutant_that_agrees_on_random_input_is_right(self, tmp_path):
        longer = SOLUTION.replace("return 2 * x", "return x * 2 if x is None else 2 * x")
        lets_pass = self.survivors(tmp_path / "one", solution=longer)
        assert lets_pass
        at_random = "\n\ndef at_random(exercise, random):\n    return exercise.double(random.normal())\n"
        assert self.survivors(tmp_path / "two", solution=longer, check=CHECK + at_random) == []

    def test_random_input_shows_what_the_checks_miss(self, tmp_path):
        narrow = 'def two(exercise):\n    """double(2)"""\n    return exercise.double(2)\n'
        at_random = "\n\ndef at_random(exercise, random):\n    return exercise.double(random.normal())\n"
        assert "`2 + x` for `2 * x`" in self.survivors(tmp_path, check=narrow + at_random)

    @pytest.mark.slow
    def test_an_endless_mutant_does_not_affect_the_others(self, tmp_path, monkeypatch):
        monkeypatch.setattr("lessons.proving.evidence.MUTANT_SECONDS", 0.5)
        loop = "    while i != 2:\n        total += x\n        i += 1\n"
        counting = f"def double(x):\n    total, i = x, 1\n{loop}    return total\n"
        checks = 'def three(exercise):\n    """double(3)"""\n    return exercise.double(3)\n'
        assert self.survivors(tmp_path, solution=counting, check=checks) == []
