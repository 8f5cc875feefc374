"""The stepper opens after the first pass; the program goes on, and what is found later arrives."""

import contextlib
from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, bar, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.shell.opening import Origin
from tui.shell.program_run import ProgramRun

ENOUGH = 600.0  # seconds: every search here ends by something else
PROGRAM = """\
import os, time
import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)
try:
    for number in range(1, 6):
        w.grad = None
        hidden = w.exp()
        if number == 4:
            hidden += 1
        hidden.sum().backward()
        print("finished", number)
        while not os.path.exists("go on"):
            time.sleep(0.01)
finally:
    print("finally")
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


@contextlib.contextmanager
def running(path, *, hidden=False):
    run = ProgramRun(Origin(str(path), search=ENOUGH), hidden=hidden)
    run.start()
    run.wait_for_first()
    try:
        yield run
    finally:
        run.close()


def opened(run, **options):
    return stepper(run.first, origin=run.origin, run=run, **options)


async def test_a_failure_arrives_while_the_first_pass_is_shown_and_the_place_is_kept(program):
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            await pilot.press("right")
            assert "pass 1 of 1" in shown(pilot.app, "Heading")
            assert "searching, pass 1" in shown(pilot.app, "Heading")
            Path("go on").touch()
            await until(pilot, lambda: "Pass 4" in notices(pilot.app))
            assert "pass 1 of 4" in shown(pilot.app, "Heading")
            assert "searching" not in shown(pilot.app, "Heading")
            assert bar(pilot.app) == "step 1 of 3"
            passes = pilot.app.screen.cursor.recording.passes
            assert [one.index + 1 for one in passes] == [1, 2, 3, 4]
    assert run.ended.exit_code == 1


async def test_a_failure_between_two_passes_arrives_as_well(program):
    program.write_text(PROGRAM.replace("        w.grad = None\n", "        assert number < 2, 'no data'\n"))
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            Path("go on").touch()
            failed = "The program failed after pass 1, at train.py:7: AssertionError: no data."
            await until(pilot, lambda: failed in notices(pilot.app))


@pytest.mark.parametrize("has_notice", [False, True])
@pytest.mark.parametrize("message", ["'no data'", ""])
async def test_no_key_goes_to_a_failure_that_no_finding_shows(program, has_notice, message):
    raises = f"        if number == 3: raise ValueError({message})\n"
    resets = "        w.grad = None\n" * (not has_notice)  # else the passes add up, which is worth a notice
    program.write_text(PROGRAM.replace("        w.grad = None\n", raises + resets))
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            Path("go on").touch()
            failed = f"after pass 2, at train.py:7: ValueError{': no data' * bool(message)}. O shows what it printed."
            await until(pilot, lambda: failed in notices(pilot.app))
            assert ("! goes to what was found before." in notices(pilot.app)) == has_notice
            assert "goes there" not in notices(pilot.app)
            await pilot.press("exclamation_mark")
            said = "Nothing wrong was found in this recording, and nothing shows why the program ended with ValueError."
            assert (said in notices(pilot.app)) != has_notice


async def test_what_the_program_prints_has_a_page_that_follows_it(program):
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            await until(pilot, lambda: run.printed.last)
            await pilot.press("O")
            assert "finished 1" in shown(pilot.app, "Static")
            await pilot.press("escape")
            Path("go on").touch()
            await until(pilot, lambda: run.over.is_set() and "Pass 4" in notices(pilot.app))
            await pilot.press("O")
            page = pilot.app.screen.query_one("VerticalScroll")
            assert "output of train.py" in str(page.border_title)
            assert "finished 3" in shown(pilot.app, "Static")
            assert "ModifiedInPlaceError" in shown(pilot.app, "Static")
            await pilot.press("escape")
            assert bar(pilot.app) == "step 0 of 3"
    assert run.printed.last[:3] == ["finished 1", "finished 2", "finished 3"]


async def test_quitting_lets_the_pass_end_and_the_finally_block_run(program):
    program.write_text(PROGRAM.replace('while not os.path.exists("go on")', "if number == 5").replace("== 4", "< 0"))
    program.write_text(program.read_text().replace("range(1, 6)", "range(1, 1_000_000_000)"))
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            await until(pilot, lambda: run.passes > 1)
            await pilot.press("q")
    assert run.ended.search.why == "stopped"
    assert run.printed.last[-1] == "finally"


async def test_a_program_that_never_ends_is_killed_when_the_stepper_closes(program, monkeypatch):
    monkeypatch.setattr("microtape.recording.script.running._SHORT_GRACE", 0.1)
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            await pilot.press("q")
    assert run.ended.search.why == "killed"


async def test_a_program_in_which_nothing_is_found_ends_quietly(program):
    program.write_text(PROGRAM.replace("== 4", "== 9"))
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            Path("go on").touch()
            await until(pilot, lambda: run.over.is_set() and "searching" not in shown(pilot.app, "Heading"))
            assert notices(pilot.app) == ""
            assert "pass 1 of 1" in shown(pilot.app, "Heading")
    assert run.ended.search == ("finished", 5, False)


BEGINS_AT_ZERO = """\
import os, time
import microtape as mt

a, b = mt.zeros(2, requires_grad=True), mt.ones(2, requires_grad=True)
optimizer = mt.optim.SGD([a, b], lr=0.1)
for number in range(1, 6):
    optimizer.zero_grad()
    h = a * b
    h.exp()
    loss = (h - 1).square().sum()
    loss.backward()
    optimizer.step()
    while not os.path.exists("go on"):
        time.sleep(0.01)
"""


async def test_what_was_found_in_the_first_pass_is_no_news(program):
    """Later passes refute that the gradient of b is zero; the result that is lost was known."""
    program.write_text(BEGINS_AT_ZERO)
    with running(program) as run:
        async with opened(run).run_test(size=LARGE) as pilot:
            assert len(findings(pilot.app.screen.cursor.recording)) == 2
            Path("go on").touch()
            await until(pilot, lambda: run.over.is_set() and "searching" not in shown(pilot.app, "Heading"))
            (left,) = findings(pilot.app.screen.cursor.recording)
            assert left.kind == "no effect"
            assert notices(pilot.app) == ""


async def test_an_edited_program_is_searched_again(program):
    program.write_text(PROGRAM.replace("== 4", "== 9"))
    with running(program) as run:
        async with opened(run, watches=True).run_test(size=LARGE) as pilot:
            program.write_text(PROGRAM.replace("w.exp()", "w.exp().exp()"))
            await until(pilot, lambda: "Recorded again" in notices(pilot.app))
            assert "pass 1 of 1" in shown(pilot.app, "Heading")
            Path("go on").touch()
            await until(pilot, lambda: "Pass 4" in notices(pilot.app))
            assert "pass 1 of 4" in shown(pilot.app, "Heading")


async def test_a_recording_that_was_made_before_prints_nothing(program):
    with running(program) as run:
        recording = run.first
    async with stepper(recording).run_test(size=LARGE) as pilot:
        await pilot.press("O")
        assert "No program is running" in notices(pilot.app)


NOTICED = """\
import os, time
import microtape as mt

w = mt.tensor([1.0], requires_grad=True)
v = mt.tensor([2.0], requires_grad=True)
for number in range(1, 7):
    w.grad = v.grad = None
    model = v if number in LATER else w
    loss = (model - 1.5).pow(2).sum()
    loss.backward()
    w.data -= (5 if number == 4 else 0.1) * (0.0 if w.grad is None else w.grad)
    while not os.path.exists("go on"):
        time.sleep(0.01)
"""


@pytest.mark.parametrize(
    ("later", "said", "kinds"),
    [("(4, 5, 6)", "Later passes show that nothing was wrong in the first one.", []),
     ("()", "Pass 4: w changes by more than its norm", ["no gradient", "large update"])],
)  # fmt: skip
async def test_a_notice_arrives_or_goes_at_the_end(program, later, said, kinds):
    program.write_text(NOTICED.replace("LATER", later))
    with running(program) as run:
        assert [one.kind for one in findings(run.first)] == ["no gradient"]
        async with opened(run).run_test(size=LARGE) as pilot:
            Path("go on").touch()
            await until(pilot, lambda: said in notices(pilot.app))
            assert [one.kind for one in findings(pilot.app.screen.cursor.recording)] == kinds
