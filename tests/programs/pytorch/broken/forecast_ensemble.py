import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(4)]
params, buffers = stack_module_state(models)
skeleton = copy.deepcopy(models[0]).to("meta")
optimizer = torch.optim.Adam([p for model in models for p in model.parameters()], lr=1e-2)
wind, power = torch.randn(20, 3), torch.randn(20, 1)


def forward(params, buffers):
    return functional_call(skeleton, (params, buffers), (wind,))


for epoch in range(5):
    optimizer.zero_grad()
    predictions = vmap(forward)(params, buffers)
    loss = (predictions - power).square().mean(dim=(1, 2)).sum()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
