"""Section 6 of the semantics: views of a leaf made without grad mode require grad, but their gradient goes nowhere."""

from tests.parity.rows import shows


@shows("6 view made in no_grad")
def operations_on_such_a_view(mt, see):
    w, c, one = mt.ones(2, 3, requires_grad=True), mt.ones(2, 3), mt.tensor([1])
    with mt.no_grad():
        u, s = w[0], w.view(2, 3)
    operations = (
        lambda: c * u,
        lambda: u * w,
        lambda: u / 2,
        lambda: u.exp(),
        lambda: u.log(),
        lambda: u.sum(),
        lambda: u[1:],
        lambda: u.max(0)[0],
        lambda: u.unbind(0)[0],
        lambda: c @ u,
        lambda: mt.cat([u, w[0]]),
        lambda: mt.nn.functional.softmax(u, 0),
        lambda: mt.nn.functional.cross_entropy(s, mt.tensor([0, 1])),
        lambda: mt.nn.functional.layer_norm(u, (3,), u, u),
        lambda: u.gather(0, one),
        lambda: u**2,
        lambda: mt.lerp(w[0], w[1], u),
        lambda: mt.ones(3).mul_(u),
        lambda: mt.ones(3).pow_(u),
        lambda: w[0].clone().mul_(u),
        lambda: mt.ones(3).index_put_((one,), u[0]),
    )
    for operation in operations:
        result = operation()
        see(result, result.grad_fn.next_functions)
        result.sum().backward(retain_graph=True)
        see(mt.autograd.grad(result.sum(), w, create_graph=True, allow_unused=True))
    see(w.grad)


@shows("6 view made in no_grad")
def what_is_saved_beside_such_a_view(mt, see):
    w, c = mt.ones(2, 3, requires_grad=True), mt.ones(2, 3)
    with mt.no_grad():
        u = w[0]
    product, quotient, result = c * u, c / u, u.exp()
    see(product.grad_fn._saved_self, product.grad_fn._saved_other)
    see(quotient.grad_fn._saved_self, quotient.grad_fn._saved_other, result.grad_fn._saved_result)
    c.mul_(2)
    (product + quotient).sum().backward()
    see(w.grad, product.grad_fn._saved_self)
    for saved in ("_saved_self", "_saved_other"):
        with see.raising():
            getattr(quotient.grad_fn, saved)


@shows("6 view made in no_grad")
def inference_tensors_beside_such_a_view(mt, see):
    w = mt.ones(2, 3, requires_grad=True)
    with mt.no_grad():
        u = w[0]
    with mt.inference_mode():
        a = mt.full((3,), 2.0)
    for operation in (  # a tensor that several formulas share is always saved, hence the error
        lambda: a * u,
        lambda: a @ u,
        lambda: mt.addcmul(u, a, a),
        lambda: mt.lerp(u, a, 0.5),
        lambda: u / a,
        lambda: u**a,
        lambda: mt.maximum(u, a),
        lambda: mt.atan2(u, a),
        lambda: mt.lerp(u, w[1], a),
        lambda: mt.nn.functional.mse_loss(u, a),
    ):
        with see.raising():
            see(operation())


@shows("6 view made in no_grad")
def a_second_pass_through_such_views(mt, see):
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.no_grad():
        u, v = w.view_as(w), w[:1]
    for operation in (  # an operation is freed only if it has saved something
        lambda: u * v,
        lambda: u @ u,
        lambda: (u * v).sum(),
        lambda: mt.outer(u, v),
        lambda: u.sin(),
        lambda: u / v,
        lambda: mt.maximum(u, v),
        lambda: u * w,
    ):
        z = operation()
        for _ in range(2):
            with see.raising():
                z.backward(mt.ones_like(z).detach())
        see.value(w.grad)
