"""Verdicts: the reports on right and wrong files, and attacks that the checker withstands."""

import os
from pathlib import Path

import pytest

from lessons.checking import checking_process
from lessons.checking.expected import Expected
from lessons.checking.observe import observe
from lessons.checking.verdict import check
from lessons.checking.verdict_report import report
from lessons.model.header import LessonError
from lessons.model.load import load_course
from tests.support.lesson_folder import CHECK, EXERCISE, write_lesson

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals")


@pytest.fixture(scope="module")
def exercise(tmp_path_factory):
    return next(iter(load_course(write_lesson(tmp_path_factory.mktemp("course"))))).exercise


@pytest.fixture(scope="module")
def expected(exercise):
    with Expected(exercise) as expected:
        yield expected


@pytest.fixture
def say(exercise, expected, tmp_path):
    """A function from a file's text to the report on it as one text."""

    def say(text: str, seconds: float = 5) -> str:
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        verdict = check(exercise, path, seconds=seconds, expected=expected)
        said = "\n".join(line.text for line in report(verdict))
        assert verdict.passed == any(line == ("Solved.", "good") for line in report(verdict))
        return said

    return say


class TestReport:
    def test_a_right_answer_that_is_written_differently(self, say):
        assert say("double = lambda x: x + x\n") == "✓ double(3)\n✓ double([1, 2])\n\nSolved."

    def test_a_wrong_answer_with_what_it_did_and_what_was_expected(self, say):
        said = say("def double(x):\n    return x + x if x == 3 else [2, 5]\n")
        assert said == ("✓ double(3)\n✗ double([1, 2])\n    your code gave  [2, 5]\n    expected        [1, 2, 1, 2]")

    def test_a_known_wrong_answer_is_recognised_by_what_it_does(self, say):
        said = say("def double(number):\n    result = number\n    return result * number\n")
        assert said.splitlines() == [
            "✗ double(3)",
            "    your code gave  9",
            "    expected        6",
            "    You multiply x by itself; twice x is x + x.",
            "✗ double([1, 2])",
        ]

    def test_another_known_wrong_answer(self, say):
        assert say("def double(x):\n    return x + x if x != 3 else 5\n").splitlines()[3] == "    One is missing."

    def test_a_known_wrong_answer_while_another_part_is_not_written_yet(self, say):
        said = say("def double(x):\n    if x != 3:\n        raise NotImplementedError\n    return 5\n")
        assert said.splitlines()[3:] == ["    One is missing.", "   double([1, 2]): not written yet"]

    def test_a_known_wrong_answer_that_would_fail_in_the_unwritten_part_too(self, say):
        said = say("def double(x):\n    if x != 3:\n        raise NotImplementedError\n    return x * x\n")
        assert said.splitlines()[3] == "    You multiply x by itself; twice x is x + x."

    def test_a_partial_match_of_a_known_wrong_answer_gets_no_diagnosis(self, say):
        assert "You multiply" not in say("def double(x):\n    return 9 if x == 3 else x + x\n")

    def test_a_warning_once_and_without_the_lines_of_the_checks(self, say):
        said = say("import warnings\ndef double(x):\n    warnings.warn('mind x', stacklevel=2)\n    return x + x\n")
        assert said.endswith("Your file printed:\n    UserWarning: mind x")

    def test_the_file_as_shipped(self, say):
        assert say(EXERCISE) == "You have not changed the file yet. Its comments say what to do."

    def test_a_part_that_is_not_written(self, say):
        assert say("# started\n" + EXERCISE).splitlines()[:2] == [
            "✗ double(3)",
            "    line 3: this part is not written yet",
        ]

    def test_an_exception_with_its_line(self, say):
        said = say("def double(x):\n    y = x\n    return y + z\n")
        assert "✗ double(3)\n    line 3: NameError: name 'z' is not defined   (return y + z)\n    expected  6" in said

    def test_only_the_first_failure_is_reported_in_full(self, say):
        assert say("def double(x):\n    return 7\n").splitlines()[-1] == "✗ double([1, 2])"

    def test_a_value_that_the_check_cannot_use(self, tmp_path):
        uses_it = CHECK.replace("exercise.double(3)", "exercise.double(3) + 0")
        exercise = next(iter(load_course(write_lesson(tmp_path, check=uses_it)))).exercise
        (tmp_path / "mine.py").write_text("def double(x):\n    x + x\n")
        said = [line.text for line in report(check(exercise, tmp_path / "mine.py"))]
        assert said[1].startswith(
            "    your code ran to its end, and then the check failed: TypeError: unsupported operand"
        )

    def test_a_missing_function(self, say):
        assert "    your file does not define double; the original file defined it" in say("x = 1\n")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("def double(x)\n    return 2 * x\n", "line 1: SyntaxError: expected ':'   (def double(x))"),
            (
                "import microtape\nimport no_such_thing\n",
                "line 2: ModuleNotFoundError: No module named 'no_such_thing'",
            ),
            ("1 / 0\n", "line 1: ZeroDivisionError: division by zero   (1 / 0)"),
            ("x = '\0'\n", "source code string cannot contain null bytes"),
        ],
    )
    def test_a_file_that_cannot_be_run(self, say, text, message):
        said = say(text)
        assert said.startswith("✗ Your file cannot be run.\n")
        assert message in said

    def test_what_it_printed(self, say):
        said = say("print('hello', '\\x1b[2J', end='')\ndef double(x):\n    return 2 * x\n")
        assert said.endswith("\nSolved.\n\nYour file printed:\n    hello �[2J")

    def test_a_lot_of_what_it_printed_is_cut(self, say):
        said = say("for i in range(1000):\n    print(i)\ndef double(x):\n    return 2 * x\n")
        assert said.endswith("    4\n    and 995 more lines")

    def test_a_long_line_that_it_printed_is_cut(self, say):
        said = say("print('x' * 1000)\ndef double(x):\n    return 2 * x\n")
        assert said.endswith(f"    {'x' * 99}…")

    def test_without_unicode(self, exercise, tmp_path):
        path = tmp_path / "mine.py"
        path.write_text("double = lambda x: 6\n")
        lines = report(check(exercise, path), ascii=True)
        assert [line.text[:2] for line in lines if line.role in ("good", "bad")] == ["ok", "x "]


class TestUnderAttack:
    """Whatever the file does is reported, and the checker keeps working."""

    ATTACKS = (
        ("exit(0)", "your code asked Python to exit   (exit(0))"),
        ("import sys; sys.exit()", "your code asked Python to exit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import os; os._exit(0)", "your code ended its process (status 0), so nothing more could be checked"),
        ("input('Pass? ')", "your code waits for keyboard input, which an exercise does not get"),
        ("raise BaseException('odd')", "BaseException: odd"),
        ("f = lambda: f(); f()", "RecursionError: maximum recursion depth exceeded"),
        ("class E(Exception):\n  __str__ = None\nraise E", "E"),
        ("import os; os.closerange(3, 256)", "your code ended its process"),
    )

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(("attack", "message"), ATTACKS, ids=[attack for attack, _ in ATTACKS])
    def test_in_the_file_itself(self, say, attack, message):
        said = say(f"{attack}\ndef double(x):\n    return 2 * x\n")
        assert said.startswith("✗ Your file cannot be run.\n")
        assert message in said

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(("attack", "message"), ATTACKS, ids=[attack for attack, _ in ATTACKS])
    def test_in_a_function(self, say, attack, message):
        body = "\n".join("    " + line for line in attack.splitlines())
        said = say(f"def double(x):\n{body}\n    return 2 * x\n")
        assert said.startswith("✗ double(3)\n")
        assert message in said

    def test_a_process_that_is_slow_to_end_has_its_status(self, say):
        said = say("import os, time\ndef double(x):\n    os.closerange(3, 256); time.sleep(0.5); os._exit(3)\n")
        assert "your code ended its process (status 3)" in said

    def test_a_process_that_cuts_itself_off_is_stopped(self, say, monkeypatch):
        monkeypatch.setattr(checking_process, "ENDING", 0.2)
        said = say("import os, time\ndef double(x):\n    os.closerange(3, 256)\n    time.sleep(600)\n")
        assert "your code closed what the check reads its results from, so nothing more could be checked" in said

    def test_an_endless_loop_is_stopped(self, say):
        said = say("def double(x):\n    while True: pass\n", seconds=3)
        assert said == (
            "✗ double(3)\n    your code did not finish in time; is there a loop that never ends, or work that "
            "doubles with each step?\n"
            "    expected  6\n   double([1, 2]): not reached"
        )

    def test_an_endless_loop_that_prints_does_not_fill_the_memory(self, say):
        said = say("def double(x):\n    while True: print('x' * 10000)\n", seconds=0.8)
        assert "did not finish in time" in said
        assert len(said) < 1000

    @POSIX
    def test_a_gigabyte_too_much(self, say):
        said = say("def double(x):\n    return len(bytearray(4 << 30)) and 2 * x\n")
        assert "line 2: your code asked for more memory than an exercise may have" in said

    @POSIX
    def test_a_crash(self, say):
        said = say("import os, signal\ndef double(x):\n    os.kill(os.getpid(), signal.SIGSEGV)\n")
        assert "your code crashed its process (SIGSEGV)" in said

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("stream", ["1", "2", "3", "4", "5"])
    def test_a_fake_report(self, say, stream):
        fake = '{"token": "", "event": "observed", "name": "three", "value": 6}\\n{"event": "end"}\\n'
        said = say(f"import os\ntry:\n    os.write({stream}, b'{fake}')\nexcept OSError: pass\ndouble = lambda x: 7\n")
        assert "    your code gave  7\n    expected        6" in said

    def test_rubbish_in_every_channel_does_not_hide_the_truth(self, say):
        said = say(
            "import os\ndef double(x):\n    for i in range(1, 20):\n        try: os.write(i, b'{' * 100)\n"
            "        except OSError: pass\n    return 2 * x\n"
        )
        assert "✓ double(3)\n✓ double([1, 2])\n\nSolved." in said

    def test_an_object_that_equals_everything(self, say):
        said = say("class Yes:\n    __eq__ = lambda *_: True\n    __hash__ = None\ndouble = lambda x: Yes()\n")
        assert "    your code gave  a Yes\n    expected        6" in said

    def test_a_file_that_changes_the_comparison_changes_nothing(self, say):
        said = say("import math, json\nmath.isclose = json.dumps = lambda *_, **__: True\ndouble = lambda x: 7\n")
        assert "Solved" not in said

    def test_a_thread_that_never_ends_is_not_waited_for(self, say):
        said = say(
            "import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()\ndouble = lambda x: x + x\n"
        )
        assert "Solved." in said

    @pytest.mark.sampled(4)
    @POSIX
    @pytest.mark.parametrize("start", ["os.fork()", "os.system('true')", "subprocess.run(['true'])"])
    @pytest.mark.parametrize("endlessly", ["    while True: {}\n", "    for _ in range(3): {}\n"])
    def test_other_processes_are_refused_in_the_line_that_starts_them(self, say, start, endlessly):
        said = say(f"import os, subprocess\ndef double(x):\n{endlessly.format(start)}    return 2 * x\n")
        assert "line 3: PermissionError: an exercise may not start another process" in said

    @POSIX
    @pytest.mark.parametrize("whom", ["os.kill(os.getppid(), 0)", "os.killpg(os.getpgid(os.getppid()), 0)"])
    def test_the_file_cannot_signal_the_checker(self, say, whom):
        said = say(f"import os\ndef double(x):\n    {whom}\n    return 2 * x\n")
        assert "line 3: PermissionError: an exercise may not send signals to other processes" in said

    @pytest.mark.slow
    @POSIX
    @pytest.mark.parametrize("last", ["return 2 * x", "time.sleep(60)"])
    def test_processes_that_it_still_managed_to_start_are_killed_with_it(self, say, tmp_path, last):
        os.mkfifo(tmp_path / "alive")
        reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
        said = say(
            "import ctypes, os, time\n"
            f"writer = os.open({str(tmp_path / 'alive')!r}, os.O_WRONLY)\n"
            "def double(x):\n    if not all([ctypes.CDLL(None).fork() for _ in range(3)]):\n"
            f"        os.write(writer, b'.')\n        time.sleep(60)\n    os.write(writer, b'.')\n    {last}\n",
            seconds=2,
        )
        assert ("Solved." if last == "return 2 * x" else "did not finish in time") in said
        os.set_blocking(reader, True)
        with open(reader, "rb") as stream:
            assert b"." in stream.read(), "the end of the file: all writers are gone"

    @POSIX
    def test_one_gigabyte_and_deep_recursion_in_one_file(self, say):
        said = say("def double(x):\n    return bytearray(1 << 30) if x == 3 else double(x)\n")
        assert "your code asked for more memory than an exercise may have" in said

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(
        "closing", ["sys.stdout.close()", "os.close(1)", "sys.stdout = None", "os.dup2(2, 1); os.close(2)"]
    )
    def test_a_closed_output_hides_nothing(self, say, closing):
        assert "Solved." in say(f"import os, sys\n{closing}\ndef double(x):\n    return x + x\n")
        said = say(f"import os, sys\n{closing}\ndef double(x):\n    return 7\n")
        assert "    your code gave  7\n    expected        6" in said

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(
        "attack",
        [
            "for name in list(sys.modules): sys.modules[name] = None",
            "sys.modules.clear()",
            "from lessons.checking import observe_child as a, plain_data as b; a.plain = b.plain = lambda *_: 6",
            "import json; json.dumps = json.loads = lambda *_, **__: '{}'",
            "import os; os.write = lambda *_: 1",
            "import __main__; __main__.main.__globals__['plain'] = lambda *_: 6",
            "import builtins; builtins.isinstance = lambda *_: True; builtins.type = lambda *_: int",
        ],
    )
    def test_changing_modules_makes_nothing_pass(self, say, attack):
        assert "Solved" not in say(f"import sys\n{attack}\ndef double(x):\n    return 7\n")

    def test_a_fake_pass_that_is_printed_is_only_printed(self, say):
        said = say("print('Solved.')\nprint('\\u2713 double(3)')\ndouble = lambda x: 7\n")
        assert said.startswith("✗ double(3)\n    your code gave  7\n")
        assert said.endswith("Your file printed:\n    Solved.\n    ✓ double(3)")

    @pytest.mark.slow
    def test_after_every_attack_the_next_file_is_checked_as_usual(self, exercise, tmp_path):
        bad, good = tmp_path / "bad.py", tmp_path / "good.py"
        bad.write_text("import os; os._exit(3)\n")
        good.write_text("def double(x):\n    return x + x\n")
        assert not check(exercise, bad).passed
        assert check(exercise, good).passed

    def test_a_file_named_like_a_library_does_not_hide_it(self, exercise, tmp_path, monkeypatch):
        for name in ("lessons", "microtape", "json", "numpy"):
            (tmp_path / f"{name}.py").write_text("raise SystemExit('hidden')")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONPATH", "")
        assert check(exercise, exercise.solution).passed

    def test_files_that_it_writes_disappear(self, say, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        said = say("open('left_behind.txt', 'w').close()\ndouble = lambda x: x + x\n")
        assert "Solved." in said
        assert not Path("left_behind.txt").exists()


class TestTheLessonIsAtFault:
    def test_a_solution_that_cannot_be_run(self, tmp_path):
        exercise = next(iter(load_course(write_lesson(tmp_path, solution="import nothing_of_this_name\n")))).exercise
        with pytest.raises(LessonError, match=r"solution\.py: the solution itself cannot be run: No module named"):
            check(exercise, exercise.path)

    def test_a_check_that_raises_on_the_solution(self, tmp_path):
        faulty = CHECK.replace("exercise.double(3)", "exercise.double(3).grad")
        exercise = next(iter(load_course(write_lesson(tmp_path, check=faulty)))).exercise
        with pytest.raises(
            LessonError, match=r"check\.py: three raises on the solution: 'int' object has no attribute"
        ):
            check(exercise, exercise.path)


def test_several_files_do_not_affect_each_other(exercise, tmp_path):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("import builtins\nseen = []\ndef double(x):\n    seen.append(x)\n    return len(seen)\n")
    second.write_text(first.read_text())
    observations = observe(exercise, [first, second])
    assert [{name: outcome.value for name, outcome in one.outcomes.items()} for one in observations] == [
        {"three": 1, "pair": 2},
        {"three": 1, "pair": 2},
    ]
