import microtape as mt
from microtape.utils.checkpoint import checkpoint


def block(h):
    return h * h + h


x = mt.tensor(1.0, requires_grad=True)

middle = checkpoint(block, x, use_reentrant=False)
end = checkpoint(block, middle, use_reentrant=False)

end.backward()

print("end    =", end.item())
print("x.grad =", x.grad.item())
