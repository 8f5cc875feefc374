import microtape as mt

notes = [mt.tensor(float(n)) for n in (0.1, 0.4, 0.3, 0.9, 0.2, 0.5, 0.8, 0.7, 0.6, 0.3, 0.2, 0.1, 0.4)]
w_in = mt.tensor(0.6, requires_grad=True)
w_rec = mt.tensor(0.3, requires_grad=True)
w_out = mt.tensor(1.1, requires_grad=True)

hidden = mt.tensor(0.0)
for start in range(0, 12, 4):
    hidden = hidden.detach()
    loss = mt.tensor(0.0)
    for t in range(start, start + 4):
        hidden = (notes[t] * w_in + hidden * w_rec).tanh()
        loss = loss + (hidden * w_out - notes[t + 1]) ** 2
    loss.backward()
    with mt.no_grad():
        for p in (w_in, w_rec, w_out):
            p -= 0.05 * p.grad
            p.grad = None
    print(start, round(loss.item(), 4))
