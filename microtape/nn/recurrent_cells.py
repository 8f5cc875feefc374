"""One step of recurrent networks, and the cells, which are modules that make one step.

A step gets the input's share, W_ih x + b_ih, and the hidden state's share, W_hh h + b_hh. The three kinds differ in
what they make of these two.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from microtape.nn import functional, init
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tensors.factories import empty, zeros


def rnn_step(from_input: Any, from_hidden: Any, state: tuple[Any, ...], activation: Any = functional.tanh) -> Any:
    """The state (h',) with h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (Elman, 1990)."""
    return (activation(from_hidden + from_input),)


def lstm_step(from_input: Any, from_hidden: Any, state: tuple[Any, ...]) -> Any:
    """The state (h', c') with c' = f · c + i · g and h' = o · tanh(c') (Hochreiter and Schmidhuber, 1997).

    The gates i, f and o (input, forget, output) are between 0 and 1; g is what is to be remembered.
    """
    i, f, g, o = (from_hidden + from_input).unsafe_chunk(4, -1)
    memory = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * memory.tanh(), memory


def gru_step(from_input: Any, from_hidden: Any, state: tuple[Any, ...]) -> Any:
    """The state (h',) with h' = (1 - z) · n + z · h, with n = tanh(x_n + r · h_n) (Cho et al., 2014).

    r resets and z updates; both are between 0 and 1.
    """
    (x_r, x_z, x_n), (h_r, h_z, h_n) = from_input.unsafe_chunk(3, -1), from_hidden.unsafe_chunk(3, -1)
    r, z = (h_r + x_r).sigmoid(), (h_z + x_z).sigmoid()
    n = (x_n + h_n * r).tanh()
    return ((state[0] - n) * z + n,)


class Recurrent(Module):
    """Common: what all recurrent layers and cells have."""

    gates: ClassVar[int]  # how many rows of the weights belong to one number of the hidden state
    states: ClassVar[int] = 1  # how many tensors make the state
    input_size: int
    hidden_size: int
    step: Any  # one of the functions above, or a method like them: the state after one step

    def reset_parameters(self) -> None:
        """Draw all weights uniformly in ±1 / √hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)


class _Cell(Recurrent):
    """Common: one step, of (N, input_size) or (input_size,), with a state of (N, hidden_size) or (hidden_size,)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The state after the step; `hx` is the state before, zeros by default. Raises ValueError for other shapes."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        state = (None,) * self.states if hx is None else tuple(hx) if self.states == 2 else (hx,)
        for number, one in enumerate(state):
            if one is not None and one.ndim not in (1, 2):
                which = f"hx[{number}]" if self.states == 2 else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {one.ndim}D instead")
        batched = input.ndim == 2
        rows = input if batched else input.unsqueeze(0)
        first = zeros(rows.shape[0], self.hidden_size, dtype=input.dtype)
        state = tuple([first if one is None else one if batched else one.unsqueeze(0) for one in state])
        from_input = functional.linear(rows, self.weight_ih, self.bias_ih)
        state = self.step(from_input, functional.linear(state[0], self.weight_hh, self.bias_hh), state)
        state = state if batched else tuple([one.squeeze(0) for one in state])
        return state if self.states == 2 else state[0]

    def extra_repr(self) -> str:
        """The sizes, and the options that are not the usual ones."""
        bias = "" if self.bias is True else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return f"{self.input_size}, {self.hidden_size}{bias}" + (
            "" if nonlinearity == "tanh" else f", nonlinearity={nonlinearity}"
        )


class RNNCell(_Cell):
    """One step of an RNN; see `rnn_step`."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def step(self, from_input: Any, from_hidden: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """See `rnn_step`. Raises RuntimeError for a nonlinearity other than "tanh" and "relu"."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return rnn_step(from_input, from_hidden, state, getattr(functional, self.nonlinearity))  # type: ignore[no-any-return]


class LSTMCell(_Cell):
    """One step of an LSTM; see `lstm_step`. Its state is the pair (h, c)."""

    gates, states = 4, 2

    step = staticmethod(lstm_step)


class GRUCell(_Cell):
    """One step of a GRU; see `gru_step`."""

    gates = 3

    step = staticmethod(gru_step)
