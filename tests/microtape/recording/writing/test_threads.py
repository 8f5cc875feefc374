"""A recording follows the threads that its program starts, and shows their passes one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import microtape as mt
from microtape.recording.model.model import Recording
from microtape.recording.script.run import record_script
from microtape.recording.writing import passes_of_threads


def in_threads(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work, name=f"worker {number}") for number, work in enumerate(works)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def sums(recording: Recording) -> list[float]:
    """The gradient of the only leaf after each pass."""
    last = [[step.grad_after for step in one.steps if step.grad_after is not None] for one in recording.passes]
    return [float(values[-1].item()) for values in last]  # type: ignore[union-attr]


def test_a_pass_in_a_thread_is_recorded_and_says_so() -> None:
    w = mt.tensor(1.0, requires_grad=True)
    with mt.record() as recorder:
        (w * 2).backward()
        in_threads(lambda: (w * 3).backward())
    assert sums(recorder.recording) == [2.0, 5.0]
    assert recorder.recording.notes == ("pass 2 ran in the thread worker 0",)
    assert [node.op for node in recorder.recording.nodes if node.op == "mul"] == ["mul"] * 2


def test_passes_at_once_on_a_shared_leaf_lose_no_gradient() -> None:
    w = mt.tensor(0.0, requires_grad=True)
    together = threading.Barrier(4)

    def work() -> None:
        together.wait()
        for _ in range(25):
            (w * 1.0).backward()

    in_threads(*[work] * 4)
    assert w.grad is not None
    assert w.grad.item() == 100.0
    w.grad = None
    with mt.record() as recorder:
        in_threads(*[work] * 4)
    assert w.grad.item() == 100.0
    assert sums(recorder.recording) == [float(number) for number in range(1, 101)], (
        "each pass starts from the one before"
    )


def test_a_thread_that_was_there_before_belongs_to_somebody_else() -> None:
    w = mt.tensor(1.0, requires_grad=True)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: None).result()
        with mt.record() as recorder:
            pool.submit((w * 2).backward).result()
    assert recorder.recording.passes == ()


def test_two_recorders_in_two_threads_see_their_own() -> None:
    found: dict[str, int] = {}

    def work() -> None:
        w = mt.tensor(1.0, requires_grad=True)
        with mt.record() as recorder:
            (w * 2).backward()
            in_threads((w * 3).backward)
        found[threading.current_thread().name] = len(recorder.recording.passes)

    in_threads(work, work)
    assert found == {"worker 0": 2, "worker 1": 2}


def test_a_pass_for_which_another_one_waits_is_not_recorded_and_the_program_goes_on(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(passes_of_threads, "_PATIENCE", 0.05)
    w, v = mt.tensor(1.0, requires_grad=True), mt.tensor(1.0, requires_grad=True)
    y = w * 2
    y.register_hook(lambda gradient: in_threads(lambda: (v * 3).backward()))
    with mt.record() as recorder:
        y.backward()
        (w * 4).backward()
    assert v.grad is not None
    assert v.grad.item() == 3.0
    assert [one.index for one in recorder.recording.passes] == [0, 2]
    assert recorder.recording.notes == (
        "pass 2 of the thread worker 0 not recorded: a pass of another thread did not come to its end",
    )


def test_only_the_thread_that_is_asked_for_is_recorded() -> None:
    def passes_of(thread: str | None) -> list[float]:
        w = mt.tensor(0.0, requires_grad=True)
        with mt.record(thread=thread) as recorder:
            (w * 1.0).backward()
            in_threads(lambda: (w * 10.0).backward(), lambda: in_threads(lambda: (w * 100.0).backward()))
            (w * 1000.0).backward()
        assert w.grad is not None
        assert w.grad.item() == 1111.0
        return [float(one.steps[-1].grad_outputs[0].item()) for one in recorder.recording.passes]  # type: ignore[union-attr]

    assert passes_of("main") == [1.0, 1000.0]
    assert passes_of("worker 0") == [10.0, 100.0], "also of one that another thread has started"
    assert passes_of("worker 1") == []
    assert passes_of("nobody") == []
    assert sorted(passes_of(None)) == [1.0, 10.0, 100.0, 1000.0]


def test_a_recording_of_one_thread_says_so() -> None:
    w = mt.tensor(1.0, requires_grad=True)
    with mt.record(thread="worker 0") as recorder:
        (w * 2).backward()
        in_threads(lambda: (w * 3).backward())
    assert [one.index for one in recorder.recording.passes] == [0]
    assert recorder.recording.notes == ("pass 1 ran in the thread worker 0", "only the thread worker 0 is recorded")


def test_a_script_of_which_one_thread_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""\
import threading
import microtape as mt
w = mt.tensor(1.0, requires_grad=True)
(w * 2).backward()
one = threading.Thread(target=(w * 3).backward, name="trainer")
one.start()
one.join()
""")
    out = tmp_path / "run.tape"
    assert record_script(tmp_path / "train.py", out=out, thread="trainer")[1:3] == (0, None)
    assert [float(one.steps[-1].grad_outputs[0].item()) for one in mt.load(out).passes] == [3.0]
    never = record_script(tmp_path / "train.py", out=out, thread="nobody")
    assert never.message == "train.py never called backward() in the thread nobody: there is nothing to record"


def test_after_the_recording_threads_are_as_they_were() -> None:
    before = threading.Thread.start
    with mt.record():
        assert threading.Thread.start is not before
    assert threading.Thread.start is before


def test_a_script_may_train_in_a_thread_that_it_does_not_wait_for(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""\
import threading
import microtape as mt
w = mt.tensor(1.0, requires_grad=True)
def work():
    for number in range(3):
        (w * w).backward()
    print("the end of the thread")
threading.Thread(target=work, name="trainer").start()
""")
    ended = record_script(tmp_path / "train.py", out=tmp_path / "run.tape", passes="all")
    assert ended[1:3] == (0, None)
    recording = mt.load(tmp_path / "run.tape")
    assert [one.index for one in recording.passes] == [0, 1, 2]
    assert recording.notes == ("passes 1-3 ran in the thread trainer",)


def test_a_script_is_stopped_after_the_first_pass_of_a_thread(tmp_path: Path, capfd) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "train.py").write_text("""\
import threading
import microtape as mt
w = mt.tensor(1.0, requires_grad=True)
def work():
    while True:
        (w * w).backward()
thread = threading.Thread(target=work)
thread.start()
try:
    thread.join()
finally:
    print("finally")
""")
    ended = record_script(tmp_path / "train.py", out=tmp_path / "run.tape")
    assert ended[1:3] == (0, None)
    assert len(mt.load(tmp_path / "run.tape").passes) == 1
    assert capfd.readouterr() == ("finally\n", "")
