"""The course: what every lesson claims is true."""

import ast
import contextlib
import io
import re
import traceback
import warnings

import pytest

from lessons.checker import does_the_same
from lessons.load import load_course
from lessons.observe import observe
from lessons.plain import difference
from lessons.predict import right_answer
from microtape.recording.file import load
from microtape.recording.run import record_script

COURSE = load_course()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(params=COURSE, ids=[lesson.folder.name for lesson in COURSE], scope="module")
def lesson(request):
    return request.param


@pytest.fixture(scope="module")
def recording(lesson, tmp_path_factory):
    path = tmp_path_factory.mktemp(lesson.name) / "program.tape"
    ended = record_script(lesson.program, out=path, passes=lesson.passes)
    assert ended.message is None
    assert ended.recording is not None
    return load(path)


@pytest.fixture(scope="module")
def observations(lesson):
    """What every file of the exercise does, by its name."""
    exercise = lesson.exercise
    others = [*exercise.right_answers, *exercise.wrong_answers]
    files = [exercise.path, exercise.solution, *(other.path for other in others)]
    return dict(zip([file.stem for file in files], observe(exercise, files), strict=True))


def same_as_solution(one, solution):
    return all(
        outcome.raised is None and difference(outcome.value, solution.outcomes[name].value) is None
        for name, outcome in one.outcomes.items()
    )


def test_the_program_has_a_backward_pass_to_step_through(recording):
    assert recording.passes
    assert all(one.steps for one in recording.passes)


def test_the_program_fits_beside_the_text(lesson):
    assert max(map(len, lesson.program.read_text().splitlines())) <= 68
    assert max(map(len, lesson.exercise.path.read_text().splitlines())) <= 68


def test_there_is_a_prediction_and_every_one_has_an_answer(lesson, recording):
    assert lesson.predictions
    for prediction in lesson.predictions:
        answer = right_answer(recording, prediction)
        assert not answer.startswith("%"), "ask only for rows that have a name"


def test_what_the_text_shows_is_what_python_prints(lesson):
    namespace = {}
    blocks = BLOCK.findall(lesson.prose)
    shown = 0
    for (kind, text), (following, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        assert kind in ("python", "output", "text"), "every block says what it is"
        if kind != "python":
            continue
        printed = run(text, namespace)
        if following == "output":
            assert printed == output
            shown += 1
        else:
            assert printed == "", "what is printed is shown"
    assert shown


def run(code, namespace):
    """What the code prints; if it raises, the last line that Python would print."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(code, "lesson", "exec", dont_inherit=True), namespace)
        except Exception as error:
            print(traceback.format_exception_only(error)[0].splitlines()[0])
    for warning in caught:
        print(f"{warning.category.__name__}: {str(warning.message).splitlines()[0]}", file=printed)
    return printed.getvalue()


def test_title_and_summary_fit_the_list(lesson):
    assert len(lesson.title) <= 60
    assert len(lesson.summary) <= 68


def test_the_text_fits_a_terminal(lesson):
    assert max(map(len, lesson.prose.splitlines())) <= 80
    assert max(len(line) for _, block in BLOCK.findall(lesson.prose) for line in block.splitlines()) <= 62
    assert lesson.prose.startswith(f"# {lesson.title}\n")


def test_the_exercise_fails_as_shipped(observations):
    assert not same_as_solution(observations["exercise"], observations["solution"])


def test_the_solution_passes(lesson, observations):
    solution = observations["solution"]
    assert solution.broken is None
    assert list(solution.outcomes) == [check.name for check in lesson.exercise.checks]
    assert all(outcome.raised is None for outcome in solution.outcomes.values())
    assert "a object" not in str(solution.outcomes), "a check gives back plain data"


def test_differently_written_answers_pass(lesson, observations):
    assert len(lesson.exercise.right_answers) >= 2
    texts = {ast.dump(ast.parse(lesson.exercise.solution.read_text()))}
    for right in lesson.exercise.right_answers:
        assert same_as_solution(observations[right.name], observations["solution"]), right.name
        assert observations[right.name].broken is None
        texts.add(ast.dump(ast.parse(right.path.read_text())))
    assert len(texts) == 1 + len(lesson.exercise.right_answers)


def test_there_are_wrong_answers_and_each_has_a_diagnosis_of_its_own(lesson, observations):
    mistakes = {wrong.name: observations[wrong.name] for wrong in lesson.exercise.wrong_answers}
    assert len(mistakes) >= 3
    for name, mistake in mistakes.items():
        assert mistake.broken is None, f"{name} cannot be run"
        assert not same_as_solution(mistake, observations["solution"]), f"{name} passes"
        twins = [other for other in mistakes if other != name and does_the_same(mistake, mistakes[other])]
        assert not twins, f"{name} cannot be told from {twins}"


def test_every_check_tells_some_wrong_answer_from_the_right_one(lesson, observations):
    solution = observations["solution"]
    mistakes = [observations[wrong.name] for wrong in lesson.exercise.wrong_answers]
    for check in lesson.exercise.checks:
        expected = solution.outcomes[check.name]
        outcomes = [mistake.outcomes[check.name] for mistake in mistakes]
        assert any(one.raised or difference(one.value, expected.value) for one in outcomes), check.name


def test_there_are_hints(lesson):
    assert len(lesson.exercise.hints) >= 2
    assert len(set(lesson.exercise.hints)) == len(lesson.exercise.hints)


def test_the_files_can_be_run_by_themselves(lesson):
    """`python exercise.py` tries what has been written. As shipped that is nothing yet."""
    exercise, solution = lesson.exercise.path.read_text(), lesson.exercise.solution.read_text()
    for text in (exercise, solution):
        assert 'if __name__ == "__main__":' in text
    assert run(exercise, {"__name__": "__main__"}).endswith("NotImplementedError\n")
    printed = run(solution, {"__name__": "__main__"})
    assert printed
    assert not re.search(r"^\w+(Error|Warning)\b", printed, re.MULTILINE)
