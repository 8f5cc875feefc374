"""Every optimiser goes torch's way, with any options: in float64 to 1e-9, in float32 as far as rounding allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microtape

STEPS = 200
NOISE = np.random.default_rng(0).standard_normal((STEPS, 5))
decays = st.sampled_from([0, 0.01, 0.3])
rates = st.sampled_from([0.001, 0.03, 0.1])
fractions = st.floats(0.05, 0.95)
flags = st.booleans()
adam = {
    "lr": rates, "betas": st.tuples(fractions, fractions), "eps": st.sampled_from([1e-8, 1e-3]), "weight_decay": decays,
    "amsgrad": flags, "maximize": flags,
}  # fmt: skip
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "SGD": {"lr": rates, "momentum": st.just(0) | fractions, "dampening": st.just(0) | fractions,
            "weight_decay": decays, "maximize": flags},
    "Nesterov": {"lr": rates, "momentum": fractions, "weight_decay": decays, "nesterov": st.just(True)},
    "Adam": adam,
    "AdamW": adam,
    "RMSprop": {"lr": rates, "alpha": fractions, "eps": st.sampled_from([1e-8, 1e-3]), "weight_decay": decays,
                "momentum": st.just(0) | fractions, "centered": flags, "maximize": flags},
    "Adagrad": {"lr": rates, "lr_decay": decays, "weight_decay": decays, "maximize": flags,
                "initial_accumulator_value": st.sampled_from([0, 0.5])},
}  # fmt: skip


def trajectory(mt: Any, name: str, options: dict[str, Any], dtype: str) -> np.ndarray:
    """The parameters after each step of a noisy descent: (steps, 5)."""
    kind = getattr(mt, dtype)
    w = mt.tensor([[0.5, -1.0], [2.0, 0.1]], dtype=kind, requires_grad=True)
    b = mt.tensor([3.0], dtype=kind, requires_grad=True)
    noise = mt.tensor(NOISE.tolist(), dtype=kind)
    groups = [{"params": [w]}, {"params": [b], "lr": 0.02}]
    optimizer = getattr(mt.optim, "SGD" if name == "Nesterov" else name)(groups, **options)
    seen = []
    for row in noise:
        optimizer.zero_grad()
        loss = 0.05 * (w * w).sum() + 0.1 * (b * b).sum() + (row[:4].reshape(2, 2) * w).sum() + (row[4] * b).sum()
        loss.backward()
        optimizer.step()
        seen.append([*w.detach().numpy().ravel(), *b.detach().numpy()])
    return np.array(seen)


def distance(name: str, options: dict[str, Any], dtype: str) -> float:
    """How far the two trajectories are apart at most, relative to the largest parameter."""
    import torch

    theirs, ours = (trajectory(one, name, options, dtype) for one in (torch, microtape))
    assert np.ptp(theirs, axis=0).min() > 0
    return float(np.abs(theirs - ours).max() / np.abs(theirs).max())


@pytest.mark.parametrize("name", OPTIONS)
def test_the_trajectory_is_torchs(name: str) -> None:
    @settings(max_examples=12, derandomize=True, database=None)
    @given(st.fixed_dictionaries({}, optional=OPTIONS[name]))
    def check(options: dict[str, Any]) -> None:
        if name == "Nesterov":
            options = {"momentum": 0.8, **options, "nesterov": True}
        assert distance(name, {"lr": 0.03, **options}, "float64") < 1e-9

    check()


@pytest.mark.parametrize("name", OPTIONS)
def test_in_float32_only_rounding_differs(name: str) -> None:
    options = {"lr": 0.03, **({"momentum": 0.8, "nesterov": True} if name == "Nesterov" else {})}
    assert distance(name, options, "float32") < 1e-5
