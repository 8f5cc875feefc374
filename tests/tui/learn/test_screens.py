"""`microtape learn` in full screen, by keystrokes."""

import atexit
import functools
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Input, Markdown, OptionList, TextArea

import tui.words.sentence
from lessons import Course, Workspace, load_course
from lessons.checking.verdict_report import Said
from tests.support.course import COURSE as REAL
from tests.support.lesson_folder import EXERCISE, HEADER, LESSON, write_lesson
from tests.support.recordings.recorded_once import record_program_once
from tests.support.waiting import until
from tui.learn.app import CourseScreen, LearnApp
from tui.learn.confirm import ConfirmScreen
from tui.learn.cursor_note import CursorNote
from tui.learn.exercise import ExerciseView
from tui.learn.lesson import SMALLEST, LessonHelp, LessonScreen
from tui.learn.program import LessonStepper, ProgramView, onward
from tui.learn.prose import Block
from tui.learn.questions import HINTS, Questions
from tui.shell.editor import run_in_terminal
from tui.shell.spans import plain
from tui.stepper.predict_screen import PredictScreen
from tui.time.column_widths import GAP
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowTexts
from tui.widgets.tape import MARKER, SCROLLBAR, TapeView

SMALL, LARGE = (80, 24), (140, 45)

QUESTIONS = """\
[[predict]]
after = 0
ask = "Which of them comes first?"
answer = "next"
hint = "Look at the end of the tape."
because = "It was written last."

[[predict]]
after = 2
ask = "What arrives at `x`?"
answer = "gradient x"
because = "2 · cos(y)."
+++
"""
TWICE = """\
passes = "all"

[[predict]]
pass = 2
after = 1
ask = "What is `x.grad` now?"
answer = "grad x"
because = "Gradients add."
+++
"""
TWO_PASSES = "import microtape as mt\nx = mt.tensor(3.0, requires_grad=True)\n(x * 2).backward()\n(x * 5).backward()\n"


@functools.cache
def course():
    """A course of two short lessons: a long text takes its time at every key."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name)
    write_lesson(path, lesson=LESSON.replace(HEADER, HEADER.removesuffix("+++\n") + QUESTIONS))
    other = LESSON.replace("Doubling", "Again").replace('"Twice as much."\n+++\n', '"Twice as much."\n' + TWICE)
    write_lesson(path, "02_again", lesson=other, program=TWO_PASSES)
    return load_course(path), folder


COURSE = course()[0]
FIRST, SECOND = COURSE.lessons


@pytest.fixture(autouse=True)
def quick_recordings(monkeypatch):
    """Every program is recorded, but only once for all tests."""
    monkeypatch.setattr("tui.learn.lesson.record_program", record_program_once)


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "data")


def app(workspace, lesson=FIRST):
    return LearnApp(COURSE, workspace, lesson=lesson)


async def recorded(pilot):
    await until(pilot, lambda: pilot.app.screen.query_one(ProgramView).cursor is not None)


def begins_in_sight(pilot, text):
    """Whether the first row of the paragraph with that text can be seen in the lower box."""
    box = pilot.app.screen.query_one("#verdict").content_region
    lines = [one.region for one in pilot.app.screen.query("#said > Static") if text in one.render().plain]
    return any(box.contains(line.x, line.y) for line in lines)


def title(pilot):
    return pilot.app.screen.query_one("#title").render().plain


def said(pilot):
    """What the lower box of the exercise says."""
    return "\n".join(static.render().plain for static in pilot.app.screen.query("#said > Static"))


def note(pilot):
    """What stands at the cursor of the editor."""
    at_cursor = pilot.app.screen.query_one(CursorNote)
    return at_cursor.render().plain.replace("\n", " ") if at_cursor.display else ""


def shown(pilot):
    """Which of the three views can be seen."""
    return [name for name in ("text", "program", "exercise") if pilot.app.screen.query_one(f"#{name}").region.area]


def sentence(pilot):
    """What is said of the step that is shown."""
    return plain(tui.words.sentence.sentence(pilot.app.screen.query_one(ProgramView).cursor))


def step(pilot):
    return pilot.app.screen.query_one(ProgramView).cursor.steps_done


class TestTheList:
    async def test_begins_at_the_first_lesson_that_is_not_solved(self, workspace):
        workspace.progress.attempted(FIRST.name, passed=True)
        async with app(workspace, None).run_test(size=SMALL) as pilot:
            options = pilot.app.screen.query_one(OptionList)
            assert options.option_count == len(COURSE)
            assert options.highlighted == 1
            assert options.get_option_at_index(0).prompt.plain.startswith("✓   1  Doubling\n")
            assert f"1 of {len(COURSE)} lessons solved" in pilot.app.screen.query_one("#heading").render().plain

    async def test_enter_opens_a_lesson_and_escape_leads_back(self, workspace):
        async with app(workspace, None).run_test(size=SMALL) as pilot:
            await pilot.press("down", "enter")
            assert isinstance(pilot.app.screen, LessonScreen)
            assert SECOND.title in title(pilot)
            await pilot.press("escape")
            assert isinstance(pilot.app.screen, CourseScreen)
            assert pilot.app.screen.query_one(OptionList).highlighted == 1

    async def test_what_was_solved_meanwhile_is_ticked(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            workspace.progress.attempted(FIRST.name, passed=True)
            await pilot.press("escape")
            assert pilot.app.screen.query_one(OptionList).get_option_at_index(0).prompt.plain.startswith("✓")

    async def test_a_damaged_progress_file_is_told_of(self, workspace):
        workspace.folder.mkdir()
        workspace.progress.path.write_text("damaged")
        async with app(workspace, None).run_test(size=LARGE) as pilot:
            assert "could not be read; it is kept as" in pilot.app.screen.query_one("#heading").render().plain

    @pytest.mark.parametrize("key", ["q", "escape"])
    async def test_it_can_be_left(self, workspace, key):
        async with app(workspace, None).run_test(size=SMALL) as pilot:
            await pilot.press(key)
            assert not pilot.app.is_running


class TestViews:
    async def test_where_there_is_room_the_program_or_the_exercise_is_beside_the_text(self, workspace):
        async with app(workspace).run_test(size=(150, 45)) as pilot:
            await recorded(pilot)
            await pilot.press("1")
            assert shown(pilot) == ["text", "program"]
            await pilot.press("3")
            assert shown(pilot) == ["text", "exercise"]
            await pilot.press("1")
            assert shown(pilot) == ["text", "exercise"]

    async def test_the_program_of_a_new_lesson_stands_alone_until_the_text_that_answers_it_is_opened(self, workspace):
        async with app(workspace).run_test(size=(150, 45)) as pilot:
            await recorded(pilot)
            assert shown(pilot) == ["program"]
            await pilot.press("1")
            assert shown(pilot) == ["text", "program"]
            await pilot.press("2")
            assert shown(pilot) == ["text", "program"]

    async def test_the_exercise_stands_alone_where_the_text_beside_it_would_be_cut(self, workspace):
        async with app(workspace).run_test(size=(120, 40)) as pilot:
            await recorded(pilot)
            await pilot.press("3")
            assert shown(pilot) == ["exercise"]
            await pilot.press("1")
            assert shown(pilot) == ["text", "program"]

    async def test_a_long_title_makes_room_for_what_has_been_reached(self, workspace):
        lesson = replace(FIRST, title="A title " * 9)
        workspace.progress.attempted(lesson.name, passed=True)
        workspace.progress.found_fault(lesson.name)
        async with LearnApp(Course((lesson,)), workspace, lesson=lesson).run_test(size=SMALL) as pilot:
            assert "…  ✓ solved  ✓ fault found" in title(pilot)

    @pytest.mark.sampled(13)
    @pytest.mark.parametrize("lesson", REAL, ids=[lesson.name for lesson in REAL])
    def test_beside_the_text_every_column_of_the_tape_is_in_sight(self, lesson):
        rows = RowTexts(StepCursor.open(record_program_once(lesson.program, lesson.passes)).timeline)
        beside = 120 - 67 - 2 - MARKER - SCROLLBAR  # the text with its pictures, a border, what a row begins with
        widths = [width for width in rows.columns(beside).widths if width]
        assert sum(widths) + GAP * (len(widths) - 1) <= beside

    async def test_on_a_small_terminal_tab_goes_round(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            seen = [shown(pilot)]
            for key in ("tab", "tab", "tab", "shift+tab"):
                await pilot.press(key)
                seen.append(shown(pilot))
            assert seen == [["program"], ["exercise"], ["text"], ["program"], ["text"]]

    async def test_a_new_lesson_opens_on_its_program_and_one_that_was_tried_on_its_text(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            assert shown(pilot) == ["program"]
            assert "Play first" in pilot.app.screen.query_one(TapeView).border_subtitle
            await pilot.press("end")
            await until(pilot, lambda: "1 opens the text" in pilot.app.screen.query_one(TapeView).border_subtitle)
        workspace.progress.attempted(FIRST.name, passed=False)
        async with app(workspace).run_test(size=SMALL) as pilot:
            assert shown(pilot) == ["text"]

    async def test_the_text_is_the_lessons(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            assert pilot.app.screen.query_one(Markdown).source == FIRST.prose

    async def test_a_formula_is_not_taken_for_a_program(self, workspace, monkeypatch):
        monkeypatch.setattr("textual.highlight.guess_language", lambda *_: pytest.fail("a language is guessed"))
        lesson = replace(FIRST, prose="    z = x · y\n\n```text\nx ──▶ z\n```\n")
        async with LearnApp(Course((lesson,)), workspace, lesson=lesson).run_test(size=SMALL) as pilot:
            assert [block.code for block in pilot.app.screen.query(Block)] == ["z = x · y", "x ──▶ z"]

    async def test_the_text_is_scrolled_by_pages(self, workspace):
        async with LearnApp(REAL, workspace, lesson=REAL.lessons[0]).run_test(size=SMALL) as pilot:
            text = pilot.app.screen.query_one("#text")
            await pilot.press("1", "pagedown")
            await until(pilot, lambda: text.scroll_y > 0)

    async def test_a_terminal_that_is_too_small_says_so_and_waits(self, workspace):
        async with app(workspace).run_test(size=(SMALLEST[0] - 1, SMALLEST[1])) as pilot:
            assert f"A lesson needs {SMALLEST[0]}×{SMALLEST[1]}" in str(
                pilot.app.screen.query_one("#lesson-too-small").render()
            )
            assert shown(pilot) == []
            await pilot.resize_terminal(*SMALLEST)
            await pilot.pause()
            assert shown(pilot) == ["program"]

    async def test_help_lists_the_keys(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("question_mark")
            assert isinstance(pilot.app.screen, LessonHelp)
            await pilot.press("escape")
            assert isinstance(pilot.app.screen, LessonScreen)

    async def test_a_line_of_the_help_that_wraps_stays_in_its_column(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("question_mark")
            text = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
            assert "│            wrong" in text

    async def test_n_and_b_turn_to_other_lessons(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("n")
            assert SECOND.title in title(pilot)
            await pilot.press("b", "b")
            assert FIRST.title in title(pilot)
            await pilot.press("escape")
            assert isinstance(pilot.app.screen, CourseScreen)


class TestTheProgram:
    async def test_right_asks_and_then_steps(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await recorded(pilot)
            await pilot.press("right")
            assert isinstance(pilot.app.screen, PredictScreen)
            await pilot.press("y", "enter")
            verdict = pilot.app.screen.query_one("#verdict")
            assert verdict.render().plain == "Not quite. Look at the end of the tape."
            await pilot.press("y", "enter")
            assert verdict.render().plain.startswith("Not quite: z. It was written last")
            await pilot.press("enter")
            assert step(pilot) == 1
            await pilot.press("left", "right")
            assert step(pilot) == 1, "a question is asked once"

    async def test_what_is_next_is_not_told_before_it_is_asked(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await recorded(pilot)
            assert "visits" not in sentence(pilot)
            await pilot.press("right", "escape", "left")
            assert "visits the last of them: z" in sentence(pilot)

    async def test_several_questions_about_one_step_are_asked_one_after_the_other(self, workspace):
        again = FIRST.predictions[0]._replace(ask="And how large is it?", answer="gradient z")
        lesson = replace(FIRST, predictions=(FIRST.predictions[0], again))
        async with LearnApp(Course((lesson,)), workspace, lesson=lesson).run_test(size=LARGE) as pilot:
            await recorded(pilot)
            await pilot.press("right", "z", "enter", "enter")
            assert isinstance(pilot.app.screen, PredictScreen)
            await pilot.press("1", "enter")
            assert pilot.app.screen.query_one("#verdict").render().plain.startswith("Right: 1.")
            await pilot.press("enter")
            assert step(pilot) == 1

    async def test_a_right_answer_is_right_and_an_empty_one_shows_it(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            await pilot.press("right", "z", "enter")
            assert pilot.app.screen.query_one("#verdict").render().plain.startswith("Right: z.")
            await pilot.press("enter", "right", "right", "enter")
            assert pilot.app.screen.query_one("#verdict").render().plain.startswith("It is: 1.92. 2 · cos(y).")
            await pilot.press("enter")
            assert step(pilot) == 3

    @pytest.mark.parametrize("answer", ["%2", "row 2", "the row z"])
    async def test_a_row_may_be_named_by_its_number(self, workspace, answer):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            await pilot.press("right")
            pilot.app.screen.query_one(Input).value = answer
            await pilot.press("enter")
            assert pilot.app.screen.query_one("#verdict").render().plain.startswith("Right: z.")

    async def test_a_question_without_a_hint_gets_one_for_its_kind(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            await pilot.press("right", "escape", "right", "right", "7", "enter")
            assert pilot.app.screen.query_one("#verdict").render().plain == f"Not quite. {HINTS['gradient']}"

    async def test_escape_skips_a_question(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            await pilot.press("right", "escape")
            assert step(pilot) == 1

    async def test_on_a_small_terminal_stepping_turns_to_the_program(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await recorded(pilot)
            await pilot.press("right", "escape")
            assert shown(pilot) == ["program"]

    async def test_after_the_last_step_of_a_pass_comes_the_next_pass(self, workspace):
        async with app(workspace, SECOND).run_test(size=LARGE) as pilot:
            await recorded(pilot)
            program = pilot.app.screen.query_one(ProgramView)
            await pilot.press("right", "right")
            assert (program.cursor.timeline.pass_index, step(pilot)) == (0, 2)
            await pilot.press("right")
            assert (program.cursor.timeline.pass_index, step(pilot)) == (1, 0)
            await pilot.press("right", "right")
            assert isinstance(pilot.app.screen, PredictScreen)
            await pilot.press("escape", "left", "left")
            while program.cursor.timeline.pass_index:
                await pilot.press("left")
            assert step(pilot) == 2

    async def test_s_opens_the_full_stepper_at_the_same_place_and_q_comes_back(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await recorded(pilot)
            await pilot.press("right", "escape", "s")
            assert isinstance(pilot.app.screen, LessonStepper)
            assert pilot.app.screen.cursor.steps_done == 1
            await pilot.press("right", "right")
            assert isinstance(pilot.app.screen, PredictScreen)
            await pilot.press("escape", "q")
            assert isinstance(pilot.app.screen, LessonScreen)
            assert step(pilot) == 3

    @pytest.mark.sampled(13)
    @pytest.mark.parametrize("lesson", REAL, ids=[lesson.name for lesson in REAL])
    def test_every_question_of_every_lesson_comes_up(self, lesson):
        questions, asked = Questions(lesson.predictions), 0
        cursor, before = StepCursor.open(record_program_once(lesson.program, lesson.passes)), None
        while cursor != before:
            while questions.before_step(cursor) is not None:
                asked += 1
            before, cursor = cursor, onward(cursor)
        assert asked == len(lesson.predictions)
        assert cursor.timeline.pass_index == len(cursor.recording.passes) - 1
        assert cursor.next_node is None


class TestTheExercise:
    async def test_the_file_and_its_place_are_shown(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("3")
            file = workspace.exercise(FIRST)
            assert pilot.app.screen.query_one("#file").border_subtitle == str(file)
            assert pilot.app.screen.query_one("#code").render().plain == file.read_text().rstrip()

    async def test_c_checks_the_file_as_it_is_now(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("c")
            await until(pilot, lambda: "You have not changed" in said(pilot))
            workspace.exercise(FIRST).write_bytes(FIRST.exercise.solution.read_bytes())
            await pilot.press("c")
            await until(pilot, lambda: "Solved." in said(pilot))
            await until(pilot, lambda: "✓ solved" in title(pilot))
        assert workspace.progress.of(FIRST.name).attempts == 2

    @pytest.mark.slow
    async def test_on_a_small_terminal_the_diagnosis_is_in_sight(self, workspace):
        lesson = REAL.find("fan_out")
        (wrong,) = (one for one in lesson.exercise.wrong_answers if one.name == "overwrites")
        workspace.exercise(lesson).write_text(lesson.exercise.text(wrong.path), encoding="utf-8")
        async with LearnApp(REAL, workspace, lesson=lesson).run_test(size=SMALL) as pilot:
            await pilot.press("c")
            await until(pilot, lambda: "overwrite the gradient" in said(pilot))
            await pilot.pause()
            verdict = pilot.app.screen.query_one("#verdict")
            line = next(one for one in pilot.app.screen.query("#said > Static") if "overwrite" in one.render().plain)
            assert verdict.content_region.contains_region(line.region)

    async def test_before_there_is_anything_to_say_the_file_has_the_room(self, workspace):
        async with app(workspace).run_test(size=(160, 48)) as pilot:
            await pilot.press("3")
            heights = {name: pilot.app.screen.query_one(name).region.height for name in ("#file", "#verdict")}
            assert heights["#verdict"] == 3, "a line in its frame"
            assert heights["#file"] > 35

    async def test_e_on_a_file_without_gaps_begins_where_the_learner_began(self, workspace):
        path = workspace.exercise(FIRST)
        shipped = path.read_text().splitlines()
        gap = next(i for i, line in enumerate(shipped) if "raise NotImplementedError" in line)
        path.write_text("\n".join(line.replace("raise NotImplementedError", "result = 0") for line in shipped))
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e")
            editor = pilot.app.screen.query_one(TextArea)
            assert editor.cursor_location == (gap, len(editor.document.get_line(gap)))
            await pilot.press("ctrl+home")
            assert editor.cursor_location == (0, 0)
            await pilot.press("ctrl+end")
            assert editor.cursor_location == editor.document.end

    async def test_e_edits_here_and_typing_replaces_the_gap(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e")
            editor = pilot.app.screen.query_one(TextArea)
            assert pilot.app.focused is editor
            assert editor.selected_text == "raise NotImplementedError"
            await until(pilot, lambda: "Ctrl+S saves and checks" in said(pilot))
            await pilot.press("p", "a", "s", "s", "escape")
            assert workspace.exercise(FIRST).read_text() == EXERCISE.replace("raise NotImplementedError", "pass")
            assert "    pass" in pilot.app.screen.query_one("#code").render().plain
            assert shown(pilot) == ["exercise"]

    async def test_enter_keeps_the_indentation_and_a_colon_deepens_it(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", *"if x:", "enter", "y", "enter", "z", "escape")
        assert workspace.exercise(FIRST).read_text() == "def double(x):\n    if x:\n        y\n        z\n"

    async def test_backspace_leads_out_of_the_indentation_a_step_at_a_time(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", *"if x:", "enter", "y", "enter", "space", "backspace", "backspace", *"zz")
            await pilot.press("backspace", "escape")
        assert workspace.exercise(FIRST).read_text() == "def double(x):\n    if x:\n        y\n    z\n"

    async def test_keys_count_in_the_order_in_which_they_are_typed(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("e")
            editor = pilot.app.screen.query_one(TextArea)
            for key in ("a", "b", "backspace", "c", "left", "d", "home", "e", "end", "f"):
                editor.post_message(Key(key, key if len(key) == 1 else None))
            await pilot.pause()
            row = editor.cursor_location[0]
            assert editor.document.get_line(row) == "    eadcf"

    async def test_keys_that_delete_a_line_count_in_their_order_too(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("e", "end")
            editor = pilot.app.screen.query_one(TextArea)
            for key in ("ctrl+u", "backspace", "shift+left", "x"):
                editor.post_message(Key(key, key if len(key) == 1 else None))
            await pilot.pause()
            assert editor.document.get_line(editor.cursor_location[0]) == "def double(x)x"

    async def test_after_editing_the_file_is_shown_where_it_was_edited(self, workspace):
        path = workspace.exercise(FIRST)
        path.write_text("# a line\n" * 100 + EXERCISE, encoding="utf-8")
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", *"pass", "escape")
            await until(pilot, lambda: pilot.app.screen.query_one("#file").scroll_y > 80)

    async def test_d_says_why_there_are_no_steps(self, workspace):
        path = workspace.exercise(FIRST)
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("d")
            await until(pilot, lambda: "Check your file first" in said(pilot))
            for text, verdict, why in [
                (EXERCISE, "You have not changed", "you have not changed the file yet"),
                ("def double(x):\nreturn x\n", "cannot be run", "did not run to its end"),
                (FIRST.exercise.solution.read_text(encoding="utf-8"), "Solved.", "passes all checks"),
            ]:
                path.write_text(text, encoding="utf-8")
                await pilot.press("c")
                await until(pilot, lambda verdict=verdict: verdict in said(pilot))
                await pilot.press("d")
                await until(pilot, lambda why=why: why in said(pilot))

    async def test_ctrl_s_saves_and_checks_and_goes_on_editing(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("e", "p", "a", "s", "s", "ctrl+s")
            await until(pilot, lambda: "your code gave" in said(pilot))
            assert pilot.app.focused is pilot.app.screen.query_one(TextArea)
            assert "pass" in workspace.exercise(FIRST).read_text()

    async def test_the_verdict_stands_beside_the_cursors_line_until_the_learner_types_on(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", *"return x", "ctrl+s")
            await until(pilot, lambda: "your code gave" in note(pilot))
            assert note(pilot) == "✗ double(3): your code gave 3, expected 6"
            at, cursor = pilot.app.screen.query_one(CursorNote).region, pilot.app.screen.query_one(TextArea)
            assert at.y == cursor.cursor_screen_offset.y
            assert at.x > cursor.cursor_screen_offset.x
            await pilot.press("asterisk")
            assert note(pilot) == ""
            await pilot.press("2", "ctrl+s")
            await until(pilot, lambda: "Solved" in note(pilot))
            assert note(pilot) == "✓ Solved. Esc, then n goes to the next lesson."
            await until(pilot, lambda: said(pilot).startswith("✓ Solved.\nEsc, then v shows other ways to write it, n"))
            await pilot.press("escape")
            assert note(pilot) == ""

    async def test_the_verdict_is_at_the_cursor_although_the_box_below_grows(self, workspace):
        workspace.exercise(FIRST).write_text("\n" * 60 + "def double(x):\n    return x")
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", "ctrl+end", "up", "ctrl+s")
            await until(pilot, lambda: "your code gave" in note(pilot))
            editor, shown = pilot.app.screen.query_one(TextArea), pilot.app.screen.query_one(CursorNote)
            await until(pilot, lambda: "your code gave" in said(pilot))
            await until(pilot, lambda: editor.content_region.contains_region(shown.region))
            row = editor.cursor_screen_offset.y
            assert editor.content_region.y <= row < editor.content_region.bottom
            assert shown.region.y == row

    async def test_the_verdict_stays_at_the_cursor_when_lines_wrap_differently(self, workspace):
        workspace.exercise(FIRST).write_text(f"# {'words ' * 40}\ndef double(x):\n    return x\n")
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", "ctrl+end", "up")
            pilot.app.screen.query_one(ExerciseView).note(Said("wrong", "bad"))
            editor, shown = pilot.app.screen.query_one(TextArea), pilot.app.screen.query_one(CursorNote)
            await until(pilot, lambda: shown.region.y == editor.cursor_screen_offset.y)
            before = shown.region.y
            await pilot.resize_terminal(120, 24)
            await until(pilot, lambda: before > shown.region.y == editor.cursor_screen_offset.y)

    async def test_a_verdict_without_room_beside_the_line_at_the_lower_edge_stands_above_it(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            workspace.exercise(FIRST).write_text("\n" * 60 + f"# {'words ' * 9}")
            await pilot.press("e", "ctrl+end")
            await pilot.pause()
            editor = pilot.app.screen.query_one(TextArea)
            view = pilot.app.screen.query_one(ExerciseView)
            view.note(Said("one " * 30, "bad"))
            shown = pilot.app.screen.query_one(CursorNote)
            await until(pilot, lambda: shown.region.height == 2)
            assert shown.region.bottom == editor.cursor_screen_offset.y
            assert editor.content_region.contains_region(shown.region)

    async def test_the_first_failing_check_is_the_first_thing_in_the_box(self, workspace):
        workspace.exercise(FIRST).write_text("def double(x):\n    return 6 if x == 3 else x\n")
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("c")
            await until(pilot, lambda: said(pilot).startswith("✗ double([1, 2])\nyour code gave"))
            assert "\n✓ double(3)" in said(pilot)

    @pytest.mark.slow
    async def test_who_is_editing_is_told_to_stop_before_the_keys_of_the_lesson(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("e", *"return", "space", *"2", "asterisk", "x", "ctrl+s")
            await until(pilot, lambda: "Solved." in said(pilot))
            assert "Esc, then v shows other ways to write it, n goes to the next lesson." in said(pilot)
            await pilot.press("escape", "c")
            await until(pilot, lambda: "\nv shows other ways" in said(pilot))

    @pytest.mark.parametrize("leave", [["escape", "escape"], ["ctrl+q"], ["escape", "n"], ["escape", "q"]])
    async def test_what_was_typed_is_saved_however_one_leaves(self, workspace, leave):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", "x", "y", *leave)
            await pilot.pause()
        assert "    xy\n" in workspace.exercise(FIRST).read_text()

    async def test_a_file_that_was_changed_elsewhere_meanwhile_is_kept(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", "x")
            workspace.exercise(FIRST).write_text("theirs")
            await pilot.press("escape")
        kept = [path.read_text() for path in (workspace.folder / "exercises").glob("doubling.*.py")]
        assert kept == ["theirs"]
        assert "    x\n" in workspace.exercise(FIRST).read_text()

    async def test_a_file_that_was_changed_elsewhere_before_is_edited_as_it_is(self, workspace):
        async with app(workspace).run_test(size=SMALL) as pilot:
            workspace.exercise(FIRST).write_text("theirs")
            await pilot.press("e", "x", "escape")
        assert workspace.exercise(FIRST).read_text() == "theirsx"

    async def test_o_without_a_terminal_to_lend_says_where_the_file_is(self, workspace, monkeypatch):
        monkeypatch.setenv("EDITOR", "true")
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("o")
            await until(pilot, lambda: str(workspace.exercise(FIRST)) in said(pilot).replace("\n", ""))

    @pytest.mark.parametrize(
        ("command", "problem"),
        [
            (["no-such-editor"], "no-such-editor cannot be started: No such file or directory."),
            ([sys.executable, "-c", "exit(3)"], f"{sys.executable} ended with status 3."),
            ([sys.executable, "-c", ""], ""),
        ],
    )
    def test_an_editor_that_fails_is_one_clear_line(self, command, problem):
        assert run_in_terminal(command) == problem

    @pytest.mark.parametrize("key", ["c", "e", "o", "h", "d", "v", "3", "s"])
    async def test_where_no_file_can_be_written_every_key_says_so_and_goes_on(self, tmp_path, key):
        (tmp_path / "file").write_text("")
        async with app(Workspace(tmp_path / "file" / "below")).run_test(size=SMALL) as pilot:
            await pilot.press(key)
            await pilot.pause()
            if key in "ceo":
                await until(pilot, lambda: "Not a directory" in said(pilot))
            await pilot.press("escape")
            assert not pilot.app.screen.query(".-editing"), "there is nothing to edit"

    async def test_what_is_typed_is_saved_while_one_types(self, workspace, monkeypatch):
        monkeypatch.setattr("tui.learn.exercise.SAVED_AFTER", 0.01)
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e", *"xy")
            await until(pilot, lambda: "    xy\n" in workspace.exercise(FIRST).read_text())
            assert pilot.app.screen.query_one(ExerciseView).is_editing
            await pilot.press("z")
            await until(pilot, lambda: "    xyz\n" in workspace.exercise(FIRST).read_text())

    async def test_a_disk_that_refuses_what_is_typed_is_told_of_once(self, workspace, monkeypatch):
        def refuse(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("tui.learn.exercise.SAVED_AFTER", 0.01)
        async with app(workspace).run_test(size=SMALL) as pilot:
            await pilot.press("e")
            monkeypatch.setattr("os.replace", refuse)
            await pilot.press("x")
            await until(pilot, lambda: "No space left on device" in said(pilot))
            view = pilot.app.screen.query_one(ExerciseView)
            monkeypatch.setattr(view, "write", lambda *_: pytest.fail("it is said again"))
            await pilot.press("y")
            await pilot.pause(0.05)
            monkeypatch.undo()
            await pilot.press("escape")
        assert "    xy\n" in workspace.exercise(FIRST).read_text()

    async def test_h_climbs_the_ladder_of_hints(self, workspace):
        hints = FIRST.exercise.hints
        async with app(workspace).run_test(size=LARGE) as pilot:
            for count, hint in enumerate(hints, 1):
                await pilot.press("h")
                await pilot.pause()
                assert hint.split("`")[0].split("\n")[0] in said(pilot)
                assert pilot.app.screen.query_one("#verdict").border_title == f"hint {count} of {len(hints)}"
            await pilot.press("h")
            await pilot.pause()
            assert "That was the last hint" in said(pilot)
        assert workspace.progress.of(FIRST.name).hints == len(hints)

    async def test_on_a_small_terminal_the_newest_hint_is_in_sight(self, workspace):
        lesson = REAL.find("chain_rule")
        async with LearnApp(REAL, workspace, lesson=lesson).run_test(size=SMALL) as pilot:
            for hint in lesson.exercise.hints:
                await pilot.press("h")
                await until(pilot, lambda hint=hint: begins_in_sight(pilot, hint.split("`")[0].split("\n")[0]))

    async def test_v_asks_before_it_shows_the_solution(self, workspace):
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("v")
            assert isinstance(pilot.app.screen, ConfirmScreen)
            await pilot.press("n")
            assert not workspace.progress.of(FIRST.name).solution_seen
            assert workspace.progress.of(FIRST.name).pieces == 0
            await pilot.press("v", "y")
            await pilot.pause()
            assert said(pilot).splitlines()[:2] == ["def double(x):", "    return 2 * x"]
            assert not workspace.progress.of(FIRST.name).solution_seen
            await pilot.press("v")
            await pilot.pause()
            assert said(pilot).startswith(FIRST.exercise.solution.read_text().rstrip())
            assert workspace.progress.of(FIRST.name).solution_seen
            await pilot.press("c")
            await until(pilot, lambda: "You have not changed" in said(pilot))
            await pilot.press("v")
            assert isinstance(pilot.app.screen, LessonScreen), "once seen, it is not asked again"

    async def test_r_asks_before_it_begins_anew_and_keeps_the_file(self, workspace):
        workspace.exercise(FIRST).write_text("mine")
        workspace.progress.attempted(FIRST.name, passed=True)
        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("r", "enter")
            assert workspace.exercise(FIRST).read_text() == "mine"
            await pilot.press("r", "y")
            await pilot.pause()
            assert workspace.exercise(FIRST).read_bytes() == FIRST.exercise.path.read_bytes()
            assert "solved" not in title(pilot)
            kept = next((workspace.folder / "exercises").glob("doubling.*.py"))
            assert kept.read_text() == "mine"
            assert str(kept) in said(pilot).replace("\n", "")

    async def test_a_disk_that_refuses_is_told_of_and_nothing_is_lost(self, workspace, monkeypatch):
        def refuse(*_):
            raise OSError(28, "No space left on device")

        async with app(workspace).run_test(size=LARGE) as pilot:
            await pilot.press("e", "x", "y")
            monkeypatch.setattr("os.replace", refuse)
            await pilot.press("escape")
            view = pilot.app.screen.query_one(ExerciseView)
            assert view.is_editing
            assert "No space left on device" in said(pilot)
            monkeypatch.undo()
            await pilot.press("escape")
        assert "    xy\n" in workspace.exercise(FIRST).read_text()


@pytest.mark.parametrize(("view", "says"), [("2", "mul  area"), ("3", "A tape of your own")])
async def test_a_view_is_drawn_that_is_turned_to_once_the_text_has_been_scrolled(workspace, view, says):
    async with LearnApp(REAL, workspace, lesson=REAL.lessons[0]).run_test(size=SMALL) as pilot:
        await recorded(pilot)
        await pilot.press("1", "pagedown")
        await until(pilot, lambda: pilot.app.screen.query_one("#text").scroll_y > 0)
        await pilot.press(view)

        def drawn():
            return [strip.text for strip in pilot.app.screen._compositor.render_strips(pilot.app.size)]

        await until(pilot, lambda: any(says in line for line in drawn()))
