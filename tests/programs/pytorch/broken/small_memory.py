import torch
from torch import nn

torch.manual_seed(0)
pages, marks = torch.randn(32, 6), torch.randn(32, 1)
reader = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizers = {one: torch.optim.SGD([one], lr=0.05) for one in reader.parameters()}


def update(parameter):
    optimizers[parameter].step()


for one in reader.parameters():
    one.register_post_accumulate_grad_hook(update)
for _ in range(6):
    loss = nn.functional.mse_loss(reader(pages), marks)
    loss.backward()
