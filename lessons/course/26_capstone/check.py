import linecache
from random import Random

import numpy as np

import microtape as mt

PROGRAMS = 200
LONGEST = 8  # operations


def operations(exercise):
    """One operation at a time: +, *, @, tanh and sum"""
    x_plus_y = _gradients(exercise, lambda x, y: (x + y).sum())
    x_times_y = _gradients(exercise, lambda x, y: (x * y).sum())
    x_at_y = _gradients(exercise, lambda x, y: (x @ y).sum())
    return {
        "the gradient of x in x + y": x_plus_y[0],
        "the gradient of y in x + y": x_plus_y[1],
        "the gradient of x in x * y": x_times_y[0],
        "the gradient of y in x * y": x_times_y[1],
        "the gradient of x in x @ y": x_at_y[0],
        "the gradient of y in x @ y": x_at_y[1],
        "the gradient of x in x.tanh()": _gradients(exercise, lambda x, y: x.tanh().sum())[0],
        "the gradient of x in x.sum()": _gradients(exercise, lambda x, y: x.sum())[0],
    }


def values(exercise):
    """The results of the operations, before any backward"""
    x, y = exercise.Tensor([[0.5, -1.0]]), exercise.Tensor([[3.0], [2.0]])
    return {"x @ y": (x @ y).value, "x + y": (x + y).value, "(x * y).tanh().sum()": (x * y).tanh().sum().value}


def fan_out(exercise):
    """x is used several times: (x · x + x) · x"""
    return _gradients(exercise, lambda x, y: ((x * x + x) * x).sum())[0]


def broadcasting(exercise):
    """Broadcast operands: a row, a column and a single number"""
    table, row, column, single = (
        exercise.Tensor(value) for value in (np.arange(6.0).reshape(2, 3), [1.0, 2.0, 4.0], [[3.0], [5.0]], 7.0)
    )
    ((table * row + column) * single).sum().backward()
    return {"row.grad": _grad(row), "column.grad": _grad(column), "single.grad": _grad(single)}


def late_use(exercise):
    """A result that is used again at the very end: s = x · x, then s + tanh(tanh(s))"""

    def program(x, y):
        s = x * x
        return (s + s.tanh().tanh()).sum()

    return _gradients(exercise, program)[0]


def twice(exercise):
    """backward of x · x, then of 3 · x: .grad accumulates in the leaf and nowhere else"""
    x = exercise.Tensor(2.0)
    square, triple = x * x, x * exercise.Tensor(3.0)
    square.backward()
    triple.backward()
    return {"x.grad": _grad(x), "square.grad": _grad(square)}


def arrays_of_their_own(exercise):
    """backward of (x + y).sum(), twice, and of (x + y + x).sum(): what x gets does not change what y gets"""
    x, y = exercise.Tensor([1.0, 2.0]), exercise.Tensor([3.0, 4.0])
    total = (x + y).sum()
    total.backward()
    total.backward()
    u, v = exercise.Tensor([1.0, 2.0]), exercise.Tensor([3.0, 4.0])
    (u + v + u).sum().backward()
    return {"x.grad": _grad(x), "y.grad": _grad(y), "x.grad of (x + y + x).sum()": _grad(u),
            "y.grad of (x + y + x).sum()": _grad(v)}  # fmt: skip


def not_reached(exercise):
    """A leaf that the result does not depend on"""
    x, y = exercise.Tensor(2.0), exercise.Tensor(3.0)
    x * y  # leads nowhere
    (x * x).backward()
    return {"x.grad": _grad(x), "y.grad": _grad(y)}


def network(exercise):
    """A network of two layers learns exclusive or: 30 steps of training"""
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=shape) for shape in ((2, 4), (4,), (4, 1), (1,))]
    inputs = exercise.Tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    minus_wanted = exercise.Tensor([[0.0], [-1.0], [-1.0], [0.0]])
    losses = []
    for _ in range(30):
        w1, b1, w2, b2 = leaves = [exercise.Tensor(weight) for weight in weights]
        error = (inputs @ w1 + b1).tanh() @ w2 + b2 + minus_wanted
        loss = (error * error).sum()
        loss.backward()
        losses.append(float(loss.value))
        weights = [leaf.value - 0.05 * leaf.grad for leaf in leaves]
    return {"the loss, step by step": np.round(losses, 6).tolist()}


def recording(exercise):
    """What your engine tells the writer: loss = Σ (x · w + b)², twice"""
    try:
        from microtape.recording import RecordingWriter
    except ModuleNotFoundError:
        return "PyTorch stands in the engine's place, and has none"
    writer = RecordingWriter()
    with_writer(exercise, writer)
    recorded = writer.recording
    return {
        "operations": [_told(recorded, node) for node in recorded.nodes if node.variable is None],
        "passes": [_deliveries(recorded, one) for one in recorded.passes],
    }


def with_writer(exercise, writer):
    exercise.writer = writer
    x, w, b = exercise.Tensor([[1.0, 2.0], [3.0, 4.0]]), exercise.Tensor([2.0, -1.0]), exercise.Tensor(0.5)
    product = x * w
    shifted = product + b
    squares = shifted * shifted
    loss = squares.sum()
    try:
        for _ in range(2):
            loss.backward()
    finally:
        exercise.writer = None


def _told(recorded, node):
    """An operation with its operands, by their values."""
    operands = [recorded.tensors[one.ref.tensor].values[0].tolist() if one.ref else one.text for one in node.operands]
    return f"{node.op} of {' and '.join(map(str, operands))}"


def _deliveries(recorded, one):
    """What each row takes; for each receiver the terms that arrive, in any order, and the sum; each leaf's .grad."""
    found = {}
    for step in one.steps:
        if step.grad_after is None:
            taken = found.setdefault(f"the row of {recorded.label(step.node)} takes", [])
            taken.append(None if step.grad_outputs[0] is None else step.grad_outputs[0].tolist())
        for delivery in step.deliveries:
            to = found.setdefault(f"to {recorded.label(delivery.node)}", {"terms": [], "sum": None})
            to["terms"] = sorted([*to["terms"], delivery.term.tolist()], key=str)
            to["sum"] = delivery.total.tolist()
        if step.grad_after is not None:
            found[f"{recorded.label(step.node)}.grad"] = step.grad_after.tolist()
    return dict(sorted(found.items()))


def random_programs(exercise):
    """200 random programs, on your tape and on the engine"""
    for length in range(1, LONGEST + 1):
        for seed in range(PROGRAMS // LONGEST):
            lines = _write(Random(1000 * length + seed), length)
            if _compare(lines, _leaves(lines), exercise.Tensor):
                return f"differs from the engine at   {_where(lines, exercise.Tensor)}   in   {'; '.join(lines)}"
    return "the same as the engine, every time"


def long_program(exercise):
    """A program of 6,000 rows"""
    x = exercise.Tensor(1.0)
    half = exercise.Tensor(0.5)
    result = x
    for _ in range(2000):
        result = result * half + result * half
    result.backward()
    return _grad(x)


def _gradients(exercise, program):
    x = exercise.Tensor([[0.5, -1.0], [2.0, 0.25]])
    y = exercise.Tensor([[3.0, 1.0], [-2.0, 0.5]])
    program(x, y).backward()
    return [_grad(x), _grad(y)]


def _grad(tensor):
    """A single number may be an array or not, as numpy likes."""
    return None if tensor.grad is None else np.asarray(tensor.grad)


LEAVES = {"a": (2, 2), "b": (2, 2), "c": (2, 1), "d": (2,), "e": ()}


def _write(rng, length):
    """The lines of a random program that can be run."""
    shapes = dict(LEAVES)
    lines = []
    for number in range(1, length + 1):
        name = f"r{number}"
        # later results are chosen more often than earlier ones, so that
        # programs grow deep
        one, other = (rng.choice(list(shapes)[-rng.randint(1, len(shapes)) :]) for _ in "xy")
        choices = [(f"{one} + {other}", np.broadcast_shapes(shapes[one], shapes[other]))]
        choices.append((f"{one} * {other}", choices[0][1]))
        choices.append((f"{one}.tanh()", shapes[one]))
        if len(shapes[one]) == len(shapes[other]) == 2 and shapes[one][1] == shapes[other][0]:
            choices.append((f"{one} @ {other}", (shapes[one][0], shapes[other][1])))
        expression, shapes[name] = rng.choice(choices)
        lines.append(f"{name} = {expression}")
    return [*lines, f"loss = r{length}.sum()"]


def _leaves(lines):
    rng = np.random.default_rng(len(lines))
    return {name: np.asarray(rng.uniform(-1.0, 1.0, shape)) for name, shape in LEAVES.items()}


def _run(lines, values, tensor):
    """The namespace of a program after its backward. The stepper knows the program as random_program.py."""
    names = {name: tensor(value) for name, value in values.items()}
    code = "".join(f"{line}\n" for line in [*lines, "loss.backward()"])
    linecache.cache["random_program.py"] = (len(code), None, code.splitlines(keepends=True), "random_program.py")
    exec(compile(code, "random_program.py", "exec"), {}, names)
    return names


def _compare(lines, values, tensor):
    """Which gradient differs and how, or None if all are the same."""
    mine = _run(lines, values, tensor)
    engine = _run(lines, values, _engine)
    for name in values:
        did, expected = mine[name].grad, engine[name].grad
        expected = None if expected is None else expected.numpy()
        if (did is None) != (expected is None):
            return f"{name}.grad is {_short(did)}, the engine's is {_short(expected)}"
        if expected is not None and (np.shape(did) != expected.shape or not np.allclose(did, expected)):
            return f"{name}.grad is {_short(did)}, the engine's is {_short(expected)}"
    return None


def _where(lines, tensor):
    """The line at which the two backward passes differ: the last one from which on the program alone goes wrong.

    Results of earlier lines become leaves, so that their gradients can be compared. The engine then runs the whole
    program once more, to make it the last pass of a recording.
    """
    values = {name: each.detach().numpy() for name, each in _run(lines, _leaves(lines), _engine).items()}
    for start in range(len(lines) - 1, -1, -1):
        found = _compare(lines[start:], dict(list(values.items())[: len(LEAVES) + start]), tensor)
        if found:
            break
    _run(lines, _leaves(lines), _engine)
    return f"{lines[start]}   ({found})"


def _engine(value):
    return mt.tensor(value, requires_grad=True)


def _short(value):
    return None if value is None else np.round(value, 4).tolist()


def at_random(exercise, random):
    lines = _write(Random(int(random.integers(1 << 30))), int(random.integers(1, 9)))
    values = {name: np.asarray(random.uniform(-1.0, 1.0, shape)) for name, shape in LEAVES.items()}
    names = _run(lines, values, exercise.Tensor)
    return {name: _grad(names[name]) for name in LEAVES}
