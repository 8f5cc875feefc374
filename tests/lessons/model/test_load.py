"""Loading a course: the data that is read, and the one line about each defect."""

import re

import pytest

from lessons.model.header import LessonError
from lessons.model.lesson import Prediction
from lessons.model.load import load_course
from tests.support.lesson_folder import HEADER, LESSON, write_lesson

PREDICT = HEADER.removesuffix("+++\n") + '[[predict]]\nafter = 1\nask = "Which?"\nanswer = "{}"\nbecause = "So."\n+++\n'


def test_a_lesson_is_read_from_its_folder(tmp_path):
    (lesson,) = load_course(write_lesson(tmp_path, "03_doubling"))
    assert (lesson.number, lesson.name, lesson.title, lesson.summary) == (1, "doubling", "Doubling", "Twice as much.")
    assert lesson.prose.startswith("# Doubling")
    assert [check.title for check in lesson.exercise.checks] == ["double(3)", "double([1, 2])"]
    assert [wrong.name for wrong in lesson.exercise.wrong_answers] == ["short", "square"]
    assert lesson.exercise.wrong_answers[1].diagnosis == "You multiply x by itself; twice x is x + x."
    assert [(right.name, right.note) for right in lesson.exercise.right_answers] == [
        ("shift", "A shift to the left."),
        ("sum", "The sum of x and x."),
    ]
    assert lesson.exercise.hints == ("Look at `2 * x`.", "Write `return 2 * x`.")


def test_lessons_come_in_the_order_of_their_numbers(tmp_path):
    write_lesson(tmp_path, "10_last")
    write_lesson(tmp_path, "2_first")
    assert [(lesson.number, lesson.name) for lesson in load_course(tmp_path)] == [(1, "first"), (2, "last")]


def test_the_text_says_by_number_on_which_lessons_it_builds(tmp_path):
    def needing(*names):
        return LESSON.replace(HEADER, HEADER.removesuffix("+++\n") + f"needs = {list(names)}\n+++\n")

    write_lesson(tmp_path, "1_one")
    write_lesson(tmp_path, "5_two", lesson=needing("one"))
    write_lesson(tmp_path, "9_three", lesson=needing("two", "one"))
    one, two, three = load_course(tmp_path)
    assert "Builds on" not in one.prose
    assert two.prose.startswith("# Doubling\n\n*Builds on lesson 1.*\n\nText.")
    assert "*Builds on lessons 1 and 2.*" in three.prose


def test_needs_and_introduces_are_in_the_header(tmp_path):
    write_lesson(tmp_path, "1_first", lesson=LESSON.replace("+++\n#", 'introduces = ["twice"]\n+++\n#'))
    write_lesson(tmp_path, "2_second", lesson=LESSON.replace("+++\n#", 'needs = ["first"]\n+++\n#'))
    first, second = load_course(tmp_path)
    assert (first.needs, first.introduces) == ((), ("twice",))
    assert (second.needs, second.introduces) == (("first",), ())


def test_predictions_and_passes_are_in_the_header(tmp_path):
    prose = LESSON.replace(HEADER, PREDICT.format("gradient y").replace("[[", 'passes = "1-3"\n[['))
    (lesson,) = load_course(write_lesson(tmp_path, lesson=prose))
    assert lesson.passes == "1-3"
    assert lesson.predictions == (Prediction(1, 1, "Which?", "gradient y", "So."),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"program": None}, r"01_doubling: program\.py is missing"),
        ({"hints": None}, r"01_doubling: hints\.md is missing"),
        ({"solution": None}, r"01_doubling: solution\.py is missing"),
        ({"lesson": "# No header\n"}, r"lesson\.md: begin with a header between two lines of \+\+\+"),
        ({"lesson": "+++\ntitle = \n+++\n## In PyTorch"}, r"lesson\.md: the header is not TOML: .*line 2"),
        ({"lesson": LESSON.replace('"Doubling"', '""')}, r'lesson\.md: the header needs title = "\.\.\."'),
        ({"lesson": LESSON.replace("summary", "sumary")}, r"unknown in the header: sumary \(known: .*summary"),
        ({"lesson": LESSON.replace("## In PyTorch", "")}, r"no section '## In PyTorch'"),
        ({"lesson": LESSON.replace("+++\n#", 'passes = "some"\n+++\n#')}, r"'some': give a number"),
        (
            {"lesson": LESSON.replace(HEADER, PREDICT.format("why"))},
            r'answer is "next", .* or "inside FUNCTION NAME", not \'why\'',
        ),
        ({"lesson": LESSON.replace(HEADER, PREDICT.format("next").replace("= 1", "= -1"))}, r"needs after = a number"),
        (
            {"lesson": LESSON.replace(HEADER, PREDICT.format("next").replace("after", "pass = 0\nafter"))},
            "number from 1",
        ),
        ({"lesson": LESSON.replace("+++\n#", "predict = 3\n+++\n#")}, r"a table of its own under \[\[predict\]\]"),
        ({"lesson": LESSON.replace("+++\n#", 'needs = "one"\n+++\n#')}, r'write needs as a list of words: needs = \["'),
        ({"lesson": LESSON.replace("+++\n#", "introduces = [1]\n+++\n#")}, r"write introduces as a list of words"),
        (
            {"lesson": LESSON.replace("+++\n#", 'needs = ["other"]\n+++\n#')},
            r"needs 'other', but no earlier lesson has that name",
        ),
        ({"hints": "one\n---\n\n---\nthree\n"}, r"hints\.md: a hint is empty"),
        ({"check": "x = 1\n"}, r"check\.py: there is no check; write a function"),
        ({"check": "def three(exercise): return 1\n"}, r"check\.py: three needs a docstring, its title"),
        ({"check": "def three(:\n"}, r"check\.py: line 1: invalid syntax"),
        ({"wrong_square": "def double(x): return 4\n"}, r"square\.py: begin with a docstring, the diagnosis"),
        ({"right_sum": "def double(x): return x + x\n"}, r"sum\.py: begin with a docstring: what is different"),
    ],
)
def test_a_defect_of_a_lesson_gives_one_line(tmp_path, changes, message):
    write_lesson(tmp_path, **changes)
    with pytest.raises(LessonError, match=message) as raised:
        load_course(tmp_path)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_text_is_named(tmp_path):
    write_lesson(tmp_path)
    (tmp_path / "01_doubling" / "hints.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LessonError, match=r"hints\.md: cannot be read: it is not UTF-8"):
        load_course(tmp_path)


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        ([], "no lessons here"),
        (["doubling"], "name the folder by number and name"),
        (["1_one", "01_two"], "another lesson has that number, 01_two"),
        (["1_one", "2_one"], "there is another lesson called one"),
    ],
)
def test_a_defect_of_a_course_gives_one_line(tmp_path, folders, message):
    for folder in folders:
        write_lesson(tmp_path, folder)
    with pytest.raises(LessonError, match=message):
        load_course(tmp_path)


class TestFinding:
    @pytest.fixture
    def course(self, tmp_path):
        for folder in ("01_tape", "02_tape_order", "10_chain_rule"):
            write_lesson(tmp_path, folder)
        return load_course(tmp_path)

    @pytest.mark.parametrize(
        ("wanted", "name"), [("1", "tape"), ("03", "chain_rule"), ("tape", "tape"), ("Chain-", "chain_rule"),
                             ("tape order", "tape_order"), ("order", "tape_order")]
    )  # fmt: skip
    def test_by_number_name_or_part_of_a_name(self, course, wanted, name):
        assert course.find(wanted).name == name

    @pytest.mark.parametrize("wanted", ["4", "torch", "", "-1"])
    def test_a_lesson_that_does_not_exist(self, course, wanted):
        with pytest.raises(LookupError, match=re.escape(f"there is no lesson {wanted!r}")):
            course.find(wanted)

    def test_a_name_that_fits_several_lessons(self, course):
        with pytest.raises(LookupError, match="'ta' could be tape, tape_order: write a little more"):
            course.find("ta")

    def test_the_next_lesson(self, course):
        first, second, third = course
        assert course.after(first) is second
        assert course.after(third) is None
