"""What is drawn around a code and decoded is told; what is scored, acted on, or goes back into its model is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

PROGRAM = """\
import {module}
nn = {name}.nn
{name}.manual_seed(0)
x, y = {name}.rand(8, 4), {name}.rand(8, 2)
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
mu = encoder(x)
std = mu.exp()
{lines}
loss.backward()
"""
ENGINES = [("microtape as mt", "mt"), pytest.param("torch", "torch", marks=pytest.mark.parity)]
KL = "(mu ** 2 + std ** 2 - 2 * std.log()).mean()"
SAMPLE = "dist = torch.distributions.Normal(mu, std); z = dist.sample()"


def told(folder: Path, module: str, name: str, *lines: str) -> list[tuple[str, str]]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(module=module, name=name, lines="\n".join(lines)))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [(one.severity, one.headline) for one in findings(recording) if one.headline.startswith("No gradient pass")]


@pytest.mark.parametrize(("module", "name"), ENGINES)
def test_a_normal_that_is_decoded_is_told(tmp_path: Path, module: str, name: str) -> None:
    loss = f"loss = ((decoder(z) - x) ** 2).mean() + {KL}"
    text = "No gradient passes from z back to mu and std: it is drawn at train.py:8"
    assert told(tmp_path, module, name, f"z = {name}.normal(mu, std)", loss) == [("warning", text)]
    assert told(tmp_path, module, name, f"z = mu + std * {name}.randn_like(std)", loss) == []
    assert told(tmp_path, module, name, f"z = {name}.normal(mu.detach(), std.detach())", loss) == []
    # A mean that has a target of its own may be meant to learn from it alone.
    loss = "loss = ((decoder(z) - x) ** 2).mean() + nn.functional.mse_loss(mu, y)"
    assert [one for one, _ in told(tmp_path, module, name, f"z = {name}.normal(mu, 0.1 + 0 * mu)", loss)] == ["notice"]


@pytest.mark.parity
@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ((SAMPLE, f"loss = ((decoder(z) - x) ** 2).mean() + {KL}"), 1),
        (("z = torch.distributions.Normal(mu, 1.0).sample()", f"loss = ((decoder(z) - x) ** 2).mean() + {KL}"), 1),
        ((SAMPLE, f"loss = ((nn.Linear(4, 4)(torch.cat([z, y], 1)) - x) ** 2).mean() + {KL}"), 1),
        ((f"dist = torch.distributions.Normal(mu, std); z = dist.rsample(); loss = decoder(z).mean() + {KL}",), 0),
        ((SAMPLE, f"loss = decoder(z).mean() - dist.log_prob(z).mean() + {KL}"), 0),
        ((SAMPLE, f"loss = -(((z - mu) / std) ** 2).mean() + decoder(z).mean() + {KL}"), 0),  # a log_prob by hand
        ((SAMPLE, f"z = mu + (z - mu).detach(); loss = decoder(z).mean() + {KL}"), 0),  # straight through
        # An action: what comes of it, and a critic that judges the mean, too.
        ((SAMPLE, f"reward = -(z ** 2).sum(1); loss = ((decoder(z).sum(1) - reward) ** 2).mean() + {KL}"), 0),
        ((SAMPLE, "loss = ((decoder(z) - x) ** 2).mean() - decoder(mu).mean()"), 0),
        # A model that goes on from its own prediction.
        (("a = encoder(decoder(mu)); z = torch.normal(a, a.exp())", "loss = decoder(z).mean() + (a ** 2).mean()"), 0),
    ],
)
def test_what_is_sampled(tmp_path: Path, lines: tuple[str, ...], count: int) -> None:
    assert len(told(tmp_path, "torch", "torch", *lines)) == count
