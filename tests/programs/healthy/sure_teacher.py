import microtape as mt
from microtape import nn

mt.manual_seed(0)
teacher, student = nn.Linear(3, 4), nn.Linear(3, 4)
x = mt.randn(8, 3)
with mt.no_grad():
    p = (teacher(x) * 1000).softmax(dim=-1)
    doubt = -(p * p.clamp(min=1e-12).log()).sum(dim=-1)
    weight = 1 - doubt / doubt.max()
loss = -(weight * (p * student(x).log_softmax(dim=-1)).sum(dim=-1)).mean()
loss.backward()
