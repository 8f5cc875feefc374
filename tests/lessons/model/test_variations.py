"""Tasks are made from a seed; what cannot be made says why in one line."""

import pytest

from lessons.checking.record import record_task
from lessons.model.header import LessonError
from lessons.model.load import load_course
from lessons.model.predictions import right_answer
from lessons.model.variations import make_task, task_names
from lessons.proving.evidence import Evidence
from lessons.proving.proofs import failures
from lessons.proving.tasks import variations_are_tasks, wrong_guesses_get_a_hint
from tests.support.lesson_folder import HEADER, LESSON, write_lesson
from tests.support.recordings.recorded_once import record_task_once

PRODUCT = '''\
def {name}(random):
    """A product."""
    factor = random.integers(10, 90)
    return {{
        "program": f"""
x = mt.tensor(3.0, requires_grad=True)
y = x * {{factor}} * 2
y.backward()
""",
        "after": 0,
        "ask": "What will `x.grad` be?",
        "answer": "grad x",
        "hint": "Multiply the derivatives.",
        "because": "Both factors.",
        "wrong": {{factor: "The second factor is missing."}},
    }}


'''
THREE = "".join(PRODUCT.format(name=name) for name in ("one", "two", "three"))
ASKED = LESSON.replace(
    HEADER,
    HEADER.removesuffix("+++\n")
    + '[[predict]]\nafter = 0\nask = "And `x`?"\nanswer = "gradient x"\nbecause = "Times 2."\n'
    + 'hint = "Look."\nwrong = { "WRONG" = "HINT" }\n+++\n',
)


def one_lesson(tmp_path, **files):
    return next(iter(load_course(write_lesson(tmp_path, **files))))


def proven(tmp_path, variations):
    lesson = one_lesson(tmp_path, variations=variations)
    return failures(variations_are_tasks, Evidence(lesson, load_course(tmp_path)))


def test_a_seed_makes_the_same_task_and_another_one_another(tmp_path):
    lesson = one_lesson(tmp_path, variations=THREE)
    assert task_names(lesson) == ("one", "two", "three")
    assert make_task(lesson, "one", 3) == make_task(lesson, "one", 3)
    assert make_task(lesson, "one", 3).program != make_task(lesson, "one", 4).program
    with pytest.raises(LookupError, match="has no task 'four': it has one, two, three"):
        make_task(lesson, "four", 0)


def test_the_answer_is_what_the_program_computes(tmp_path):
    task = make_task(one_lesson(tmp_path, variations=THREE), "one", 5)
    (factor, _hint), = task.prediction.wrong  # fmt: skip
    assert right_answer(record_task(task), task.prediction) == str(2 * int(factor))


def test_a_lesson_without_variations_has_its_own_questions(tmp_path):
    lesson = one_lesson(tmp_path, lesson=ASKED)
    assert task_names(lesson) == ("question_1",)
    task = make_task(lesson, "question_1", 7)
    assert task.program == lesson.program.read_text()
    assert task.prediction == lesson.predictions[0]


def test_variations_that_are_tasks_are_proven(tmp_path):
    assert proven(tmp_path, THREE) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def three", "def _three", "write at least 3"),
        ('"hint": "Multiply the derivatives.",\n', "", "give it a hint"),
        ('"Multiply the derivatives."', 'f"It is {2 * factor}."', "can be read"),
        ("random.integers(10, 90)", "7", "every seed makes the same program"),
        ('"grad x"', '"grad w"', "there is no tensor of that name"),
        ("{factor:", "{2 * factor:", "is given as a wrong answer, and it is right"),
        ("y.backward()", "y.backwards()", "asks about pass 1 of 0"),
        ("y.backward()", "y.backward(", "cannot be recorded"),
        ("* 2\ny.backward()", "* 2\ny.exp_().exp_().backward()", "its backward fails"),
        ("return {", "return 1 / 0 and {", "cannot be made: ZeroDivisionError"),
        ('"answer":', '"result":', "needs answer"),
        ("x = mt", "\nx = 1\n\nx = mt", "leave empty lines out"),
        ("y.backward()", "y.backward()\n" + "a = 1\n" * 12, "only 15 lines"),
    ],
)
def test_what_is_wrong_with_a_variation_is_said(tmp_path, monkeypatch, old, new, said):
    monkeypatch.setattr("lessons.proving.tasks.record_task", record_task_once)
    found = proven(tmp_path, THREE.replace(old, new))
    assert any(said in line for line in found), found


@pytest.mark.parametrize(
    ("wrong", "hint", "said"),
    [("9", "Not that.", None), ("1.920", "Not that.", "it is right"), ("9", "It is 1.92.", "tells the answer")],
)
def test_the_wrong_answers_of_a_question_are_wrong(tmp_path, wrong, hint, said):
    lesson = one_lesson(tmp_path, lesson=ASKED.replace("WRONG", wrong).replace("HINT", hint))
    found = failures(wrong_guesses_get_a_hint, Evidence(lesson, load_course(tmp_path)))
    assert [said in line for line in found] == ([True] if said else [])


def test_wrong_answers_are_a_table(tmp_path):
    with pytest.raises(LessonError, match="write wrong as a table of answers and hints"):
        one_lesson(tmp_path, lesson=ASKED.replace('{ "WRONG" = "HINT" }', '["WRONG"]'))
