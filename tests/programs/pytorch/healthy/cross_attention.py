import torch
from torch import nn

torch.manual_seed(0)


class CrossAttention(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, 4, batch_first=True, dropout=0.1)
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Linear(dim, dim)

    def forward(self, q, kv):
        out, weights = self.attn(q, kv, kv)
        return self.ff(self.norm(q + out))


net = CrossAttention()
q, kv = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
target = torch.randn(2, 5, 16)
opt = torch.optim.Adam(net.parameters())
loss = nn.functional.huber_loss(net(q, kv), target)
loss.backward()
opt.step()
