"""Findings of random programs: computed without an exception, well-formed, and each can be gone to."""

from __future__ import annotations

from contextlib import suppress

import pytest

import microtape
from microtape.recording import Recorder
from microtape.recording.findings import findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from tests.parity.random.session import Session
from tests.parity.random.topics import ALL, write

SEEDS = range(0, 160, 20)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", SEEDS)
def test_findings_of_random_programs(first: int) -> None:
    import torch

    for seed in range(first, first + 20):
        program, _ = write(seed, torch, ALL)
        with Recorder("program", check="all" if seed % 3 == 0 else None) as recorder, suppress(Exception):
            Session(microtape).run(program)
        recording = recorder.recording
        for one in findings(recording):
            assert 0 < len(one.headline) <= MOST_IN_A_HEADLINE
            assert one.explanation
            assert one.remedy
            if one.step is not None:
                assert one.pass_ is not None
                assert one.step < len(recording.passes[one.pass_].steps)
            assert one.node is None or one.node < len(recording.nodes)
