"""What is wrong, by keystrokes: the line, `!`, Enter, the list, and the marks; and every finding of every program."""

import pytest

import microtape as mt
from microtape.recording.findings import findings
from tests.programs.corpus import HERE, broken_programs, recorded
from tests.programs.corpus import recording_of as own_engine
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import bar, row, shown, stepper
from tui.shell.spans import plain
from tui.stepper.findings_screen import FindingsScreen
from tui.stepper.parts.arrangement import SMALLEST
from tui.stepper.why_screen import WhyScreen
from tui.time.cursor import StepCursor
from tui.time.finding_moments import moment_of, without_gradient
from tui.widgets.finding_line import FindingLine
from tui.words.findings import carried, explained, row_of

SMALL, LARGE = (80, 24), (142, 45)


def recording_of(name):
    return recorded(HERE / "broken" / f"{name}.py")


def text(app):
    """The whole screen."""
    return "\n".join("".join(piece.text for piece in strip) for strip in app.screen._compositor.render_strips())


def page(app):
    return " ".join(str(app.screen.query_one("#heading").render()).split())


def detached():
    w, v = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
    with mt.record() as recorded:
        hidden = (w * 2.0).tanh()
        loss = (hidden.detach() * v).sum()
        loss.backward()
    assert loss is not None
    return recorded.recording


@pytest.mark.parametrize("size", [SMALLEST, SMALL, LARGE])
async def test_the_first_line_is_the_first_finding(size):
    recording = recording_of("huber")
    async with stepper(recording).run_test(size=size) as pilot:
        line = " ".join(shown(pilot.app, FindingLine).split())
        assert line.startswith("✗ NaN begins in backward at sqrt, huber.py:5")
        assert "! 1 of 1" in line
        assert (
            line.replace(" ! 1 of 1", "").replace(" Enter explains", "").endswith(findings(recording)[0].headline[-9:])
        )


async def test_the_first_line_names_a_wrong_shape_of_an_own_engine():
    recording = own_engine(HERE / "own_engines" / "broken" / "postage.py")
    async with stepper(recording).run_test(size=LARGE) as pilot:
        line = " ".join(shown(pilot.app, FindingLine).split())
        assert line.startswith("✗ totals sends postage a gradient that has shape 2×1, but postage has shape 1")


async def test_where_nothing_is_wrong_the_line_says_what_is_computed():
    async with stepper(handmade.diamond()).run_test(size=SMALLEST) as pilot:
        assert not pilot.app.screen.query_one(FindingLine).display  # no line to spare
        await pilot.resize_terminal(*SMALL)
        assert shown(pilot.app, FindingLine).strip() == "∂z/∂x and ∂z/∂y, through 3 operations"
        await pilot.press("exclamation_mark", "F")
        assert not isinstance(pilot.app.screen, FindingsScreen)


@pytest.mark.parametrize(("ascii", "ellipsis"), [(False, " …"), (True, " ...")])
async def test_what_does_not_fit_in_that_line_is_an_ellipsis(ascii, ellipsis):
    a_long_name, another_long_name = (mt.tensor(2.0, requires_grad=True) for _ in range(2))
    with mt.record() as recorded:
        a_long_result = a_long_name * another_long_name
        a_long_result.backward()
    async with stepper(recorded.recording, ascii=ascii).run_test(size=SMALL) as pilot:
        line = shown(pilot.app, FindingLine).rstrip()
        assert "another_long_name, through" in line
        assert line.endswith(ellipsis)
        assert len(line) <= SMALL[0]
        await pilot.resize_terminal(*LARGE)
        assert shown(pilot.app, FindingLine).rstrip().endswith(", through 1 operation")


async def test_the_exclamation_mark_goes_there_and_the_source_is_in_sight():
    recording = recording_of("huber")
    async with stepper(recording).run_test(size=SMALL) as pilot:
        await pilot.press("exclamation_mark")
        found = findings(recording)[0]
        assert bar(pilot.app) == f"step {found.step + 1} of 12"
        source = shown(pilot.app, "#source")
        assert "◀ nan" in source
        assert row(pilot.app, found.node).startswith("▶✗")
        await pilot.press("right")
        assert row(pilot.app, found.node).startswith("✗")
        assert "!" in shown(pilot.app, "TimeBar")


async def test_enter_explains_the_finding_and_then_the_gradient_that_came_in():
    async with stepper(recording_of("huber")).run_test(size=LARGE) as pilot:
        await pilot.press("enter")
        assert page(pilot.app).startswith("✗ NaN begins in backward at sqrt")
        assert "Remedy: " in page(pilot.app)
        await pilot.press("g")
        assert bar(pilot.app) == "step 4 of 12"
        await pilot.press("enter")
        assert "∂loss/∂%9" in page(pilot.app)
        assert page(pilot.app).index("Remedy: ") < page(pilot.app).index("∂loss/∂%9")


async def test_where_a_nan_only_passes_through_enter_leads_to_where_it_begins():
    recording = recording_of("attention_share")
    async with stepper(recording).run_test(size=LARGE) as pilot:
        await pilot.press("exclamation_mark")
        origin = bar(pilot.app)
        await pilot.press("right", "enter")
        assert page(pilot.app).startswith("The value of %7 sub is nan at [1, 0]. It came in with share = nan at [1, 0]")
        await pilot.press("enter")
        assert not isinstance(pilot.app.screen, WhyScreen)
        assert bar(pilot.app) == origin


async def test_the_list_leads_into_another_pass():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as recorded:
        (x * x).sum().backward()
        (x - 1.0).log().sum().backward()
    async with stepper(recorded.recording).run_test(size=SMALL) as pilot:
        await pilot.press("F")
        assert isinstance(pilot.app.screen, FindingsScreen)
        assert "infinity" in text(pilot.app)
        await pilot.press("enter")
        assert "pass 2 of 2" in shown(pilot.app, "Heading")


async def test_a_leaf_that_is_cut_off_says_so_in_its_row():
    async with stepper(detached()).run_test(size=LARGE) as pilot:
        rows = shown(pilot.app, "#tape").splitlines()
        assert [one.split()[-1] for one in rows if " leaf " in one] == ["none", "·"]
        assert sum("cut off" in one for one in rows) == 2
        assert rows[1].startswith("·  "), "its sign, although nothing uses the leaf's gradient"
        assert " · " in shown(pilot.app, "#boxes").splitlines()[0]


async def test_every_leaf_that_one_border_cuts_off_is_marked():
    async with stepper(recording_of("encoder")).run_test(size=LARGE) as pilot:
        rows = [one for one in shown(pilot.app, "#tape").splitlines() if " leaf " in one]
        assert [one[:1] for one in rows] == ["✗", "✗", " "]
        assert [one.endswith(" none") for one in rows] == [True, True, False]


async def test_the_border_that_cuts_a_leaf_off_is_a_row_where_it_happened():
    async with stepper(detached()).run_test(size=LARGE) as pilot:
        rows = shown(pilot.app, "#tape").splitlines()
        at = next(i for i, one in enumerate(rows) if one.startswith("✂"))
        assert "detach(hidden)" in rows[at]
        assert "history ends here, tests" in rows[at]
        assert " tanh " in rows[at - 1]
        await pilot.click("#tape", offset=(10, at + 1))
        assert bar(pilot.app) == "step 0 of 3", "a border is no moment"
        await pilot.click("#tape", offset=(10, at + 2))
        assert bar(pilot.app) == "step 3 of 3"
        await pilot.press("f", *"tanh", "enter")
        assert "✂" not in shown(pilot.app, "#tape")


async def test_in_ascii_every_sign_is_ascii():
    async with stepper(recording_of("huber"), ascii=True).run_test(size=SMALL) as pilot:
        assert shown(pilot.app, FindingLine).lstrip().startswith("x NaN begins")
        assert shown(pilot.app, FindingLine).isascii()
        await pilot.press("exclamation_mark", "right")
        assert shown(pilot.app, "#tape").isascii()


async def test_a_click_on_the_line_goes_there():
    async with stepper(recording_of("huber")).run_test(size=LARGE) as pilot:
        await pilot.click(FindingLine, offset=(5, 0))
        assert bar(pilot.app) == "step 4 of 12"


@pytest.mark.parametrize("program", broken_programs(), ids=lambda path: path.stem)
def test_every_finding_can_be_gone_to_and_explained(program):
    recording = recorded(program)
    cursor = StepCursor.open(recording)
    found = findings(recording)
    for one in found:
        there = moment_of(cursor, one)
        assert 0 <= there.position <= there.timeline.last
        if one.pass_ is not None:
            assert there.timeline.pass_index == one.pass_
        if one.step is not None:
            assert there.step is not None
            assert there.step.index == one.step
            assert one.node in (None, there.node)
        for ascii in (False, True):
            assert plain(row_of(one, ascii=ascii))
            assert [plain(line, ascii=ascii) for line in explained(recording, one, ascii=ascii)]
        words = without_gradient(there.timeline, found)
        assert set(words.values()) <= {"none", "cut off"}
        for moment in range(there.timeline.last + 1):
            at = there.to_moment(moment)
            for node in {at.node, *one.spread} - {None}:
                carried(at, node, found)


def test_nan_of_an_inner_pass_is_told_at_the_nodes_of_the_pass_around_it():
    recording = recorded(next(path for path in broken_programs() if path.stem == "deep_tower"))
    found = findings(recording)
    (nan,) = (one for one in found if one.kind == "nan")
    cursor = StepCursor.open(recording)
    assert cursor.timeline.pass_index == 0 != nan.pass_
    there = carried(cursor.to_moment(cursor.timeline.last), cursor.timeline.pass_.roots[0].node, found)
    assert there is not None
    assert there.origins == (nan,)


@pytest.mark.parametrize("program", broken_programs()[::5], ids=lambda path: path.stem)
async def test_every_finding_is_shown_and_explained_by_keys(program):
    recording = recorded(program)
    async with stepper(recording).run_test(size=SMALL) as pilot:
        screen = pilot.app.screen
        for number, one in enumerate(findings(recording), 1):
            for _ in range(2):  # the first one may be where the stepper opens
                if screen.findings.current is not one or moment_of(screen.cursor, one) != screen.cursor:
                    await pilot.press("exclamation_mark")
            assert screen.findings.current is one
            assert f"! {number} of" in shown(pilot.app, FindingLine)
            await pilot.press("enter")
            assert " ".join(one.headline.split()) in page(pilot.app)
            assert "Remedy: " in page(pilot.app)
            await pilot.press("escape")


async def test_the_stepper_opens_at_the_culprit_with_the_way_out():
    async with stepper(handmade.failing()).run_test(size=LARGE) as pilot:
        assert "Write `e = e.add(1.0)` there" in " ".join(shown(pilot.app, "#node").split())
