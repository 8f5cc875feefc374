"""Each proof finds the defects that it is there for, and says in one line what is to be mended."""

import shutil
from pathlib import Path

import pytest

from lessons.model.load import load_course
from lessons.proving import growth, proofs, tasks
from lessons.proving.evidence import Evidence
from lessons.proving.proofs import failures
from lessons.proving.vocabulary import uses_nothing_later

EXAMPLE = Path(__file__).parents[3] / "docs" / "example_course" / "01_mean"
LONG = "x" * 90
QUARTERS = "[0.25, 0.25, 0.25, 0.25]"
TRAP = 'wrong = { "[1/4, 0.25, 0.25, 0.25]" = "No." }\n'
RAISES = "raise NotImplementedError"
TWO_NUMBERS = "return exercise.backward_of_mean(1.0, [2.0, 4.0])"
HINT = "By how much does the mean grow when one of the four numbers grows by 1?"
MAIN = 'if __name__ == "__main__":\n    print(backward_of_mean(1.0, [2.0, 4.0]))\n'
MORE = '\n\ndef median(numbers):\n    raise NotImplementedError\n\n\nif __name__ == "__main__":'


@pytest.fixture
def course(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "mine" / "01_mean")
    return tmp_path / "mine"


def change(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def found(proof, course, lesson=0):
    """What a proof says of a lesson of the course."""
    loaded = load_course(course)
    return failures(proof, Evidence(loaded.lessons[lesson], loaded))


@pytest.mark.parametrize(
    ("proof", "file", "old", "new", "said"),
    [
        (proofs.program_has_a_pass, "program.py", "average.backward()", "", "program.py: it never calls backward"),
        (proofs.files_fit, "program.py", "average =", f"{LONG} = average =",
         "characters, but only 68 fit"),
        (proofs.files_fit, "lesson.md", "The same:", f"The {LONG}:",
         "lesson.md: 'The xxxxxxxxxxxxxxxx'... has 147 characters, but only 80 fit"),
        (proofs.files_fit, "lesson.md", "print(x.grad)", f"print(x.grad)  # {'x' * 50}",
         "lesson.md: 'print(x.grad)  # xxx'... has 67 characters, but only 61 fit into a block"),
        (proofs.files_fit, "lesson.md", "Every number", f"Every {LONG} number",
         "lesson.md: the list has room for 60 characters of the title and 68 of the summary"),
        (proofs.predictions_have_answers, "lesson.md", HINT, f"Is it {QUARTERS}?", "its hint tells the answer"),
        (proofs.predictions_have_answers, "lesson.md", 'answer = "grad x"', 'answer = "gradient average"',
         "ask it earlier, because the stepper already shows the answer"),
        (proofs.predictions_have_answers, "lesson.md", "after = 1", "after = 9",
         "a prediction asks what comes after step 9 of 2"),
        (proofs.predictions_stand_nowhere_above, "lesson.md", "## Exercise", f"It is {QUARTERS}.\n\n## Exercise",
         f"the answer, {QUARTERS}, can be read"),
        (tasks.wrong_guesses_get_a_hint, "lesson.md", "because = \"A push at", f"{TRAP}because = \"A push at",
         "is given as a wrong answer, and it is right"),
        (proofs.prose_is_true, "lesson.md", "```text", "```table", "lesson.md: a block is called 'table'"),
        (proofs.prose_is_true, "lesson.md", "```output", "```text", "lesson.md: show what some Python prints"),
        (proofs.exercise_fails_as_shipped, "exercise.py", MAIN, "", "exercise.py: end it with if __name__"),
        (proofs.exercise_fails_as_shipped, "exercise.py", f"    {RAISES}", "    return [0.5, 0.5][: len(numbers)]",
         "exercise.py: run by itself, it prints what the solution prints"),
        (proofs.exercise_fails_as_shipped, "exercise.py", "    print(backward_of_mean(1.0, [2.0, 4.0]))", "    pass",
         "exercise.py: run by itself, it does not reach a `raise NotImplementedError`"),
        (proofs.solution_passes, "check.py", TWO_NUMBERS, "return exercise", "check.py: two_numbers returns an object"),
        (proofs.solution_passes, "solution.py", MAIN, "", "solution.py: end it with if __name__"),
        (proofs.solution_passes, "solution.py", "print(backward_of_mean(1.0, [2.0, 4.0]))", "print(1 / 0)",
         "solution.py: run by itself, it prints"),
        (proofs.solution_passes, "solution.py", "print(backward_of_mean(1.0, [2.0, 4.0]))", "pass",
         "solution.py: run by itself, it prints ''"),
        (proofs.solution_passes, "check.py", TWO_NUMBERS, "__import__('os')._exit(3)",
         "solution.py: cannot be run: its process ended with status 3"),
        (proofs.wrong_answers_are_known, "wrong/by_value.py", "def ", "raise OSError\ndef ",
         "wrong/by_value.py: it cannot be run"),
        (proofs.there_are_hints, "hints.md", "`len(numbers)` is", "`len(\nnumbers)` is",
         "hints.md: write code between backticks"),
    ],
)  # fmt: skip
def test_a_defect_is_found(proof, file, old, new, said, course):
    assert found(proof, course) == [], "the example as it is holds"
    change(course / "01_mean" / file, old, new)
    assert any(said in line for line in found(proof, course)), found(proof, course)


def test_at_least_one_question_is_asked(course):
    lesson = course / "01_mean" / "lesson.md"
    text = lesson.read_text(encoding="utf-8")
    start, end = text.index("[[predict]]"), text.index("[wrong_engine]")
    lesson.write_text(text[:start] + text[end:], encoding="utf-8")
    assert found(proofs.predictions_have_answers, course) == ["lesson.md: ask at least one question, under [[predict]]"]


def test_an_answer_has_a_name(course):
    change(
        course / "01_mean" / "program.py",
        "average = x.mean()\n\naverage.backward()",
        "average = 1 * x.mean()\naverage.backward()",
    )
    change(course / "01_mean" / "lesson.md", 'answer = "grad x"', 'answer = "next"')
    (said,) = found(proofs.predictions_have_answers, course)
    assert said.endswith("is answered by a row without a name")


def test_two_right_answers_are_different_programs(course):
    right = course / "01_mean" / "right"
    (right / "again.py").write_text(f"# Once more.\n{(right / 'repeated.py').read_text(encoding='utf-8')}")
    assert found(proofs.right_answers_pass, course) == [
        "right/repeated.py: it is the same program as another right answer"
    ]


def test_a_word_is_introduced_once(course):
    shutil.copytree(course / "01_mean", course / "02_again")
    assert list(uses_nothing_later(load_course(course))) == ["02_again: introduces mean, as 01_mean does already"]


class TestGrowing:
    """A second lesson that goes on with the file of the first."""

    @pytest.fixture
    def growing(self, course):
        second = course / "02_median"
        shutil.copytree(course / "01_mean", second)
        change(second / "lesson.md", 'introduces = ["mean"]', 'continues = "mean"')
        solution = (course / "01_mean" / "solution.py").read_text(encoding="utf-8")
        main = 'if __name__ == "__main__":'
        (second / "exercise.py").write_text(solution.replace(f"\n\n{main}", MORE), encoding="utf-8")
        solved = MORE.replace(RAISES, "return sorted(numbers)[len(numbers) // 2]")
        (second / "solution.py").write_text(solution.replace(f"\n\n{main}", solved), encoding="utf-8")
        (second / "check.py").write_text(
            'def of_three(exercise):\n    """The median of 3, 1 and 2"""\n    return exercise.median([3, 1, 2])\n'
        )
        return course

    def test_what_grows_holds(self, growing):
        for proof in (growth.grows_from_the_lesson_before, growth.any_right_answer_can_go_on):
            assert found(proof, growing, 1) == []

    def test_the_exercise_keeps_the_earlier_solution(self, growing):
        change(growing / "02_median" / "exercise.py", "for _ in numbers", "for each in numbers")
        said = found(growth.grows_from_the_lesson_before, growing, 1)
        assert said == ["exercise.py: backward_of_mean is not that of the earlier solution"]

    def test_the_solution_keeps_the_earlier_solution(self, growing):
        change(growing / "02_median" / "solution.py", "def backward_of_mean(gradient, numbers):", "def other(numbers):")
        change(
            growing / "01_mean" / "solution.py",
            "    return [",
            "    count = len(numbers)\n    assert count\n    return [",
        )
        said = found(growth.grows_from_the_lesson_before, growing, 1)
        assert "solution.py: 4 lines of backward_of_mean in the earlier solution are gone" in said

    def test_there_is_something_new(self, growing):
        shutil.copy(growing / "01_mean" / "solution.py", growing / "02_median" / "solution.py")
        said = found(growth.grows_from_the_lesson_before, growing, 1)
        assert said == ["solution.py: there is nothing new in it"]

    def test_what_is_new_solves_it_for_whoever_answered_otherwise(self, growing):
        check = growing / "02_median" / "check.py"
        change(check, "exercise.median([3, 1, 2])", "[exercise.median([3, 1, 2]), exercise.backward_of_mean.__name__]")
        change(
            growing / "01_mean" / "right" / "repeated.py", "def backward_of_mean", "backward_of_mean = max\ndef other"
        )
        said = found(growth.any_right_answer_can_go_on, growing, 1)
        assert said == [
            "exercise.py: continued from repeated.py of the lesson before, "
            "it is not solved by what is new in the solution"
        ]

    def test_a_start_that_already_passes(self, growing):
        change(growing / "02_median" / "check.py", "exercise.median([3, 1, 2])", "len('abc')")
        said = found(growth.any_right_answer_can_go_on, growing, 1)
        assert [line.rpartition(", ")[2] for line in said] == ["it already passes"] * 2
