"""What is proven of every lesson. The tests prove it of this course, `microtape learn verify` of a teacher's course.

A proof is a function that yields one line for each defect; its docstring states what it proves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lessons.checking.compare_recordings import first_wrong_step
from lessons.checking.plain_data import difference
from lessons.checking.record import record_program
from lessons.checking.verdict import does_the_same
from lessons.model.header import LessonError
from lessons.model.lesson import Course
from lessons.model.predictions import is_given_away, right_answer
from lessons.model.template import todos
from lessons.proving.evidence import Evidence, finished, run_blocks
from lessons.proving.given_away import stands_above
from lessons.proving.growth import any_right_answer_can_go_on, grows_from_the_lesson_before
from lessons.proving.tasks import variations_are_tasks, wrong_guesses_get_a_hint
from lessons.proving.vocabulary import uses_nothing_later

PROGRAM_WIDTH, BLOCK_WIDTH, TEXT_WIDTH = 68, 61, 80  # columns: beside the text, inside the text, in a terminal
WRONG_ENGINE = "## A wrong engine"
MAIN = 'if __name__ == "__main__":'


def nothing_is_left_of_the_template(evidence: Evidence) -> Iterator[str]:
    """Nothing is left of the template that `learn new` writes."""
    yield from todos(evidence.lesson.folder)


def program_has_a_pass(evidence: Evidence) -> Iterator[str]:
    """The program can be recorded and has a backward pass to step through."""
    if not evidence.recording.passes:
        yield "program.py: it never calls backward"
    for number, one in enumerate(evidence.recording.passes, 1):
        if not one.steps:
            yield f"program.py: pass {number} has no steps"


def files_fit(evidence: Evidence) -> Iterator[str]:
    """Titles, texts and programs fit where they are shown."""
    lesson = evidence.lesson
    programs = {lesson.program, lesson.wrong_engine.program} if lesson.wrong_engine else {lesson.program}
    for path in (*sorted(programs), lesson.exercise.path):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > PROGRAM_WIDTH:
                yield f"{path.name}: line {number} has {len(line)} characters, but only {PROGRAM_WIDTH} fit"
    for line in lesson.prose.splitlines():
        if len(line) > TEXT_WIDTH:
            yield f"lesson.md: {line[:20]!r}... has {len(line)} characters, but only {TEXT_WIDTH} fit"
    for line in (line for block in evidence.blocks for line in block.text.splitlines()):
        if len(line) > BLOCK_WIDTH:
            yield f"lesson.md: {line[:20]!r}... has {len(line)} characters, but only {BLOCK_WIDTH} fit into a block"
    if len(lesson.title) > 60 or len(lesson.summary) > 68:
        yield "lesson.md: the list has room for 60 characters of the title and 68 of the summary"
    if not lesson.prose.startswith(f"# {lesson.title}\n"):
        yield f"lesson.md: begin the text with its title: # {lesson.title}"


def predictions_have_answers(evidence: Evidence) -> Iterator[str]:
    """The lesson asks at least one question, and the recording answers each: by name, and not before it is asked."""
    if not evidence.lesson.predictions:
        yield "lesson.md: ask at least one question, under [[predict]]"
    for prediction in evidence.lesson.predictions:
        try:
            right = right_answer(evidence.recording, prediction)
            if right.startswith("%"):
                yield f"lesson.md: {prediction.ask!r} is answered by a row without a name"
            if re.search(rf"(?<![\w.]){re.escape(right)}(?![\w.])", prediction.hint):
                yield f"lesson.md: {prediction.ask!r}: its hint tells the answer"
            if is_given_away(evidence.recording, prediction):
                yield f"lesson.md: {prediction.ask!r}: ask it earlier, because the stepper already shows the answer"
        except LessonError as error:
            yield f"lesson.md: {prediction.ask!r}: {error}"


def predictions_stand_nowhere_above(evidence: Evidence) -> Iterator[str]:
    """The number that a question asks for stands neither in the text, its outputs and pictures, nor in the question."""
    for prediction in evidence.lesson.predictions:
        try:
            right = right_answer(evidence.recording, prediction)
        except LessonError:
            continue  # reported by predictions_have_answers
        if (where := stands_above(evidence.lesson, prediction, right)) is not None:
            yield f"lesson.md: {prediction.ask!r}: the answer, {right}, can be read: {where!r}: use other numbers"


def wrong_engine_goes_wrong(evidence: Evidence) -> Iterator[str]:
    """A wrong engine goes wrong on its program, where the real engine does not, and the text mentions it."""
    wrong = evidence.lesson.wrong_engine
    if wrong is None:
        return
    if WRONG_ENGINE not in evidence.lesson.prose:
        yield f"lesson.md: write a section {WRONG_ENGINE!r} that says what to look for"
    faulty = record_program(wrong.program, wrong.passes, fault=wrong.fault)
    if first_wrong_step(faulty, record_program(wrong.program, wrong.passes)) is None:
        yield f"{wrong.program.name}: on the engine with the fault {wrong.fault}, nothing goes wrong"


def prose_is_true(evidence: Evidence) -> Iterator[str]:
    """The Python in the text prints exactly the output that the text shows."""
    shown = 0
    printed = iter(evidence.printed)
    for block, following in zip(evidence.blocks, [*evidence.blocks[1:], None], strict=True):
        if block.kind not in ("python", "output", "text"):
            yield f"lesson.md: a block is called {block.kind!r}: write ```python, ```output or ```text"
        if block.kind != "python":
            continue
        expected = following.text if following is not None and following.kind == "output" else ""
        shown += expected != ""
        if (actual := next(printed)) != expected:
            first = block.text.strip().partition("\n")[0]
            yield f"lesson.md: the block {first!r} prints {actual!r}, but the text shows {expected!r}"
    if not shown:
        yield "lesson.md: show what some Python prints: add a block of ```python and one of ```output"


def exercise_fails_as_shipped(evidence: Evidence) -> Iterator[str]:
    """The exercise as shipped is not solved. Run by itself, it ends at a NotImplementedError, or goes visibly wrong."""
    exercise = evidence.lesson.exercise
    if evidence.passes(evidence.observations[exercise.path]):
        yield "exercise.py: it already passes as shipped"
    text = exercise.path.read_text(encoding="utf-8")
    if MAIN not in text:
        yield f"exercise.py: end it with {MAIN} and something to try"
    elif "raise NotImplementedError" not in text:
        if run_blocks([text]) == run_blocks([exercise.solution.read_text(encoding="utf-8")]):
            yield "exercise.py: run by itself, it prints what the solution prints"
    elif not run_blocks([text])[0].endswith("NotImplementedError\n"):
        yield "exercise.py: run by itself, it does not reach a `raise NotImplementedError`"


def solution_passes(evidence: Evidence) -> Iterator[str]:
    """The solution finishes every check with plain data, begins with a note, and runs by itself."""
    exercise, solution = evidence.lesson.exercise, evidence.solution
    if not solution.outcomes and solution.ended == "process":
        last = solution.output.strip().rpartition("\n")[2] or f"its process ended with status {solution.status}"
        yield f"check.py or solution.py: cannot be run: {last}"
        return
    if solution.broken is not None:
        yield f"solution.py: cannot be run: {solution.broken.summary}"
    for check in exercise.checks:
        outcome = solution.outcomes.get(check.name)
        if outcome is None or outcome.raised is not None:
            raised = outcome.raised if outcome is not None else None
            why = raised.summary if raised is not None else "the check is not reached"
            yield f"check.py: {check.name} fails on the solution: {why}"
        elif "{'object'" in str(outcome.value):
            yield f"check.py: {check.name} returns an object of the learner's own type: return plain data"
    text = exercise.solution.read_text(encoding="utf-8")
    if not text.startswith("#"):
        yield "solution.py: begin with a comment: what the exercise teaches"
    if MAIN not in text:
        yield f"solution.py: end it with {MAIN} and something to try"
    elif re.search(r"^\w+(Error|Warning)\b", printed := run_blocks([text])[0], re.MULTILINE) or not printed:
        yield f"solution.py: run by itself, it prints {printed[-80:]!r}"


def right_answers_pass(evidence: Evidence) -> Iterator[str]:
    """At least two right answers that are written differently pass."""
    if not evidence.can_judge:
        return  # reported by solution_passes
    exercise = evidence.lesson.exercise
    if len(exercise.right_answers) < 2:
        yield "right: give at least two other right answers, in right/*.py"
    written = [ast.dump(ast.parse(exercise.text(exercise.solution)))]
    for right in exercise.right_answers:
        observed = evidence.observations[right.path]
        if not evidence.passes(observed):
            failed = observed.broken.summary if observed.broken else "not " + ", ".join(_failures(evidence, right.path))
            yield f"right/{right.path.name}: it does not pass: {failed}"
        written.append(ast.dump(ast.parse(exercise.text(right.path))))
        if written[-1] in written[:-1]:
            yield f"right/{right.path.name}: it is the same program as another right answer"


def wrong_answers_are_known(evidence: Evidence) -> Iterator[str]:
    """At least three wrong answers fail, and no two behave the same, so that each has its own diagnosis."""
    if not evidence.can_judge:
        return  # reported by solution_passes
    wrong = evidence.lesson.exercise.wrong_answers
    if len(wrong) < 3:
        yield "wrong: give at least three wrong answers, in wrong/*.py"
    for number, mistake in enumerate(wrong):
        observed = evidence.observations[mistake.path]
        if not finished(observed):
            yield f"wrong/{mistake.path.name}: it cannot be run"
        elif evidence.passes(observed):
            yield f"wrong/{mistake.path.name}: it passes"
        for other in wrong[:number]:
            if does_the_same(observed, evidence.observations[other.path]):
                yield f"wrong/{mistake.path.name}: it does the same as {other.path.name}"


def every_check_is_needed(evidence: Evidence) -> Iterator[str]:
    """Every check is failed by some wrong answer."""
    if not evidence.can_judge:
        return  # reported by solution_passes
    exercise = evidence.lesson.exercise
    failing = {name for mistake in exercise.wrong_answers for name in _failures(evidence, mistake.path)}
    for check in exercise.checks:
        if check.name not in failing:
            yield f"check.py: no wrong answer fails {check.name}"


def mutants_are_caught(evidence: Evidence) -> Iterator[str]:
    """Every mutant of the solution fails a check or behaves like the solution on random input as well."""
    if not evidence.can_judge:
        return  # reported by solution_passes
    has_random = evidence.lesson.exercise.has_random_inputs
    advice = "" if has_random else " (if the mutant is right too, prove it: write at_random)"
    for mutant in evidence.survivors:
        yield f"check.py: the solution passes with a mistake in line {mutant.line}: {mutant.mistake}{advice}"


def there_are_hints(evidence: Evidence) -> Iterator[str]:
    """At least two hints, all different. No code runs over the end of a line: the lines of a hint are joined."""
    hints = evidence.lesson.exercise.hints
    if len(set(hints)) < max(2, len(hints)):
        yield "hints.md: write at least two hints, all different"
    for line in "\n".join(hints).splitlines():
        if line.replace("```", "").count("`") % 2:
            yield f"hints.md: write code between backticks on one line: {line}"


Proof = Callable[[Evidence], Iterator[str]]
PROOFS: tuple[Proof, ...] = (
    nothing_is_left_of_the_template,
    program_has_a_pass,
    files_fit,
    predictions_have_answers,
    predictions_stand_nowhere_above,
    wrong_guesses_get_a_hint,
    variations_are_tasks,
    wrong_engine_goes_wrong,
    prose_is_true,
    exercise_fails_as_shipped,
    grows_from_the_lesson_before,
    any_right_answer_can_go_on,
    solution_passes,
    right_answers_pass,
    wrong_answers_are_known,
    every_check_is_needed,
    mutants_are_caught,
    there_are_hints,
)


COURSE_PROOFS: tuple[Callable[[Course], Iterator[str]], ...] = (uses_nothing_later,)


def failures(proof: Proof, evidence: Evidence) -> list[str]:
    """The defects, one line each."""
    try:
        return list(proof(evidence))
    except LessonError as error:
        return [str(error)]


def _failures(evidence: Evidence, file: Path) -> list[str]:
    """The names of the checks that a file fails."""
    outcomes, expected = evidence.observations[file].outcomes, evidence.solution.outcomes
    return [
        name
        for name, right in expected.items()
        if name not in outcomes or outcomes[name].raised or difference(outcomes[name].value, right.value) is not None
    ]
