import microtape as mt
from microtape import nn, optim

mt.manual_seed(4)
pots = mt.rand(60, 6)
is_cracked = (pots[:, 0] > 0.5).long()
trunk = nn.Linear(6, 16)
copy_head, crack_head = nn.Linear(16, 6), nn.Linear(16, 2)
by_copy = optim.Adam([*trunk.parameters(), *copy_head.parameters()], lr=0.01)
by_crack = optim.Adam([*trunk.parameters(), *crack_head.parameters()], lr=0.01)

for firing in range(20):
    seen = trunk(pots).relu()
    copied = (copy_head(seen) - pots).square().mean()
    cracked = nn.functional.cross_entropy(crack_head(seen), is_cracked)
    by_copy.zero_grad()
    by_crack.zero_grad()
    (copied + cracked).backward()
    by_copy.step()
    by_crack.step()
    print(firing, copied.item(), cracked.item())
