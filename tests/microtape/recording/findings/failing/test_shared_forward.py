"""Two losses that share a forward, each with a backward and a step of its own."""

from __future__ import annotations

import microtape as mt
from microtape import nn, optim
from microtape.recording import record
from microtape.recording.findings import Finding, findings


def found(*, is_detached: bool) -> list[Finding]:
    """The findings of an actor and a critic on one body, whose advantage the actor's loss may differentiate."""
    mt.manual_seed(0)
    body, actor, critic = nn.Linear(3, 4), nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    of_actor = optim.SGD([*body.parameters(), *actor.parameters()], lr=0.01)
    of_critic = optim.SGD(critic.parameters(), lr=0.01)

    def program() -> None:
        for _ in range(3):
            h = body(mt.randn(5, 3)).tanh()
            log_p, advantage = actor(h).log_softmax(-1)[:, 0], mt.rand(5) - critic(h).squeeze(-1)
            of_critic.zero_grad()
            advantage.pow(2).mean().backward(retain_graph=True)
            of_critic.step()
            of_actor.zero_grad()
            (-(log_p * (advantage.detach() if is_detached else advantage)).mean()).backward()
            of_actor.step()

    return list(findings(record(program)))


def test_their_graph_does_not_grow() -> None:
    assert found(is_detached=True) == []


def test_a_step_between_them_that_overwrites_is_told_so() -> None:
    finding = found(is_detached=False)[0]
    assert finding.kind == "overwritten"
    assert finding.remedy.startswith("Update it after the last backward")
