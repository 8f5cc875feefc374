"""Mistakes as learners make them, in files that are written differently from the known wrong answers."""

import pytest

from lessons.checking.verdict import check
from lessons.checking.verdict_report import report
from tests.support.course import COURSE

MISTAKES = [
    ("tape_of_numbers", [("def __init__(self):\n        self.values = {}", "values = {}\n\n    def __init__(self):")],
     "share one dictionary of numbers"),
    ("tape_of_numbers", [("def __init__(self):\n        self.values = {}",
                          "def __init__(self, values={}):\n        self.values = values")],
     "share one dictionary of numbers"),
    ("chain_rule", [("[gradient * y, gradient * x]", "[gradient * z] * 2")], "sends the result to both operands"),
    ("chain_rule", [("{last: 1.0}", "{last: self.values[last]}")], "begin with the value"),
    ("chain_rule", [("{last: 1.0}", "{last: 2}")], "The gradient that backward begins with"),
    ("chain_rule", [("[gradient * 2 * x]", "[x * gradient]")], "without the 2"),
    ("order", [("for row in reversed(rows):", "for row in [rows.pop() for _ in range(len(rows))]:")],
     "You take the rows off the tape"),
    ("the_vector", [("        gradients = {last:", "        if np.size(self.values[last]) > 1:\n"
                     "            raise ValueError('in other words than ours')\n        gradients = {last:")],
     "even if it is given weights"),
    ("nan", [("inside = mt.where(x > 0, x, 1.0)\n    return mt.where(x > 0, inside.sqrt(), 0.0)",
              "return mt.sqrt(mt.clamp(x, min=0.0))")], "infinity at 0"),
    ("in_place", [("        return x\n\n    @static", "\n    @static")], "neither a copy nor nothing"),
    ("nan", [('if "returned nan" not in str(error):\n                raise\n', "return None\n")],
     "you hide the error"),
    ("nan", [("with mt.autograd.detect_anomaly():", "if True:")], "do not switch anomaly mode on"),
    ("higher_order", [("    return x\n\n\ndef", "        return x\n\n\ndef")], "ends after one step"),
    ("detach_and_no_grad", [("    gap = guess - target.detach()\n    return gap * gap",
                             "    with mt.no_grad():\n        return (guess - target) ** 2")], "is off the tape"),
    ("detach_and_no_grad", [("gap = guess - target.detach()", "gap = guess.item() - target.detach()")],
     "when the check called backward: NoGraphError"),
    ("checkpointing", [("return None, x.grad", "return x.grad")], "when the check called backward: GradientError"),
    ("checkpointing", [("result.backward(grad_output)", "result.sum().backward()")], "`result.backward(grad_output)`"),
    ("capstone", [("np.swapaxes(x, -1, -2) @ gradient", "x @ gradient")], "the gradient of y in x @ y"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "changes", "said"), MISTAKES)
def test_it_is_told_in_words(name, changes, said, tmp_path):
    exercise = COURSE.named(name).exercise
    text = exercise.solution.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    verdict = check(exercise, file)
    assert not verdict.passed
    assert said in "\n".join(line.text for line in report(verdict))
