"""The cost of recording PyTorch: whole training steps, recorded and plain, side by side on one thread."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.engines import Engine
from benchmarks.figures import Figure, median_ratio
from benchmarks.training import Step, mlp, trained


def pytorch(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """A step of a model under the recorder, which begins anew before each, to the same step without it.

    Timed is what the program waits for: all is noted then. What is made of the notes, if somebody asks for the
    recording, has figures of its own, of the largest program.
    """
    try:
        import torch
    except ModuleNotFoundError:
        yield Figure("recording PyTorch", None, "× plain", note="torch is not installed")
        return
    from microtape.recording.pytorch.recorder import TorchRecorder

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        for title, make, target, rounds in (
            ("MLP 64-128-128-10", mlp, 1.8, 15),
            ("transformer, 12 layers, 10 M", _transformer, 1.5, 5),
            ("LSTM cell, 250 steps", _lstm, 2.5, 7),
            ("chain of 30,000 nodes", _chain, 2.6, 3),
        ):
            step = make(torch)
            with TorchRecorder() as recorder:
                step()  # the texts of sources are read once
                recorder.sleep()

                def recorded(step: Step = step, recorder: Any = recorder) -> None:
                    recorder.wake()
                    del recorder.segments[:-1]
                    step()
                    recorder.sleep()

                ratio = median_ratio(recorded, step, 2 if quick else rounds)
                yield Figure(f"PyTorch: step of {title}, recorded", ratio, "× plain", target)
                recorded()
        start = process_time()
        recording = recorder.recording
        yield Figure(f"making the recording of {len(recording.nodes):,} nodes", process_time() - start, "s")
        with tempfile.TemporaryDirectory() as folder:
            from microtape.recording.file.tape_file import save

            path = Path(folder) / "chain.tape"
            save(recording, path)
            yield Figure("its file", path.stat().st_size / 1e6, "MB", 20)
    finally:
        torch.set_num_threads(threads)


def _transformer(torch: Any) -> Step:
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    table, encoder, scores = nn.Embedding(4000, 256), nn.TransformerEncoder(layer, 12), nn.Linear(256, 4000)
    words = torch.randint(0, 4000, (8, 64))
    model = nn.ModuleList([table, encoder, scores])

    def loss() -> Any:
        return nn.functional.cross_entropy(scores(encoder(table(words))).flatten(0, 1), words.flatten())

    return trained(torch, model, loss)


def _lstm(torch: Any) -> Step:
    cell, scores = torch.nn.LSTMCell(32, 64), torch.nn.Linear(64, 8)
    x = torch.randn(250, 16, 32)

    def loss() -> Any:
        state = torch.zeros(16, 64), torch.zeros(16, 64)
        for one in x.unbind():
            state = cell(one, state)
        return scores(state[0]).pow(2).mean()

    return trained(torch, torch.nn.ModuleList([cell, scores]), loss)


def _chain(torch: Any) -> Step:
    weight = torch.nn.Parameter(torch.randn(3))

    def loss() -> Any:
        y = weight
        for _ in range(15_000):
            y = y * 1.0001 + 0.1
        return y.sum()

    return trained(torch, torch.nn.ParameterList([weight]), loss)
