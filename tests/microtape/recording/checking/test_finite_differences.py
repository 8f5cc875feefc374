"""`--check`: what finite differences say of the gradients of a program, of its own Functions in particular."""

import importlib
import json
import warnings

import numpy as np
import pytest

import microtape as mt
from microtape import load, save
from microtape.recording.script.run import record_script
from microtape.recording.writing.recorder import Recorder
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, shown, stepper
from tui.commands.cli import main
from tui.shell.exits import Exit
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.why import answer_lines


class Cube(mt.autograd.Function):
    factor = 3

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * Cube.factor * x**2


class WithSetup(mt.autograd.Function):
    @staticmethod
    def forward(x, scale, y):
        return x * scale + y, y * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, grad, other):
        return grad * ctx.scale, None, grad + 2 * other


class Noisy(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + mt.randn(3)

    @staticmethod
    def backward(ctx, grad):
        return grad


def checked(program):
    with Recorder(check="all") as recorder:
        program()
    return recorder.recording


def verdicts(recording):
    return {recording.nodes[one.node].name: (one.agrees, one.problem) for one in recording.checks}


def why(recording, what):
    return [" ".join(plain(one).split()) for one in answer_lines(StepCursor.open(recording).end(), what)]


def vector(*numbers, **options):
    return mt.tensor(numbers or (1.0, -2.0, 3.0), requires_grad=True, **options)


def test_a_function_that_is_right_agrees():
    x = vector()
    recording = checked(lambda: Cube.apply(x).sum().backward())
    assert verdicts(recording)["CubeBackward"] == (True, "")
    assert "finite differences agree: 12.00 vs 12.00" in why(recording, "x[1]")


def test_a_function_that_is_wrong_differs_and_both_numbers_are_shown(monkeypatch):
    monkeypatch.setattr(Cube, "factor", 2)
    x = vector()
    recording = checked(lambda: Cube.apply(x).sum().backward())
    assert verdicts(recording)["CubeBackward"] == (False, "")
    assert "finite differences differ: it sent 8.000, they give 12.00" in why(recording, "x[1]")


def test_functions_of_installed_packages_are_checked_only_if_everything_is(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "zoo_of_functions.py").write_text(
        "import microtape as mt\n\n\n"
        "class Tangent(mt.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        return x * 2\n\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad_z):\n"
        "        return grad_z\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    tangent = importlib.import_module("zoo_of_functions").Tangent
    for check, names in (("functions", {"CubeBackward"}), ("all", {"CubeBackward", "SumBackward0", "TangentBackward"})):
        with Recorder(check=check) as recorder:
            Cube.apply(tangent.apply(vector())).sum().backward()
        assert set(verdicts(recorder.recording)) == names


def test_several_outputs_constants_and_setup_context():
    x, y = vector(), vector(4.0, 5.0, 6.0)

    def program():
        a, b = WithSetup.apply(x, 3.0, y)
        (a * b).sum().backward()

    assert verdicts(checked(program))["WithSetupBackward"] == (True, "")


def test_what_is_random_cannot_be_checked_and_the_program_has_the_numbers_that_it_would_have_had():
    x = vector()
    mt.manual_seed(3)
    recording = checked(lambda: Noisy.apply(x).sum().backward())
    after = mt.randn(2)
    assert "another result when it is called again" in verdicts(recording)["NoisyBackward"][1]
    mt.manual_seed(3)
    mt.randn(3)
    assert np.array_equal(after.numpy(), mt.randn(2).numpy())


@pytest.mark.parametrize("dtype", [mt.float32, mt.float64])
def test_the_engine_s_own_operations_agree(dtype):
    x, w = vector(dtype=dtype), mt.tensor([[1.0, 0.5, -1.0], [2.0, 0.0, 3.0]], dtype=dtype, requires_grad=True)

    def program():
        h = (w @ x).tanh()
        y = h.softmax(dim=0) * x[0] + w.t().sum(dim=0)
        ((y**2).mean() + mt.maximum(h, h * 2).sum()).backward()

    recording = checked(program)
    assert len(recording.checks) > 10
    assert not [one for one in recording.checks if not one.agrees]


def test_a_large_array_is_checked_at_some_of_its_elements_the_largest_among_them():
    x = mt.tensor(np.linspace(0.1, 5, 400), requires_grad=True)
    recording = checked(lambda: x.exp().sum().backward())
    one = next(one for one in recording.checks if recording.nodes[one.node].op == "exp")
    assert one.agrees
    assert len(one.elements) <= 64
    assert 399 in one.elements


def test_a_point_at_the_edge_of_the_domain_is_not_called_wrong():
    x = mt.tensor(0.0, requires_grad=True)
    assert "SqrtBackward0" not in verdicts(checked(lambda: x.sqrt().backward()))


def test_checks_are_kept_in_the_file(tmp_path):
    x = vector()
    recording = checked(lambda: Cube.apply(x).sum().backward())
    save(recording, tmp_path / "run.tape")
    again = load(tmp_path / "run.tape").checks
    assert [one._replace(analytical=None, numerical=None) for one in again] == [
        one._replace(analytical=None, numerical=None) for one in recording.checks
    ]
    assert all(np.array_equal(a.numerical, b.numerical) for a, b in zip(again, recording.checks, strict=True))


def test_without_it_the_formula_is_checked_with_the_recorded_numbers():
    assert "finite differences agree: 15.00 vs 15.00" in why(handmade.diamond(), "x")
    x = vector()
    recording = mt.record(lambda: (x.exp() * x).sum().backward())
    assert not recording.checks
    assert "finite differences agree: 20.09 vs 20.09" in why(recording, "x[2]")
    assert "finite differences agree: 60.26 vs 60.26" in why(recording, "x[2]")


SCRIPT = """\
import microtape as mt
class Double(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 3
x = mt.tensor([1.0, 2.0], requires_grad=True)
Double.apply(x).sum().backward()
"""


def test_on_the_command_line(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "double.py").write_text(SCRIPT)
    assert main(["trace", "double.py", "--check", "--why", "x[0]"]) == Exit.OK
    out, err = capfd.readouterr()
    assert "finite differences differ: it sent 3.000, they give 2.000" in out
    assert err == "microtape: finite differences differ from 1 of 2 gradients: Double (double.py:10)\n"
    assert main(["record", "double.py", "--check"]) == Exit.OK
    assert "finite differences differ from 1 of 2" in capfd.readouterr().err
    assert main(["trace", "double.tape", "--node", "Double"]) == Exit.OK
    assert "checked  finite differences differ: it sent 3.000, they give 2.000" in capfd.readouterr().out
    assert main(["trace", "double.py", "--why", "x[0]"]) == Exit.OK
    assert "finite differences" not in capfd.readouterr().out
    assert main(["trace", "double.py", "--check", "--json"]) == Exit.OK
    assert [one["agrees"] for one in json.loads(capfd.readouterr().out)["checks"]] == [True, False]


async def test_why_shows_it(tmp_path):
    (tmp_path / "double.py").write_text(SCRIPT)
    record_script(tmp_path / "double.py", out=tmp_path / "run.tape", check="all")
    async with stepper(load(tmp_path / "run.tape")).run_test(size=LARGE) as pilot:
        await pilot.press("end", "enter")
        assert "finite differences differ: it sent 3.000, they give 2.000" in shown(pilot.app, "OptionList")


def test_a_forward_that_warns_warns_once_although_it_runs_again(recwarn):
    class Warns(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            warnings.warn("slow", UserWarning, stacklevel=1)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    before = list(warnings.filters)
    recording = checked(lambda: Warns.apply(vector(1.0, 2.0)).sum().backward())
    assert any(one.elements for one in recording.checks)
    assert [str(one.message) for one in recwarn] == ["slow"]
    assert list(warnings.filters) == before
