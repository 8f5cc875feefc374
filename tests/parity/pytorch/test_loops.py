"""`with record(...)` around a loop of torch's: the same as around microtape's, and the program stays as it is."""

import contextlib

import pytest

import microtape
from microtape import load, record


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(engine, passes, *, nan=None):
    """Gradient descent on w² + log w; the logarithm of a negative number in pass `nan`. Returns the losses and w."""
    w = engine.tensor([1.0, 2.0], requires_grad=True)
    losses = []
    for number in range(1, passes + 1):
        w.grad = None
        loss = ((w * (-1.0 if number == nan else 1.0)).log() + w * w).sum()
        loss.backward()
        losses.append(loss.item())
        with engine.no_grad():
            w -= 0.01 * (w.grad if number != nan else 0.0)
    return losses, w


def numbers(recording):
    return [one.index + 1 for one in recording.passes]


def modes():
    from torch.overrides import _get_current_function_mode_stack

    return _get_current_function_mode_stack()


def test_the_pass_where_it_happens_is_written_at_once_and_the_program_goes_on(there, capfd):
    import torch

    with record(until="nan", save="nan.tape"):
        losses, _ = train(torch, 6, nan=4)
        assert numbers(load("nan.tape")) == [4]
    assert repr(losses) == repr(train(torch, 6, nan=4)[0])
    assert capfd.readouterr().err == "microtape: nan in pass 4: written to nan.tape; the program goes on unrecorded\n"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
@pytest.mark.parametrize("size", [3, 5_000, 20_000])
@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_nan_is_noticed_in_small_and_in_large_arrays_of_any_dtype(dtype, size, where):
    import torch

    x = torch.ones(size, dtype=getattr(torch, dtype), requires_grad=True)
    with record(until="nan") as loop:
        for number in range(1, 5):
            x.grad = None
            factor = torch.ones_like(x)
            factor[-1] = float("nan") if number == 3 else 1.0
            y = x * factor if where == "forward" else x.clone()
            if where == "backward":
                y.register_hook(lambda gradient, factor=factor: gradient * factor)
            y.sum().abs().backward()
    assert numbers(loop.recording) == [3]


def test_a_nan_is_noticed_among_large_arrays_of_a_graph_that_was_looked_into(there):
    import torch

    bad, good = (torch.full((20_000,), value, requires_grad=True) for value in (float("nan"), 1.0))
    with record(until="nan") as loop:
        loss = good.exp().sum()  # of one graph, whose passes stay while it can be used again
        loss.backward(retain_graph=True)
        _ = loop._recorder.recording  # makes all summaries, as `loop.recording` and a journal do
        (loss + (bad * 2)[:1].sum()).backward(retain_graph=True)
    assert numbers(loop.recording) == [1, 2]


def test_while_no_nan_is_computed_no_recording_is_made(monkeypatch):
    import torch

    from microtape.recording.engines import ProgramRecorder

    made = []
    whole = ProgramRecorder.recording.fget
    monkeypatch.setattr(ProgramRecorder, "recording", property(lambda one: made.append(1) or whole(one)))
    for engine in (microtape, torch):
        with record(until="nan") as loop:
            train(engine, 8, nan=7)
            assert len(made) == 2, "the pass where it happened, to look into and to keep"
        assert numbers(loop.recording) == [7]
        made.clear()


def test_a_pass_that_fails_is_written_before_the_program_fails(there):
    import torch

    loss = (torch.tensor(2.0, requires_grad=True) ** 2).exp()
    with record(until="error", save="error.tape"):
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        assert numbers(load("error.tape")) == [2]


def test_passes_by_their_numbers(there):
    import torch

    with record(passes="3-5", save="some.tape"):
        train(torch, 8)
    assert numbers(load("some.tape")) == [3, 4, 5]


@pytest.mark.parametrize("every", [1, 2, 5])
def test_the_course_is_that_of_the_same_program_on_microtape(there, every):
    import torch

    courses = []
    for engine in (microtape, torch):
        with record(every=every, save="course.tape"):
            kept = train(engine, 11)  # of a leaf that is gone no update is known
        assert len(kept[0]) == 11
        courses.append([one._replace(loss=float(one.loss)) for one in load("course.tape").courses])
    own, other = courses
    assert [one.pass_ for one in own] == [one.pass_ for one in other]
    assert len(own) == 11 // every
    for ours, theirs in zip(own, other, strict=True):
        (first,), (second,) = ours.parameters, theirs.parameters
        assert (first.name, first.shape) == (second.name, second.shape) == ("w", (2,))
        assert [*first.weight, *first.gradient, first.ratio, ours.loss] == pytest.approx(
            [*second.weight, *second.gradient, second.ratio, theirs.loss], rel=1e-5
        )


def test_parameters_are_named_by_their_paths(there):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with record(every=2) as loop:
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
    assert [[one.name for one in course.parameters] for course in loop.recording.courses] == [
        ["model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias"]
    ] * 2
    assert all(one.ratio for course in loop.recording.courses for one in course.parameters)


# While nothing is wanted


def test_nothing_of_ours_is_on_the_stack_of_modes_while_nothing_is_wanted(there):
    import torch

    model = torch.nn.Linear(2, 1)
    with record(passes="3"):
        awake = []
        for _ in range(5):
            loss = model(torch.ones(1, 2)).sum()
            awake.append(len(modes()))
            loss.backward()
        assert awake == [0, 0, 1, 0, 0]
    assert modes() == []


def test_modes_of_the_program_keep_their_order(there):
    import torch
    from torch.overrides import TorchFunctionMode

    class Outer(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    class Inner(Outer):
        pass

    def theirs():
        return [type(one).__name__ for one in modes() if isinstance(one, Outer)]

    with Outer(), record(passes="2"), Inner():
        for _ in range(4):
            torch.nn.Linear(2, 1)(torch.ones(1, 2)).sum().backward()
            assert theirs() == ["Outer", "Inner"]
    assert modes() == []


def test_gradients_are_the_same_to_the_bit_asleep_awake_and_without(there):
    import torch

    def gradients(**asked):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
        optimizer = torch.optim.Adam(model.parameters())
        with record(**asked):
            for _ in range(6):
                optimizer.zero_grad()
                model(torch.randn(4, 8)).pow(2).sum().backward()
                optimizer.step()
        return [one.detach().clone() for one in model.parameters()]

    plain = gradients(passes="1000")
    for asked in ({"passes": "3-4"}, {"every": 2}, {"every": 1}, {"until": "nan"}):
        assert all(map(torch.equal, gradients(**asked), plain))


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"passes": "3"}, {"every": 2}, {"until": "nan"}])
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_trains_as_without_us_while_the_recorder_sleeps_and_wakes(there, asked):
    import torch

    def train(context):
        torch.manual_seed(0)
        torch._dynamo.reset()
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        compiled = torch.compile(model, backend="aot_eager")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with context:
            for _ in range(6):
                optimizer.zero_grad()
                compiled(torch.randn(4, 8)).pow(2).sum().backward()
                optimizer.step()
        return [one.detach().clone() for one in model.parameters()]

    plain = train(contextlib.nullcontext())
    assert all(map(torch.equal, train(record(**asked)), plain))
