import torch
from torch import nn

torch.manual_seed(0)


class Convolution(nn.Module):
    def __init__(self, width_in, width):
        super().__init__()
        self.message = nn.Linear(2 * width_in, width)
        self.update = nn.Linear(width_in + width, width)

    def forward(self, x, sources, targets):
        messages = torch.relu(self.message(torch.cat([x[targets], x[sources]], dim=1)))
        total = torch.zeros(x.size(0), messages.size(1)).index_add(0, targets, messages)
        degree = torch.zeros(x.size(0)).scatter_add_(0, targets, torch.ones(len(targets))).clamp(min=1)
        return self.update(torch.cat([x, total / degree[:, None]], dim=1))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList([Convolution(6, 12), Convolution(12, 12)])
        self.readout = nn.Linear(12, 1)

    def forward(self, x, edges, graphs):
        for convolution in self.convolutions:
            x = torch.relu(convolution(x, *edges))
        index = graphs[:, None].expand_as(x)
        pooled = torch.zeros(int(graphs.max()) + 1, x.size(1)).scatter_reduce(0, index, x, "amax", include_self=False)
        return self.readout(pooled).squeeze(1)


model = Network()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
nodes, edges = torch.randn(10, 6), torch.randint(10, (2, 30))
graphs = torch.arange(10) // 5
energies = torch.tensor([0.3, -1.2])
losses = []
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(model(nodes, edges, graphs), energies)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
