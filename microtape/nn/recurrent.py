"""Recurrent networks: one step for each element of a sequence, which goes on with the hidden state of the step before.

`recurrent_cells.py` has the steps. One product computes the input's share of all steps.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any

from microtape.basics.call_site import user_stacklevel
from microtape.basics.devices import ELSEWHERE
from microtape.basics.scope import scope
from microtape.nn import functional
from microtape.nn.parameter import Parameter
from microtape.nn.recurrent_cells import Recurrent, gru_step, lstm_step, rnn_step
from microtape.ops.linear.product import addmm
from microtape.ops.shape.joining import cat, stack
from microtape.tensors.factories import empty, zeros
from microtape.tensors.tensor import Tensor


class _Layers(Recurrent):
    """Common: `num_layers` layers, each of which reads the outputs of the one before; `bidirectional` reads both ways.

    Input: (L, N, input_size), with `batch_first` (N, L, input_size), or (L, input_size) without a batch. Output: the
    hidden states of the last layer, (L, N, directions · hidden_size), and the last hidden state of each layer and
    direction, (num_layers · directions, N, hidden_size).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.bidirectional = batch_first, bidirectional
        _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout)
        self.dropout = float(dropout)
        rows = self.gates * hidden_size
        for layer in range(num_layers):
            for suffix in self._directions():
                size = input_size if layer == 0 else hidden_size * len(self._directions())
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, size), "weight_hh": (rows, hidden_size)}
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", Parameter(empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _weights(self, layer: int, suffix: str) -> list[Any]:
        """weight_ih, weight_hh, bias_ih and bias_hh of a layer in a direction; None for a bias that there is not."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return [getattr(self, f"{name}_l{layer}{suffix}", None) for name in names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        every = [self._weights(layer, suffix) for layer in range(self.num_layers) for suffix in self._directions()]
        return [[one for one in weights if one is not None] for weights in every]

    def flatten_parameters(self) -> None:
        """Do nothing: that is for GPUs."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The pair (output, state); `hx` is the first state, zeros by default. Raises as torch for wrong shapes."""
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{type(self).__name__} takes a tensor, not {type(input).__name__}: packed sequences are not here; "
                f"{ELSEWHERE}"
            )
        given = "" if self.states == 2 else " tensor" if isinstance(self, RNN) else ""
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D{given} instead")
        batched, batch = input.ndim == 3, 0 if self.batch_first else 1
        state = self._first_state(input if batched else input.unsqueeze(batch), hx, batched)
        sequence = input if batched else input.unsqueeze(batch)
        output, state = self._through_layers(sequence.transpose(0, 1) if self.batch_first else sequence, state)
        output = output.transpose(0, 1) if self.batch_first else output
        if not batched:
            output, state = output.squeeze(batch), tuple([one.squeeze(1) for one in state])
        return output, state if self.states == 2 else state[0]

    def _first_state(self, input: Any, hx: Any, batched: bool) -> tuple[Any, ...]:
        """The tensors (num_layers · directions, N, hidden_size) of the first state, and a check of all shapes."""
        shape = (self.num_layers * len(self._directions()), input.shape[0 if self.batch_first else 1], self.hidden_size)
        if hx is None:
            state = tuple([zeros(shape, dtype=input.dtype)] * self.states)
        else:
            state = tuple(hx) if self.states == 2 else (hx,)
            dims, names = 3 if batched else 2, "hx and cx" if self.states == 2 else "hx"
            if any(one.ndim != dims for one in state):
                got = ", ".join(f"{one.ndim}-D" for one in state)
                kind = f"({got}) tensors" if self.states == 2 else f"{got} tensor"
                prefix = "" if batched else "un"
                raise RuntimeError(
                    f"For {prefix}batched {dims}-D input, {names} should also be {dims}-D but got {kind}"
                )
            state = state if batched else tuple([one.unsqueeze(1) for one in state])
        self._check(input, state, shape)
        return state

    def _check(self, input: Any, state: tuple[Any, ...], shape: tuple[int, ...]) -> None:
        given, needed = (f"microtape.{one.dtype.name}" for one in (input, self.weight_ih_l0))
        if given != needed:
            raise ValueError(
                f"RNN input dtype ({given}) does not match weight dtype ({needed}). Convert input: "
                f"input.to({needed}), or convert model: model.to({given})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        for number, one in enumerate(state):
            if one.shape != shape:
                which = f"hidden[{number}]" if self.states == 2 else "hidden"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(one.shape)}")

    def _through_layers(self, sequence: Any, state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """The outputs of the last layer, (L, N, directions · hidden_size), and the last states."""
        first = list(zip(*[one.unbind(0) for one in state], strict=True))
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for number, suffix in enumerate(self._directions()):
                begin = first[layer * len(self._directions()) + number]
                output, end = self._through_sequence(sequence, begin, self._weights(layer, suffix), bool(suffix))
                outputs.append(output)
                last.append(end)
            sequence = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                sequence = functional.dropout(sequence, self.dropout, self.training)
        return sequence, tuple([stack(list(ends)) for ends in zip(*last, strict=True)])

    def _through_sequence(
        self, sequence: Any, state: tuple[Any, ...], weights: list[Any], backwards: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        """One layer in one direction: its hidden states, (L, N, hidden_size), and its last state."""
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        steps = functional.linear(sequence, weight_ih, bias_ih).unbind(0)
        weight = weight_hh.t().contiguous()  # once: a product with a transposed matrix takes up to twice as long
        outputs = []
        for from_input in reversed(steps) if backwards else steps:
            with scope("step"):  # so that a picture can fold the steps
                from_hidden = state[0] @ weight if bias_hh is None else addmm(bias_hh, state[0], weight)
                state = self.step(from_input, from_hidden, state)
            outputs.append(state[0])
        return stack(outputs[::-1] if backwards else outputs), state

    def extra_repr(self) -> str:
        """The sizes, and the options that are not the usual ones."""
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        options = [f", {name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return f"{self.input_size}, {self.hidden_size}" + "".join(options)


def _check_options(
    input_size: Any, hidden_size: Any, num_layers: int, bias: Any, batch_first: Any, dropout: Any
) -> None:
    """Raise as torch does for options of a wrong type or size."""
    if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:  # type: ignore[operator]
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:  # type: ignore[operator]
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=user_stacklevel(),
        )
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")


class RNN(_Layers):
    """Elman's recurrent network; see `rnn_step`. `nonlinearity` is "tanh" or "relu"."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
        self.nonlinearity = nonlinearity

    def step(self, from_input: Any, from_hidden: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """See `rnn_step`."""
        return rnn_step(from_input, from_hidden, state, getattr(functional, self.nonlinearity))  # type: ignore[no-any-return]


class LSTM(_Layers):
    """Long short-term memory; see `lstm_step`. Its state is the pair (h, c). There is no `proj_size` here."""

    gates, states = 4, 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if proj_size:
            raise NotImplementedError(f"LSTM(proj_size=...) is not here; {ELSEWHERE}")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    step = staticmethod(lstm_step)


class GRU(_Layers):
    """Gated recurrent units; see `gru_step`."""

    gates = 3

    step = staticmethod(gru_step)
