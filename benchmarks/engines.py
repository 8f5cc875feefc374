"""An adapter for each engine: `prepare(workload)` returns a function that computes all gradients once."""

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
    """An installed engine. `ops` has the functions that workloads call."""

    name = ""
    ops: Any

    @property
    def version(self) -> str:
        """Its version."""
        return version(self.name)

    def prepare(self, workload: Workload) -> Run:
        """Do all work that is not timed, and return the run. Raises MissingError if the engine lacks an operation."""
        raise NotImplementedError

    def arrays(self, gradients: Sequence[Any]) -> list[Array]:
        """The gradients that a run returned, as arrays."""
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
    """An engine with leaves, `backward()` and `.grad`."""

    def leaf(self, array: Array) -> Any:
        """A tensor that requires grad."""
        raise NotImplementedError

    def constant(self, value: Any) -> Any:
        """An array in the form of the engine's constants."""
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
    """torch, or microtape, which has the same interface."""

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
            parameters = [float(one) for one in parameters]  # its fastest form
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
        """See Engine. MyGrad itself resets `.grad` when a leaf is used again."""
        leaves = [self.leaf(array) for array in workload.parameters]
        loss, ops, constants = workload.loss, self.ops, workload.constants

        def run() -> Sequence[Any]:
            loss(ops, leaves, constants).backward()
            return [leaf.grad for leaf in leaves]

        return run


class Micrograd(Tape):
    """micrograd: scalars only, and recursive, so that it cannot run long chains."""

    name = "micrograd"

    def __init__(self) -> None:
        from micrograd.engine import Value

        self.value = Value
        self.ops = SimpleNamespace(relu=Value.relu)

    def leaf(self, array: Array) -> Any:
        """See Tape."""
        return self.value(float(array))

    def prepare(self, workload: Workload) -> Run:
        """See Engine. `.grad` starts at 0, and backward adds to it."""
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
    """tinygrad. It compiles programs, so it needs a compiler for its CPU device and is fast only on large arrays."""

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
        """See Engine. tinygrad computes nothing until the gradients are realized."""
        run = super().prepare(workload)
        return lambda: self.tensor.realize(*(gradients := run())) and gradients

    def arrays(self, gradients: Sequence[Any]) -> list[Array]:
        """See Engine."""
        return [gradient.numpy() for gradient in gradients]
