"""Leaves that a block under no_grad leaves without a gradient: one finding for the block, and a way to mean it."""

from __future__ import annotations

import microtape as mt
from microtape import nn, optim
from microtape.recording import record
from microtape.recording.findings import Finding, findings


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(4), nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        x = self.norm(x)
        x = self.wide(x).relu()
        return self.narrow(x)


def found(steps: bool) -> list[Finding]:
    """The findings of a head on a body that runs under no_grad, if an optimiser has both, or if none does."""
    body, head = nn.Sequential(*[Block() for _ in range(2)]), nn.Linear(4, 1)
    optimizer = optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)

    def program() -> None:
        for _ in range(2):
            with mt.no_grad():
                h = body(mt.ones(3, 4))
            loss = head(h).square().mean()
            optimizer.zero_grad()
            loss.backward()
            if steps:
                optimizer.step()

    return list(findings(record(program)))


def test_all_layers_of_a_block_are_one_finding() -> None:
    (finding,) = found(steps=True)
    assert "12 leaves of body get no gradient" in finding.headline
    assert "ran under no_grad" in finding.explanation[0]
    assert "So did what follows it, up to test_under_no_grad.py:" in finding.explanation[1]


def test_what_an_optimiser_passes_over_may_be_meant() -> None:
    (finding,) = found(steps=True)
    assert finding.severity == "warning"
    assert finding.remedy.endswith("Else leave them out of the optimiser.")
    (finding,) = [one for one in found(steps=False) if one.kind == "no gradient"]
    assert finding.severity == "notice"
    assert finding.remedy.endswith("if the gradient should go through.")


def test_two_bodies_that_the_graph_uses_in_turn_are_two_findings() -> None:
    first, second, head = Block(), nn.Linear(4, 4), nn.Linear(4, 1)

    def program() -> None:
        with mt.no_grad():
            a = first(mt.ones(3, 4))
            b = second(mt.ones(3, 4))
        (head(a) + head(b)).square().mean().backward()

    one, other = findings(record(program))
    assert "6 leaves of first" in one.headline
    assert "2 leaves of second" in other.headline


def test_where_the_graph_itself_is_cut_comes_before_what_was_drawn_off_the_tape() -> None:
    policy, critic, x = nn.Linear(3, 1), nn.Linear(3, 1), mt.ones(4, 3)

    def program() -> None:
        with mt.no_grad():
            drawn = policy(x)
        score = policy(x) - 1.0
        weight = (drawn * score.detach()).exp()
        ((critic(x) - drawn).square() + weight).mean().backward()

    finding = next(one for one in findings(record(program)) if one.kind == "no gradient")
    assert "2 leaves of policy get no gradient" in finding.headline
    assert finding.explanation[0].startswith("score.detach() at ")


def test_what_a_block_alone_cuts_off_is_told_where_it_runs() -> None:
    policy, critic, x = nn.Linear(3, 1), nn.Linear(3, 1), mt.ones(4, 3)

    def program() -> None:
        with mt.no_grad():
            drawn = policy(x)
        (critic(x) - drawn).square().mean().backward()

    finding = next(one for one in findings(record(program)) if one.kind == "no gradient")
    assert finding.explanation[0].startswith("policy(x) at ")


def test_a_loop_that_ends_above_is_not_said_to_reach_up_to_a_line() -> None:
    first, second, head = (nn.Linear(3, 3) for _ in range(3))

    def program() -> None:
        x = mt.ones(4, 3)
        with mt.no_grad():
            for layer in (1, 2):
                if layer == 2:  # noqa: SIM108 - each in a line of its own
                    x = second(x)
                else:
                    x = first(x)
        head(x).sum().backward()

    (finding,) = findings(record(program))
    assert "first.weight" in finding.headline
    assert finding.explanation[1].startswith("So did what follows it. This concerns first.weight")
