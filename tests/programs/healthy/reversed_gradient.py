import microtape as mt

x = mt.tensor([[0.2, 0.9], [0.8, 0.3], [0.5, 0.6], [0.1, 0.7]])
task, domain = mt.tensor([1.0, 0.0, 1.0, 0.0]), mt.tensor([0.0, 0.0, 1.0, 1.0])
W = mt.tensor([[0.4, 0.1], [0.2, 0.5]], requires_grad=True)
head = mt.tensor([0.3, -0.3], requires_grad=True)
judge = mt.tensor([0.1, 0.2], requires_grad=True)

for epoch in range(6):
    shared = (x @ W).tanh()
    turned = shared * 1.0
    turned.register_hook(lambda gradient: -0.5 * gradient)
    task_loss = ((shared @ head) - task).square().mean()
    domain_loss = ((turned @ judge) - domain).square().mean()
    (task_loss + domain_loss).backward()
    with mt.no_grad():
        for p in (W, head, judge):
            p -= 0.2 * p.grad
            p.grad = None
print(round(task_loss.item(), 4), round(domain_loss.item(), 4))
