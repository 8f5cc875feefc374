"""Section 4 of the semantics: the hooks of a leaf that a write makes a result, and that may become a leaf again."""

from tests.parity.rows import shows

WRITES = {
    "into it": lambda x, w: x.sub_(w),
    "a copy into it": lambda x, w: x.copy_(w),
    "into a view of it": lambda x, w: x[:1].mul_(w[:1]),
    "that is not recorded": lambda x, w: x.sub_(1.0),
}


@shows("4 Tensor.register_hook")
def after_a_write_into_the_leaf(mt, see):
    for name, write in WRITES.items():
        for detached in (False, True):
            x, w = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
            accumulator = (x * 1).grad_fn.next_functions[0][0]
            accumulator.register_prehook(lambda gradients: see.value("before", *gradients))
            accumulator.register_hook(lambda gradients, arrived: see.value("behind", *arrived))
            handle = x.register_hook(lambda gradient: see.value("hook", gradient))
            x.register_post_accumulate_grad_hook(lambda leaf: see.value("accumulated", leaf.grad))
            before = x * 2
            x.requires_grad_(False)
            write(x, w)
            if detached:
                x.detach_().requires_grad_()
            for root in (before, x):
                with see.raising(text=name != "that is not recorded"):
                    root.sum().backward()
            see(name, x.is_leaf)
            see.value(w.grad)
            handle.remove()
