"""Optimisers and learning-rate schedules under torch's names.

optimizer      what all optimisers share: groups of parameters, the state of each parameter, the loop of a step
sgd            gradient descent, with momentum;  adagrad, rmsprop, adam: with a rate for each element
lr_scheduler   learning rates that change over time
"""

from microtape.absent import lacking as _lacking
from microtape.optim import lr_scheduler
from microtape.optim.adagrad import Adagrad
from microtape.optim.adam import Adam, AdamW
from microtape.optim.optimizer import Optimizer
from microtape.optim.rmsprop import RMSprop
from microtape.optim.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]

__getattr__ = _lacking(__name__)
