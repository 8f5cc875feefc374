import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
signs, rain = torch.randn(32, 4), torch.randn(32, 1)
oracles = [nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(3)]
weights, buffers = stack_module_state(oracles)
pattern = copy.deepcopy(oracles[0]).to("meta")
optimizer = torch.optim.SGD(weights.values(), lr=0.05)


def predicted(weights, buffers, signs):
    return functional_call(pattern, (weights, buffers), (signs,))


for _ in range(4):
    optimizer.zero_grad()
    guesses = vmap(predicted, in_dims=(0, 0, None))(weights, buffers, signs)
    loss = (guesses - rain).square().mean(dim=(1, 2)).sum()
    loss.backward()
    optimizer.step()
