"""Neural networks: modules and their parameters, and the functions that they call, under torch's names."""

from typing import NoReturn

from microtape.nn import functional, init, utils
from microtape.nn.activation import (
    ELU,
    GELU,
    GLU,
    SELU,
    Dropout,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
)
from microtape.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from microtape.nn.convolution import Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d
from microtape.nn.embedding import Embedding
from microtape.nn.linear import Identity, Linear
from microtape.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    PairwiseDistance,
    SmoothL1Loss,
    TripletMarginLoss,
)
from microtape.nn.module import Module
from microtape.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm
from microtape.nn.parameter import Parameter
from microtape.nn.pooling import AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d
from microtape.nn.recurrent import GRU, LSTM, RNN
from microtape.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from microtape.nn.reshaping import Flatten, Fold, Unflatten, Unfold

__all__ = [
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "Fold",
    "GRUCell",
    "GroupNorm",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "TripletMarginLoss",
    "Unflatten",
    "Unfold",
    "functional",
    "init",
    "utils",
]


def __getattr__(name: str) -> NoReturn:
    hint = " here; `--engine torch` records the program on PyTorch" * name[:1].isupper()
    raise AttributeError(f"module 'microtape.nn' has no attribute '{name}'{hint}")
