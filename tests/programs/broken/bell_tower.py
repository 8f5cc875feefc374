import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(2)
bells = mt.randint(0, 7, (5, 17))


class Ringer(nn.Module):
    def __init__(self):
        super().__init__()
        self.bell, self.turn = nn.Embedding(7, 12), nn.Embedding(16, 12)
        self.norm, self.parts, self.out = nn.LayerNorm(12), nn.Linear(12, 36), nn.Linear(12, 7)

    def forward(self, rung):
        rows, turns = rung.shape
        x = self.bell(rung) + self.turn(mt.arange(turns))
        q, k, v = (one.view(rows, turns, 3, 4).transpose(1, 2) for one in self.parts(self.norm(x)).split(12, dim=-1))
        heads = F.scaled_dot_product_attention(q, k, v)
        x = x + heads.transpose(1, 2).reshape(rows, turns, 12)
        return self.out(x)


ringer = Ringer()
optimizer = mt.optim.SGD(ringer.parameters(), lr=0.1)
for round_ in range(3):
    logits = ringer(bells[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 7), bells[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
