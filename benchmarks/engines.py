"""How each engine is spoken to: `prepare(workload)` gives a function that computes all gradients once."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.workloads import Array, Run, Workload


class MissingError(Exception):
    """An engine that is not installed, or that lacks an operation."""


class Engine:
    """An engine that is installed. `ops` has the functions that workloads are written with."""

    name = ""
    ops: Any

    @property
    def version(self) -> str:
        """Its version."""
        return version(self.name)

    def prepare(self, workload: Workload) -> Run:
        """Everything that is done once, before timing. Raises MissingError where the engine lacks an operation."""
        raise NotImplementedError

    def arrays(self, gradients: Sequence[Any]) -> list[Array]:
        """What a run returned, as arrays."""
        return [np.asarray(gradient) for gradient in gradients]


class Numpy(Engine):
    """The floor: forward and backward written by hand."""

    name = "numpy"

    def prepare(self, workload: Workload) -> Run:
        """See Engine."""
        if workload.floor is None:
            raise MissingError("no floor")
        return workload.floor(workload.parameters, workload.constants)


class Tape(Engine):
    """Engines with leaves, `backward()` and `.grad`."""

    def leaf(self, array: Array) -> Any:
        """A tensor that requires grad."""
        raise NotImplementedError

    def constant(self, value: Any) -> Any:
        """What the engine wants as a constant: arrays are converted, everything else stays as it is."""
        raise NotImplementedError

    def prepare(self, workload: Workload) -> Run:
        """See Engine."""
        leaves = [self.leaf(array) for array in workload.parameters]
        constants = [self.constant(one) if isinstance(one, np.ndarray) else one for one in workload.constants]
        loss, ops = workload.loss, self.ops

        def run() -> Sequence[Any]:
            loss(ops, leaves, constants).backward()
            gradients = [leaf.grad for leaf in leaves]
            for leaf in leaves:
                leaf.grad = None
            return gradients

        return run


class Torch(Tape):
    """torch, and microtape, which is used by the same names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = torch = importlib.import_module(name)
        if name == "torch":
            torch.set_num_threads(1)
        functional = torch.nn.functional
        self.ops = SimpleNamespace(
            sum=torch.sum,
            tanh=torch.tanh,
            relu=torch.relu,
            cross_entropy=functional.cross_entropy,
            conv2d=functional.conv2d,
            gradients=self.gradients,
        )

    @property
    def version(self) -> str:
        """Its version."""
        return str(self.module.__version__)

    def leaf(self, array: Array) -> Any:
        """See Tape."""
        return self.module.tensor(array, requires_grad=True)

    def constant(self, value: Any) -> Any:
        """See Tape."""
        return self.module.tensor(value)

    def gradients(self, loss: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """The gradients of `loss(*leaves)`, which can be differentiated again."""
        return self.module.autograd.grad(loss(*leaves), leaves, create_graph=True)


class Autograd(Engine):
    """HIPS autograd, which differentiates functions."""

    name = "autograd"

    def __init__(self) -> None:
        import autograd
        import autograd.numpy as anp

        def cross_entropy(z: Any, target: Array) -> Any:
            z = z - anp.max(z, axis=1, keepdims=True)
            log_softmax = z - anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True))
            return -anp.mean(log_softmax[np.arange(len(target)), target])

        def gradients(loss: Callable[..., Any], leaves: Sequence[Any]) -> Any:
            return autograd.grad(loss, tuple(range(len(leaves))))(*leaves)

        self.grad = autograd.grad
        self.ops = SimpleNamespace(
            sum=anp.sum,
            tanh=anp.tanh,
            relu=lambda x: anp.maximum(x, 0),
            cross_entropy=cross_entropy,
            gradients=gradients,
        )

    def prepare(self, workload: Workload) -> Run:
        """See Engine."""
        loss, ops, constants, parameters = workload.loss, self.ops, workload.constants, list(workload.parameters)
        if parameters[0].ndim == 0:
            parameters = [float(one) for one in parameters]  # what it is quickest with
        gradient = self.grad(lambda leaves: loss(ops, leaves, constants))
        return lambda: gradient(parameters)


class MyGrad(Tape):
    """MyGrad."""

    name = "mygrad"

    def __init__(self) -> None:
        import mygrad
        from mygrad.nnet.activations import relu
        from mygrad.nnet.layers import conv_nd
        from mygrad.nnet.losses import softmax_crossentropy

        def conv2d(x: Any, w: Any, b: Any) -> Any:
            return conv_nd(x, w, stride=1) + b.reshape(1, -1, 1, 1)

        self.module = mygrad
        self.ops = SimpleNamespace(
            sum=mygrad.sum,
            tanh=mygrad.tanh,
            relu=relu,
            cross_entropy=softmax_crossentropy,
            conv2d=conv2d,
        )

    def leaf(self, array: Array) -> Any:
        """See Tape."""
        return self.module.tensor(array)

    def constant(self, value: Any) -> Any:
        """See Tape."""
        return value

    def prepare(self, workload: Workload) -> Run:
        """MyGrad drops `.grad` itself when a leaf is used again."""
        leaves = [self.leaf(array) for array in workload.parameters]
        loss, ops, constants = workload.loss, self.ops, workload.constants

        def run() -> Sequence[Any]:
            loss(ops, leaves, constants).backward()
            return [leaf.grad for leaf in leaves]

        return run


class Micrograd(Tape):
    """micrograd: scalars only, and recursive, so that long chains are beyond it."""

    name = "micrograd"

    def __init__(self) -> None:
        from micrograd.engine import Value

        self.value = Value
        self.ops = SimpleNamespace(relu=Value.relu)

    def leaf(self, array: Array) -> Any:
        """See Tape."""
        return self.value(float(array))

    def prepare(self, workload: Workload) -> Run:
        """It adds into `.grad`, which begins at 0."""
        leaves = [self.leaf(array) for array in workload.parameters]
        loss, ops, constants = workload.loss, self.ops, workload.constants

        def run() -> Sequence[Any]:
            loss(ops, leaves, constants).backward()
            gradients = [leaf.grad for leaf in leaves]
            for leaf in leaves:
                leaf.grad = 0
            return gradients

        return run


class Tinygrad(Tape):
    """tinygrad, which compiles: it wants a compiler for its CPU device, and large arrays."""

    name = "tinygrad"

    def __init__(self) -> None:
        from tinygrad import Tensor

        try:
            (Tensor([1.0]) + 1).numpy()
        except Exception as error:
            raise MissingError(f"installed, but without a device: {error}") from error
        self.tensor = Tensor
        self.ops = SimpleNamespace(
            sum=Tensor.sum,
            tanh=Tensor.tanh,
            relu=Tensor.relu,
            cross_entropy=lambda z, target: z.sparse_categorical_crossentropy(target),
        )

    def leaf(self, array: Array) -> Any:
        """See Tape."""
        return self.tensor(array, requires_grad=True).realize()

    def constant(self, value: Any) -> Any:
        """See Tape."""
        return self.tensor(value).realize()

    def prepare(self, workload: Workload) -> Run:
        """Gradients are realized: until then nothing is computed."""
        run = super().prepare(workload)
        return lambda: self.tensor.realize(*(gradients := run())) and gradients

    def arrays(self, gradients: Sequence[Any]) -> list[Array]:
        """See Engine."""
        return [gradient.numpy() for gradient in gradients]
