"""Programs about initial values. `mt` is torch or microtape."""

from __future__ import annotations

import numpy as np


def fills_with_the_same_numbers(mt, see):
    init = mt.nn.init
    mt.manual_seed(3)
    for shape in ((2, 3), (17, 5), (4, 3, 2), (6, 2, 3, 3), (1, 1)):
        for fill in (
            lambda x: init.uniform_(x),
            lambda x: init.uniform_(x, -0.3, 0.7),
            lambda x: init.normal_(x),
            lambda x: init.normal_(x, 2.0, 0.3),
            lambda x: init.xavier_uniform_(x),
            lambda x: init.xavier_normal_(x, gain=1.5),
            lambda x: init.kaiming_uniform_(x),
            lambda x: init.kaiming_uniform_(x, a=0.1, mode="fan_out"),
            lambda x: init.kaiming_normal_(x, nonlinearity="relu"),
            lambda x: init.trunc_normal_(x),
            lambda x: init.trunc_normal_(x, 1.0, 2.0, 0.0, 2.5),
            lambda x: init.constant_(x, 0.5),
            lambda x: init.ones_(x),
            lambda x: init.zeros_(x),
        ):
            for dtype in (mt.float32, mt.float64):
                x = mt.empty(shape, dtype=dtype, requires_grad=True)
                see(fill(x) is x, x.requires_grad, x.is_leaf)
                see(np.array(x.detach().numpy()).tobytes().hex())
    see(init.eye_(mt.empty(2, 3)))


def orthogonal_matrices(mt, see):
    for shape in ((3, 3), (5, 2), (2, 5), (4, 3, 2), (2, 3, 2)):
        for dtype in (mt.float32, mt.float64):
            mt.manual_seed(5)
            x = mt.empty(shape, dtype=dtype, requires_grad=True)
            see(mt.nn.init.orthogonal_(x, gain=1.5) is x, x.requires_grad)
            see.value(x)
    with see.raising():
        mt.nn.init.orthogonal_(mt.ones(3))


def gains_and_refusals(mt, see):
    init = mt.nn.init
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"):
        see(init.calculate_gain(name))
    see(init.calculate_gain("leaky_relu", 0.3))
    for wrong in (
        lambda: init.calculate_gain("gelu"),
        lambda: init.calculate_gain("leaky_relu", True),
        lambda: init.xavier_uniform_(mt.ones(3)),
        lambda: init.kaiming_uniform_(mt.ones(3)),
        lambda: init.kaiming_normal_(mt.ones(3, 3), mode="fan"),
        lambda: init.eye_(mt.ones(3)),
        lambda: init.kaiming_uniform_(mt.ones(0, 3)),
    ):
        with see.raising():
            see(wrong())


def every_layer_is_drawn_from_one_stream(mt, see):
    nn = mt.nn
    mt.manual_seed(11)
    net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.Linear(40, 30), nn.Embedding(9, 5), nn.LSTM(3, 4), nn.GRUCell(2, 3))
    see([np.array(one.detach().numpy()).tobytes().hex() for one in net.parameters()])
    see(mt.rand(3), mt.randn(20))


PROGRAMS = [fills_with_the_same_numbers, orthogonal_matrices, gains_and_refusals, every_layer_is_drawn_from_one_stream]
