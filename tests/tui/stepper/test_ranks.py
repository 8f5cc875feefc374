"""The recordings of several ranks in the stepper: it opens where they part; keys show the same step of other ranks."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Static

from microtape.recording.model.model import Recording
from microtape.recording.ranks import Ranks
from tests.support.recordings.ranks import Model, trained
from tests.tui.stepper.test_app import LARGE, SMALL, shown, stepper
from tests.tui.stepper.test_beside import lines, place
from tests.tui.stepper.test_copy_export import notices
from tui.beside.rank_recordings import RankRecordings
from tui.shell.opening import Origin
from tui.shell.several import RankFiles
from tui.stepper.passes_screen import CompareScreen, PassesScreen
from tui.widgets.choices import Choices

SIZES = [SMALL, (100, 30), (130, 40), LARGE]


def opened(recordings: list[Recording], **options: Any) -> Any:
    origins = tuple([Origin(f"train.rank{rank}.tape") for rank in range(len(recordings))])
    ranks = RankRecordings(RankFiles(Ranks(recordings), origins))
    return stepper(recordings[ranks.start], beside=ranks, origin=origins[ranks.start], **options)


def rank(app: Any) -> object:
    return app.screen.cursor.recording.options["rank"]


def parting() -> list[Recording]:
    return trained(4, rate=lambda rank, step: 0.1 + 0.1 * (rank == 2 and step == 1))


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_it_opens_where_the_ranks_part_on_a_rank_that_does(size: tuple[int, int]) -> None:
    async with opened(parting()).run_test(size=size) as pilot:
        assert rank(pilot.app) == 2
        assert "pass 3 of 3" in shown(pilot.app, "Heading")
        assert "rank 2" in shown(pilot.app, "Heading")
        which, here = lines(pilot.app)
        assert which.startswith("showing rank 2 of 4   t shows rank 3")
        assert which.endswith("1 finding about ranks   d next")
        assert here == "rank 2 differs in own.w and own.b from pass 3 on"
        assert here in shown(pilot.app, "FindingLine").replace("\n   ", " ")


async def test_keys_go_round_the_ranks_at_the_same_step() -> None:
    async with opened(trained(3)).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "right")
        before = place(pilot.app)
        seen = [rank(pilot.app)]
        for key in ("t", "t", "t", "T", "T", "T"):
            await pilot.press(key)
            seen.append(rank(pilot.app))
            assert place(pilot.app) == before
        assert seen == [0, 1, 2, 0, 2, 1, 0]


async def test_the_numbers_of_all_ranks_stand_side_by_side() -> None:
    async with opened(trained(3)).run_test(size=SMALL) as pilot:
        assert lines(pilot.app)[1] == "loss   rank 0: 8.5  1: 7.5  2: 6.5"
        await pilot.press("g", *"own.b", "enter")
        assert lines(pilot.app)[1] == ".grad is equal   local 1 is equal on all ranks"
        await pilot.press("g", *"own.w", "enter")
        assert lines(pilot.app)[1].startswith(".grad is equal   |local|   rank 0: ")


async def test_gradients_that_are_not_averaged_differ() -> None:
    recordings = trained(2, 1, averages="never", data=lambda rank, step: [3.0, 3.0, 3.0 * (-1) ** rank - rank])
    async with opened(recordings).run_test(size=SMALL) as pilot:
        assert lines(pilot.app)[1] == "pass 1 leaves each rank its own gradient: nothing is averaged in it"
        await pilot.press("t")
        assert lines(pilot.app)[1] == ".grad differs   |local|   rank 0: 3  1: 3.37"


async def test_of_many_ranks_the_extremes_are_shown() -> None:
    recordings = trained(9, data=lambda rank, step: [float((rank * 5) % 9), 1.0, 1.0])
    async with opened(recordings).run_test(size=LARGE) as pilot:
        await pilot.press("g", *"own.w", "enter")
        text = lines(pilot.app)[1]
        assert text == ".grad is equal   |local|   rank 0: 0.816  7: 4.69   of 9"
        await pilot.press("t")
        assert lines(pilot.app)[1].startswith(".grad is equal   |local|   rank 1: ")


class Branching(Model):
    """A model that computes one step more on rank 1."""

    def __call__(self, x: Any, rank: int) -> Any:
        loss = super().__call__(x, rank)
        return (loss * 1.0).exp() * 0.0 + loss if rank == 1 else loss


async def test_a_step_that_a_rank_lacks_leads_to_the_one_before_and_back() -> None:
    async with opened(trained(3, model=lambda rank: Branching())).run_test(size=LARGE) as pilot:
        assert rank(pilot.app) == 1
        await pilot.press("home", "g", *"exp", "enter")
        here = place(pilot.app)
        await pilot.press("t")
        assert rank(pilot.app) == 2
        assert "rank 2 has no counterpart of this step: this is the nearest before it." in notices(pilot.app)
        await pilot.press("t", "t")
        assert (rank(pilot.app), place(pilot.app)) == (1, here)


async def test_d_goes_to_where_they_part_on_the_rank_that_does() -> None:
    async with opened(parting()).run_test(size=SMALL) as pilot:
        opened_at = place(pilot.app)
        await pilot.press("t", "left_square_bracket", "right")
        assert rank(pilot.app) == 3
        await pilot.press("d")
        assert (rank(pilot.app), place(pilot.app)) == (2, opened_at)


async def test_ranks_that_do_not_part() -> None:
    async with opened(trained(2)).run_test(size=SMALL) as pilot:
        assert lines(pilot.app)[0] == "showing rank 0   t shows rank 1"
        await pilot.press("d")
        assert "The ranks do not part" in notices(pilot.app)


async def test_what_a_rank_has_received_is_no_finding_of_its_own() -> None:
    recordings = trained(2, data=lambda rank, step: [float("nan") if (rank, step) == (1, 0) else 1.0, 2.0, 3.0])
    async with opened(recordings).run_test(size=SMALL) as pilot:
        assert rank(pilot.app) == 1
        assert "x itself is not finite" in shown(pilot.app, "FindingLine")
        await pilot.press("t")
        assert "not finite" not in shown(pilot.app, "FindingLine")


async def test_ascii() -> None:
    async with opened(parting(), ascii=True).run_test(size=(60, 24)) as pilot:
        assert all(line.isascii() for line in lines(pilot.app))


async def test_the_passes_of_all_ranks_are_listed_side_by_side_and_a_rank_can_be_chosen() -> None:
    async with opened(trained(3, 2)).run_test(size=LARGE) as pilot:
        await pilot.press("s")
        page = pilot.app.screen
        assert isinstance(page, PassesScreen)
        listed = [str(one.prompt) for one in page.query_one(Choices).options]
        assert [" ".join(one.split()[:3]) for one in listed] == [
            f"rank {rank} {number}" for number in (1, 2) for rank in (0, 1, 2)
        ]
        await pilot.press("down", "down", "enter")
        assert rank(pilot.app) == 2
        assert "pass 1 of 2" in shown(pilot.app, "Heading")
        assert lines(pilot.app)[0].startswith("showing rank 2 of 3")


async def test_a_pass_is_compared_with_that_of_another_rank() -> None:
    async with opened(trained(3, 2)).run_test(size=LARGE) as pilot:
        await pilot.press("s", "down", "c")
        await pilot.pause()
        page = pilot.app.screen
        assert isinstance(page, CompareScreen)
        above = "\n".join(str(one.visual) for one in page.query(Static))
        assert "rank 0, pass 1" in above
        assert "rank 1, pass 1" in above
        assert "8.5 and 7.5: -1" in above
        await pilot.press("enter")
        assert rank(pilot.app) == 1
