"""A search goes on after the first pass, and keeps the first pass in which something is found, and what it needs."""

from __future__ import annotations

import contextlib
import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microtape import load
from microtape.errors import RecordingError
from microtape.recording.findings import findings
from microtape.recording.model.model import Place, Recording
from microtape.recording.script.ending import ScriptRun
from microtape.recording.script.run import record_script

ENOUGH = 600.0  # seconds: the end of every search in these tests is something else

Search = Callable[..., tuple[ScriptRun, Recording]]


@pytest.fixture
def search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Search:
    """Write a script, search it, and load what is kept."""
    monkeypatch.chdir(tmp_path)

    def search(text: str, **options: Any) -> tuple[ScriptRun, Recording]:
        Path("train.py").write_text(textwrap.dedent(text))
        with open("printed", "wb") as output:
            ended = record_script("train.py", out="run.tape", output=output, **{"search": ENOUGH, **options})
        assert ended.recording == "run.tape"
        return ended, load("run.tape")

    return search


def printed() -> str:
    return Path("printed").read_text()


def passes(recording: Recording) -> list[int]:
    return [one.index + 1 for one in recording.passes]


def test_a_program_in_which_nothing_is_found_runs_to_its_end_and_leaves_its_first_pass(search: Search) -> None:
    ended, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(40):
            w.grad = None
            (w * w).sum().backward()
        print("the end")
    """)
    assert ended.exit_code == 0
    assert ended.search[:2] == ("finished", 40)
    assert passes(recording) == [1]
    assert printed() == "the end\n"


def test_a_later_failure_is_kept_with_the_pass_before_it_and_the_first(search: Search) -> None:
    ended, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for number in range(1, 40):
            hidden = w.exp()
            if number == 30:
                hidden += 1
            loss = hidden.sum()
            loss.backward()
    """)
    assert (ended.exit_code, ended.message) == (1, None)
    assert ended.search[:2] == ("failed", 30)
    assert passes(recording) == [1, 29, 30]
    error = recording.passes[-1].error
    assert error is not None
    assert error.type == "ModifiedInPlaceError"
    assert [tensor.name for tensor in recording.tensors].count("w") == 1, "one leaf, in all three passes"
    leaves = {step.node for one in recording.passes for step in one.steps if recording.nodes[step.node].variable == 0}
    assert len(leaves) == 1
    assert "ModifiedInPlaceError" in printed()


def test_a_failure_between_two_passes_is_kept_as_well(search: Search) -> None:
    ended, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for number in range(1, 40):
            assert number < 25, "too many"
            (w * w).sum().backward()
    """)
    assert ended.exit_code == 1
    assert ended.message == "train.py raised AssertionError: what was recorded until then is kept"
    assert ended.search[:2] == ("failed", 24)
    assert passes(recording) == [1, 24]
    assert recording.error is not None
    assert recording.error.message == "too many"


def test_who_freed_a_graph_is_known_when_that_pass_is_forgotten(search: Search) -> None:
    _, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        shared = w.exp().sin()
        for number in range(1, 40):
            loss = shared.sum() if number in (4, 30) else (w * w).sum()
            loss.backward()
    """)
    assert passes(recording) == [1, 29, 30]
    failed = recording.passes[-1].steps[-1]
    assert failed.error is not None
    assert failed.error.type == "FreedGraphError"
    (freed,) = [one for one in recording.freed_by if one.node == failed.node]
    assert freed.pass_ == 3
    assert freed.place is not None
    assert freed.place.line == 6


def test_a_graph_that_two_passes_share_has_its_values_in_both(search: Search) -> None:
    _, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for number in range(1, 9):
            shared = w.exp()
            a, b = (shared * 2).sum(), (shared * 3).sum()
            a.backward(retain_graph=number < 5)
            b.backward()
    """)
    assert passes(recording)[-2:] == [9, 10]
    (exp,) = [node for node in recording.nodes if node.id in recording.passes[-1].nodes and node.op == "exp"]
    assert exp.id in recording.passes[-2].nodes
    np.testing.assert_allclose(np.asarray(recording.value(exp.outputs[0])), np.exp([1, 2]), rtol=1e-6)
    assert recording.passes[-2].steps[-2].node == exp.id
    assert recording.passes[-2].steps[-2].freed


def test_values_of_a_leaf_that_is_overwritten_unseen_are_told_apart(search: Search) -> None:
    _, recording = search("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for number in range(20):
            w.grad = None
            (w * w).sum().backward()
            w.data -= 0.25 * w.grad
        raise ValueError
    """)
    products = [node for node in recording.nodes if node.op == "mul"]
    values = [np.asarray(recording.value(node.operands[0].ref)).tolist() for node in products]
    assert values == [[1.0, 2.0], [0.5**19, 0.5**18]], "in the first pass and in the twentieth"


def test_gradients_that_add_up_are_seen_in_two_passes_in_a_row(search: Search) -> None:
    _, recording = search("""\
        import microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        for number in range(30):
            (w * 3).backward()
        raise ValueError
    """)
    assert passes(recording) == [1, 30]
    (before,) = recording.passes[-1].grads.values()
    assert before == 87


TWO_LINES = """\
    import microtape as mt
    w, v = mt.tensor(1.0, requires_grad=True), mt.tensor(1.0, requires_grad=True)
    for number in range({}):
        (w * 2).backward()
        w.grad = None
        (v * 3).backward()
        w.grad = None
        if number == {}:
            raise ValueError
"""


def test_of_several_lines_that_call_backward_the_last_pass_of_each_is_kept(search: Search) -> None:
    _, recording = search(TWO_LINES.format(20, 15), within=f"{__name__}:finding:error,28")
    assert passes(recording) == [1, 26, 27, 28]
    assert recording.notes[-1].endswith("pass 28; before it, the first and the last from each line are kept")


ROUNDS = """\
    import microtape as mt
    mt.manual_seed(0)
    maker, critic = mt.nn.Linear(3, 4), mt.nn.Sequential(mt.nn.Linear(4, 8), mt.nn.Softplus(), mt.nn.Linear(8, 1))
    maker_steps = mt.optim.Adam(maker.parameters(), lr=0.001)
    critic_steps = mt.optim.Adam(critic.parameters(), lr=0.001)
    for _ in range(8):
        for _ in range(5):
            critic_steps.zero_grad()
            critic(mt.randn(8, 4)).mean().neg().backward()
            critic(maker(mt.randn(8, 3))).mean().backward()
            critic_steps.step()
        maker_steps.zero_grad()
        critic(maker(mt.randn(8, 3))).mean().neg().backward()
        maker_steps.step()
"""


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        ("maker(mt.randn(8, 3))).mean().neg()", "maker(mt.randn(8, 3)).detach()).mean().neg()", "no update"),
        ("maker_steps.zero_grad()", "pass", "accumulated"),
    ],
)
def test_what_shows_over_two_long_rounds_of_several_lines_is_found(
    search: Search, right: str, wrong: str, kind: str
) -> None:
    ended, recording = search(ROUNDS.replace(right, wrong))
    assert ended.search[:2] == ("found", 23)
    assert [one.kind for one in findings(recording)] == [kind]


def test_lines_that_had_their_time_are_forgotten(search: Search) -> None:
    ended, recording = search(ROUNDS, within=f"{__name__}:finding:error,60")
    assert ended.search[:2] == ("found", 60)
    assert passes(recording) == [1, 55, 58, 59, 60]
    ended, _ = search(ROUNDS)
    assert ended.search[:2] == ("finished", 88)


@pytest.mark.parity
def test_a_bias_that_gets_the_same_from_each_pass_is_not_taken_for_one_that_is_never_reset(search: Search) -> None:
    ended, _ = search("""\
        import torch
        torch.manual_seed(0)
        critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.Adam(critic.parameters(), lr=0.001)
        for _ in range(8):
            for _ in range(2):
                optimizer.zero_grad()
                critic(torch.randn(8, 4)).mean().neg().backward()
                critic(torch.randn(8, 4)).mean().backward()
                optimizer.step()
            optimizer.zero_grad()
            critic(torch.randn(8, 4)).mean().neg().backward()
            optimizer.step()
    """)
    assert ended.search[:2] == ("finished", 40)


def test_all_passes_of_a_short_program_are_kept_if_something_is_found(search: Search) -> None:
    _, recording = search(TWO_LINES.format(20, 15), within=f"{__name__}:finding:error,6")
    assert passes(recording) == [1, 2, 3, 4, 5, 6]
    assert recording.notes[-1] == "the program was stopped at pass 6"


def test_of_long_passes_the_search_forgets_all_but_the_last(search: Search) -> None:
    _, recording = search("""\
        import microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        for number in range(6):
            loss = w
            for _ in range(1_700):
                loss = loss + 1
            loss.backward()
            w.grad = None
        raise ValueError
    """)
    assert passes(recording) == [1, 6]


def test_the_first_pass_is_there_while_the_script_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        textwrap.dedent("""\
        import os, time, microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        (w * w).backward()
        print("unseen")
        while not os.path.exists("go on"):
            time.sleep(0.01)
        try:
            print(input())
        except EOFError:
            os.system("echo nothing to read")
        (w * w).exp().sum().backward()
        raise ValueError
    """)
    )
    seen = []

    def arrived() -> None:
        seen.append(load("run.tape"))
        Path("go on").touch()

    told: list[int] = []
    with open("printed", "wb") as output:
        ended = record_script(
            "train.py", out="run.tape", output=output, search=ENOUGH, hidden_output="hidden", arrived=arrived,
            progress=lambda passes, seconds: told.append(passes),
        )  # fmt: skip
    assert [passes(one) for one in seen] == [[1]]
    assert ended.search[:2] == ("failed", 2)
    assert told
    assert told[0] == 1
    hidden = Path("hidden").read_text()
    assert hidden.startswith("unseen\nnothing to read\nTraceback")
    assert printed() == ""


def test_a_script_that_asks_for_input_in_the_background_is_not_blamed(search: Search) -> None:
    text = """\
        import microtape as mt
        (mt.tensor(1.0, requires_grad=True) * 2).backward()
        input()
    """
    ended, _ = search(text, hidden_output="hidden")
    assert (ended.exit_code, ended.search) == (0, ("finished", 1, False))
    assert ended.message is not None
    assert ended.message.startswith("train.py asked for input")
    ended, recording = search(text)
    assert (ended.exit_code, ended.search[:2]) == (1, ("failed", 1))
    assert recording.error is not None


def test_a_search_ends_at_the_end_of_a_pass_with_finally_blocks(search: Search) -> None:
    ended, recording = search(
        """\
        import microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        try:
            while True:
                (w * w).backward()
        except Exception:
            print("not reached")
        finally:
            print("finally")
        """,
        search=0.2,
    )
    assert ended[1:3] == (0, None)
    assert ended.search is not None
    assert ended.search.why == "time over"
    assert ended.search.passes > 1
    assert passes(recording) == [1, 2]  # with the notice that .grad adds up
    assert printed() == "finally\n"


def test_a_script_that_swallows_everything_is_stopped_all_the_same(search: Search) -> None:
    ended, _ = search(
        """\
        import microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        while True:
            try:
                (w * w).backward()
            except BaseException:
                print("again")
        """,
        search=0.2,
    )
    assert ended.search is not None
    assert ended.search.why == "time over"
    assert printed() == "again\n" * 3


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_script_that_does_not_come_to_the_end_of_a_pass_is_killed(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("microtape.recording.script.running._GRACE", 0.1)
    monkeypatch.setattr("microtape.recording.script.running._SHORT_GRACE", 0.1)
    Path("train.py").write_text(
        "import threading, microtape as mt\n(mt.tensor(1.0, requires_grad=True) * 2).backward()\n"
        "threading.Event().wait()\n"
    )
    running: list[Any] = []
    stop = how == "stop"
    ended = record_script(
        "train.py", out="run.tape", search=ENOUGH if stop else 0.1, started=running.append,
        arrived=lambda: running[0].stop() if stop else None,
    )  # fmt: skip
    assert ended.search[:2] == ("killed", 1)
    assert ended.exit_code == 0
    assert ended.message is not None
    assert "did not come to the end of another pass in time" in ended.message
    assert passes(load("run.tape")) == [1]


def test_stopping_lets_the_pass_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        "import microtape as mt\nw = mt.tensor(1.0, requires_grad=True)\ntry:\n    while True:\n"
        "        (w * 2).backward()\nfinally:\n    open('finally', 'w').close()\n"
    )
    running: list[Any] = []
    ended = record_script(
        "train.py", out="run.tape", search=ENOUGH, started=running.append, arrived=lambda: running[0].stop()
    )
    assert ended.search is not None
    assert ended.search.why == "stopped"
    assert os.path.exists("finally")


def test_a_script_that_dies_leaves_its_first_pass(search: Search) -> None:
    text = """\
        import os, microtape as mt
        (mt.tensor(1.0, requires_grad=True) * 2).backward()
        os.{}
    """
    ended, recording = search(text.format("_exit(4)"))
    assert ended[1:3] == (4, "train.py ended its process with status 4: its first pass is kept")
    assert passes(recording) == [1]
    ended, _ = search(text.format("kill(os.getpid(), 9)"))
    assert ended[1:3] == (137, "train.py was killed by SIGKILL: its first pass is kept")
    assert ended.search[:2] == ("finished", 1)


def test_a_first_pass_that_fails_ends_the_search(search: Search) -> None:
    ended, recording = search("""\
        import microtape as mt
        w = mt.tensor(1.0, requires_grad=True)
        hidden = w.exp()
        hidden += 1
        hidden.backward()
    """)
    assert ended.exit_code == 1
    assert ended.search[:2] == ("failed", 1)
    assert recording.passes[0].has_failed


@contextlib.contextmanager
def finding(argument: str) -> Iterator[None]:
    """`error,5`: such a finding in pass 5 and all later ones. Entered in the process of the script."""
    from microtape.recording.findings import Finding
    from microtape.recording.script import search

    severity, number = argument.split(",")
    place = Place("train.py", 3, 3, 0, 1, "<module>")

    def found(recording: Recording) -> tuple[Finding, ...]:
        if recording.passes[-1].index + 1 < int(number):
            return ()
        return (Finding("nan", severity, "NaN", (), "", place),)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "findings", found)
        yield


LOOP = """\
    import microtape as mt
    w = mt.tensor(1.0, requires_grad=True)
    for number in range(1, 31):
        (w * number).backward()
"""


@pytest.mark.parametrize(
    ("what", "kept", "end"),
    [
        ("error,25", [1, 24, 25], ("found", 25)),
        ("warning,2", [1, 2], ("found", 2)),
        ("notice,25", [1, 24, 25], ("finished", 30)),
        ("warning,1", [1], ("finished", 30)),
        ("error,1", [1], ("found", 1)),
    ],
)
def test_the_search_ends_at_the_first_error_or_warning_that_is_new(
    search: Search, what: str, kept: list[int], end: tuple[str, int]
) -> None:
    ended, recording = search(LOOP, within=f"{__name__}:finding:{what}")
    assert ended[1:3] == (0, None)
    assert passes(recording) == kept
    assert ended.search[:2] == end
    assert recording.notes[-1].startswith("the program was stopped" if end[0] == "found" else "the program went on")


TWO_BATCHES = """\
    import microtape as mt
    w = mt.tensor(1.0, requires_grad=True)
    optimizer = mt.optim.SGD([w], lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        (w - 2).pow(2).backward()
        (w - 3).pow(2).backward()
        optimizer.step()
"""
TWO_MODELS = """\
    import microtape as mt
    for model in (w := mt.tensor(1.0, requires_grad=True), v := mt.tensor(1.0, requires_grad=True)):
        for _ in range(3):
            (model * 2).backward()
            model.grad = None
"""
LATER_AND_NEVER = """\
    import microtape as mt
    w = mt.tensor(1.0, requires_grad=True)
    later = mt.tensor(2.0, requires_grad=True)
    never = mt.tensor(3.0, requires_grad=True)
    with mt.no_grad():
        constant = never * 2
    for _ in range(3):
        (w * constant).backward()
        (later * 2).backward()
        w.grad = later.grad = None
"""
LEFT_OUT = """\
    import microtape as mt
    w, b = mt.tensor(1.0, requires_grad=True), mt.tensor(1.0, requires_grad=True)
    optimizer = mt.optim.SGD([w], lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        (w + b - 5).pow(2).backward()
        optimizer.step()
"""
BOLD_STEP = """\
    import microtape as mt
    w = mt.tensor(1.0, requires_grad=True)
    for rate in (1.5, 0.4, 0.4, 0.4):
        loss = (w - 1.5).pow(2)
        loss.backward()
        w.data -= rate * w.grad
        w.grad = None
"""
FACTORS = """\
    import microtape as mt
    w, v = mt.tensor(1.0, requires_grad=True), mt.tensor(0.0, requires_grad=True)
    for _ in range(5):
        (w * v - 1).pow(2).backward()
        v.data -= {rate} * v.grad
        w.grad = v.grad = None
"""
STARTS_AT_ZERO, STAYS_AT_ZERO = FACTORS.format(rate=0.1), FACTORS.format(rate=0.0)


USED_NOW_AND_THEN = """\
    import microtape as mt
    from microtape import nn
    for model in (nn.Linear(2, 1), nn.Bilinear(2, 2, 1)):
        extra = nn.Linear(2, 1)
        optimizer = mt.optim.SGD([*model.parameters(), *extra.parameters()], lr=0.01)
        for number in range(40):
            x = mt.ones(4, 2)
            y = model(x) if isinstance(model, nn.Linear) else model(x, x)
            loss = (y + extra(x) if number % 6 == 0 else y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


def test_a_leaf_that_only_some_passes_use_is_right(search: Search) -> None:
    ended, recording = search(USED_NOW_AND_THEN)
    assert ended.search is not None
    assert ended.search.why == "finished"
    assert findings(recording) == ()


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (TWO_BATCHES, []), (TWO_MODELS, []), (BOLD_STEP, []), (STARTS_AT_ZERO, []),
        (LEFT_OUT, ["accumulated"]), (STAYS_AT_ZERO, ["zero gradient"]), (LATER_AND_NEVER, ["no gradient"]),
    ],
)  # fmt: skip
def test_a_notice_that_later_passes_refute_is_gone(search: Search, text: str, kinds: list[str]) -> None:
    ended, recording = search(text)
    assert ended.search is not None
    assert ended.search.why == "finished"
    assert [one.kind for one in findings(recording)] == kinds
    assert "later" not in "".join(one.headline for one in findings(recording))


def test_a_search_chooses_its_own_passes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    for other in ({"passes": "2"}, {"until": "nan"}):
        with pytest.raises(RecordingError, match="a search begins after the first pass: choose no other passes"):
            record_script(tmp_path / "train.py", out=tmp_path / "run.tape", search=1, **other)  # type: ignore[arg-type]


def test_a_graph_that_a_forgotten_pass_freed_is_explained_with_its_line(search: Search) -> None:
    ended, recording = search(
        """\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        kept = []
        for i in range(30):
            loss = (w * w).sum() * float(i + 1)
            kept += [loss] if i == 2 else []
            if i == 29:
                loss = loss + kept[0]
            loss.backward()
            w.grad = None
        """
    )
    assert ended.search[:2] == ("failed", 30)
    assert passes(recording) == [1, 29, 30]
    (found,) = [one for one in findings(recording) if one.severity == "error"]
    assert found.kind == "freed"
    assert found.headline.startswith("kept[0] carries the graph of pass 3 into pass 30")
    assert found.place is not None
    assert found.place.line == 8
    assert [(role, place.line) for role, place in found.others] == [("freed", 9), ("recorded", 5)]
