import microtape as mt

mt.manual_seed(1)
x = mt.randn(40, 5)
y = x.sin().sum(1, keepdim=True)
params = [(0.3 * mt.randn(*shape)).requires_grad_() for shape in ((5, 16), (16,), (16, 1), (1,))]
optimizer = mt.optim.AdamW(params, lr=0.05, weight_decay=0.01)
scheduler = mt.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step / 5, 1.0))

for step in range(20):
    W1, b1, W2, b2 = params
    loss = ((x @ W1 + b1).relu() @ W2 + b2 - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    mt.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    scheduler.step()
print(round(loss.item(), 3), scheduler.get_last_lr())
