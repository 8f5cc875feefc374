import microtape as mt

notes = [mt.tensor(float(n)) for n in (0.1, 0.4, 0.3, 0.9, 0.2, 0.5, 0.8, 0.7, 0.6)]
w_in = mt.tensor(0.6, requires_grad=True)
w_rec = mt.tensor(0.3, requires_grad=True)
w_out = mt.tensor(1.1, requires_grad=True)
WINDOW, rate = 4, 0.05

hidden = mt.tensor(0.0)
for start in range(0, 8, WINDOW):
    loss = mt.tensor(0.0)
    for t in range(WINDOW):
        hidden = (notes[start + t] * w_in + hidden * w_rec).tanh()
        loss = loss + (hidden * w_out - notes[start + t + 1]) ** 2
    loss.backward()
    with mt.no_grad():
        for p in (w_in, w_rec, w_out):
            p -= rate * p.grad
            p.grad = None
    print("window", start, loss.item() > 0)
