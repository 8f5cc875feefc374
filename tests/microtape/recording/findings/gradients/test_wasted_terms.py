"""A term whose gradients are reset unused: what is told, and the programs that may have such a term."""

from __future__ import annotations

from collections.abc import Callable

import microtape as mt
from microtape import nn, optim
from microtape.recording import record
from microtape.recording.findings import Finding, findings

STEPS = 4


def wasted(program: Callable[[], None]) -> list[Finding]:
    """The findings that tell of a term that trains nothing."""
    return [one for one in findings(record(program)) if "trains nothing" in one.headline]


class Pair:
    """A maker, a judge, and an optimiser for each."""

    def __init__(self) -> None:
        mt.manual_seed(0)
        self.maker, self.judge = nn.Linear(3, 4), nn.Linear(4, 1)
        self.making = optim.SGD(self.maker.parameters(), lr=0.01)
        self.judging = optim.SGD(self.judge.parameters(), lr=0.01)
        self.x, self.y = mt.randn(5, 3), mt.randn(5, 4)

    def make(self, *, shown: Callable[[mt.Tensor], mt.Tensor], reset: bool = True) -> None:
        """A pass for the maker, with a term of the judge."""
        made = self.maker(self.x)
        likeness = (made - self.y).square().mean()
        charm = self.judge(shown(made)).mean()
        self.making.zero_grad()
        if reset:
            self.judging.zero_grad()
        (likeness - 0.1 * charm).backward()
        self.making.step()

    def judge_it(self) -> None:
        """A pass for the judge."""
        doubt = (self.judge(self.maker(self.x).detach()) - self.judge(self.y)).mean()
        self.judging.zero_grad()
        doubt.backward()
        self.judging.step()


def detached(made: mt.Tensor) -> mt.Tensor:
    return made.detach()


def quiet(made: mt.Tensor) -> mt.Tensor:
    with mt.no_grad():
        return made * 1.0


def bare(made: mt.Tensor) -> mt.Tensor:
    return mt.tensor(made.tolist())


def in_turn(shown: Callable[[mt.Tensor], mt.Tensor]) -> Callable[[], None]:
    def program() -> None:
        pair = Pair()
        for _ in range(STEPS):
            pair.make(shown=shown)
            pair.judge_it()

    return program


def test_a_term_that_a_detach_cuts_off_is_told_with_what_gets_its_gradients() -> None:
    (finding,) = wasted(in_turn(detached))
    assert finding.explanation[0].startswith("made.detach() at test_wasted_terms.py:")
    assert "maker.bias, which are updated after this pass" in finding.explanation[1]
    assert finding.explanation[2].endswith("judge.bias: these are reset before anything uses them.")
    assert finding.severity == "warning"


def test_other_ways_to_leave_the_tape_are_told_too() -> None:
    assert "ran under the no_grad of " in wasted(in_turn(quiet))[0].explanation[0]
    assert len(wasted(in_turn(bare))) == 1


def test_a_term_that_reaches_what_is_updated_is_right() -> None:
    assert wasted(in_turn(lambda made: made)) == []


def test_a_sum_that_both_optimisers_use_is_right() -> None:
    def program() -> None:
        pair = Pair()
        for _ in range(STEPS):
            made = pair.maker(pair.x)
            pair.making.zero_grad()
            pair.judging.zero_grad()
            ((made - pair.y).square().mean() + pair.judge(made.detach()).square().mean()).backward()
            pair.making.step()
            pair.judging.step()

    assert wasted(program) == []


def test_a_sum_that_the_optimisers_use_in_turn_is_right() -> None:
    def program() -> None:
        pair = Pair()
        for step in range(2 * STEPS):
            made = pair.maker(pair.x)
            pair.making.zero_grad()
            pair.judging.zero_grad()
            ((made - pair.y).square().mean() + pair.judge(made.detach()).square().mean()).backward()
            (pair.making if step % 2 == 0 else pair.judging).step()

    assert wasted(program) == []


def test_gradients_that_are_kept_for_a_later_step_are_used() -> None:
    def program() -> None:
        pair = Pair()
        for step in range(2 * STEPS):
            pair.make(shown=detached, reset=False)
            if step % 2 == 1:
                pair.judging.step()
                pair.judging.zero_grad()

    assert wasted(program) == []


def test_a_judge_that_is_yet_to_be_trained_may_come_later() -> None:
    def program() -> None:
        pair = Pair()
        for _ in range(STEPS):
            pair.make(shown=detached)

    assert wasted(program) == []
