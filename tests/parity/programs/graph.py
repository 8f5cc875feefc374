"""Sections 7, 8 and 12 of the semantics: saved tensors, introspection, corner cases."""

from tests.parity.rows import shows


def leaf(mt, *values):
    return mt.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@shows("7 _saved_<name>")
def are_the_tensors_that_were_saved(mt, see):
    x, w = leaf(mt), mt.tensor([4.0, 5.0, 6.0])
    y = x * w
    see(y.grad_fn._saved_other is w, y.grad_fn._saved_self)
    z = y.exp()
    see(z.grad_fn._saved_result is z)
    see(z.grad_fn._saved_result)
    v = y * z
    see(v.grad_fn._saved_self is y, v.grad_fn._saved_other is z)
    z.sum().backward()
    with see.raising():
        _ = z.grad_fn._saved_result
    with see.raising():
        _ = z.grad_fn._saved_nothing
    p = x**3
    see(p.grad_fn._saved_exponent, p.grad_fn._saved_self is x)


@shows("8 names of common nodes")
def are_torchs(mt, see):
    x, w = leaf(mt), leaf(mt)
    m = mt.arange(6.0).reshape(2, 3).requires_grad_()
    b = mt.arange(12.0).reshape(2, 3, 2).requires_grad_()
    for node in (
        x + 1,
        1 + x,
        x - 1,
        1 - x,
        x * 2,
        2 * x,
        x / 2,
        2 / x,
        x / w,
        -x,
        x**2,
        x**w,
        2**x,
        x.exp(),
        x.log(),
        x.log1p(),
        x.expm1(),
        x.sqrt(),
        x.rsqrt(),
        x.sin(),
        x.cos(),
        x.tanh(),
        x.sigmoid(),
        x.relu(),
        x.abs(),
        x.sign(),
        x.reciprocal(),
        x.square(),
        x.clamp(1, 2),
        x.clamp(min=1),
        mt.maximum(x, w),
        mt.minimum(x, w),
        mt.where(x > 1, x, w),
        x.sum(),
        x.sum(0),
        x.mean(),
        x.mean(0),
        x.max(),
        x.min(),
        x.amax(),
        x.amin(0),
        x.logsumexp(0),
        x.softmax(0),
        x.log_softmax(0),
        x[0],
        x[0:1],
        x[[0]],
        x[...],
        x.reshape(3, 1),
        x.view(3, 1),
        m.t(),
        m.T,
        m.transpose(0, 1),
        m.permute(1, 0),
        m.unsqueeze(0),
        m[:1].squeeze(),
        m[:1].squeeze(0),
        m.expand(2, 2, 3),
        m.flatten(),
        mt.cat([x, w]),
        mt.stack([x, w]),
        m @ m.t(),
        m @ x,
        x @ w,
        b @ b.transpose(1, 2),
        mt.bmm(b, b.transpose(1, 2)),
        m.clone(),
        m.double(),
        m.unbind(0)[1],
        m.split(1)[1],
        m.chunk(2, 1)[1],
    ):
        see(node.grad_fn.name(), type(node.grad_fn).__name__)
        see.graph(node)


@shows("8 Node.next_functions")
def has_one_pair_for_each_differentiable_operand(mt, see):
    x, w = leaf(mt), leaf(mt)
    c = mt.tensor([1.0, 2.0, 3.0])
    see((x + 5).grad_fn.next_functions[1], (c * x).grad_fn.next_functions[0], len((x * w).grad_fn.next_functions))
    y = x * w
    see(type(y.grad_fn.next_functions).__name__, (y + 1).grad_fn.next_functions[0][0] is y.grad_fn)
    see(len((-x).grad_fn.next_functions), len(mt.cat([x, c, w]).grad_fn.next_functions))
    see(mt.where(x > 0, x, c).grad_fn.next_functions[0][0] is x.sum().grad_fn.next_functions[0][0])


@shows("8 AccumulateGrad")
def is_one_for_each_leaf_while_anything_refers_to_it(mt, see):
    x = leaf(mt)
    a, b = x * 2, x * 3
    node = a.grad_fn.next_functions[0][0]
    see(node is b.grad_fn.next_functions[0][0], node.variable is x, node.name(), type(node).__name__)
    see(node.next_functions)


@shows("8 Node.metadata")
def is_the_users_dict(mt, see):
    y = leaf(mt) * 2
    see(y.grad_fn.metadata)
    y.grad_fn.metadata["mine"] = 3
    see(y.grad_fn.metadata, (y * 2).grad_fn.next_functions[0][0].metadata)


@shows("8 _sequence_nr(), _set_sequence_nr(n)")
def rises_in_the_order_of_recording(mt, see):
    x = leaf(mt)
    a = x * 2
    b = x.exp()
    c = a + b
    numbers = [node.grad_fn._sequence_nr() for node in (a, b, c)]
    see(sorted(numbers) == numbers, len(set(numbers)))
    see(a.grad_fn.next_functions[0][0]._sequence_nr())


@shows("8 _sequence_nr(), _set_sequence_nr(n)")
def changes_the_order_of_evaluation(mt, see):
    x = leaf(mt)
    a = x * 2
    b = x.exp()
    c = (a + b).sum()
    with see.order(c):
        c.backward(retain_graph=True)
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 100)
    with see.order(c):
        c.backward(retain_graph=True)
    c.grad_fn._set_sequence_nr(0)
    a.grad_fn._set_sequence_nr(1)
    with see.order(c):
        see.value(*mt.autograd.grad(c, [a, x], retain_graph=True))
    x.grad = None
    c.backward()
    see.value(x.grad)


@shows("8 _input_metadata")
def tells_what_arrives(mt, see):
    x = mt.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    (one,) = y.grad_fn._input_metadata
    see(tuple(one.shape), one.dtype)
    parts = x.double().unbind(0)
    see([(tuple(one.shape), str(one.dtype).split(".")[-1]) for one in parts[0].grad_fn._input_metadata])


@shows("8 calling a node")
def gives_what_leaves(mt, see):
    x, w = leaf(mt), leaf(mt, 4.0, 5.0, 6.0)
    y = x * w
    see.value(*y.grad_fn(mt.tensor([1.0, 10.0, 100.0])))
    with see.raising():
        y.grad_fn()
    with see.raising():
        y.grad_fn(mt.ones(3), mt.ones(3))
    a = x.unbind(0)[0]
    see.value(a.grad_fn(mt.tensor(1.0), None, mt.tensor(3.0)))
    accumulate = y.grad_fn.next_functions[0][0]
    see(accumulate(mt.ones(3)))
    see.value(x.grad)


@shows("8 graph.Node")
def is_the_class_of_every_grad_fn(mt, see):
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(mt)
    nodes = [(x * 2).grad_fn, Double.apply(x).grad_fn, (x * 2).grad_fn.next_functions[0][0]]
    see([isinstance(node, mt.autograd.graph.Node) for node in nodes], isinstance(x, mt.autograd.graph.Node))


@shows("8 graph.GradientEdge")
def stands_for_a_tensor(mt, see):
    graph = mt.autograd.graph
    x, w = leaf(mt), leaf(mt, 4.0, 5.0, 6.0)
    y = x * w
    edge = graph.get_gradient_edge(y)
    see(edge.node is y.grad_fn, edge.output_nr)
    z = (y * y).sum()
    see.value(*mt.autograd.grad(z, [edge, graph.get_gradient_edge(x)], retain_graph=True))
    see.value(*mt.autograd.grad(edge, [x, w], mt.ones(3), retain_graph=True))
    mt.autograd.backward(graph.GradientEdge(z.grad_fn, 0), retain_graph=True)
    see.value(x.grad, w.grad)
    z.backward(inputs=[graph.get_gradient_edge(x), edge], retain_graph=True)
    see.value(x.grad, w.grad, y.grad_fn is edge.node)
    with see.raising():
        graph.get_gradient_edge(mt.ones(3))
    with see.raising():
        mt.autograd.grad(z, [graph.get_gradient_edge(leaf(mt))], materialize_grads=True, retain_graph=True)
    with see.raising():
        mt.autograd.backward(edge)
    with see.raising():
        mt.autograd.backward(edge, mt.ones(2))
    second = x.unbind(0)[1]
    see(graph.get_gradient_edge(second).output_nr)
    see.value(*mt.autograd.grad(graph.get_gradient_edge(second), x))


@shows("8 graph.GradientEdge")
def keeps_the_graph_alive(mt, see):
    x = leaf(mt)
    edge = mt.autograd.graph.get_gradient_edge((x * 2).exp().sum())
    mt.autograd.backward(edge)
    see.value(x.grad)


@shows("12 broadcast operands")
def get_their_gradient_summed_back(mt, see):
    for first, second in (
        ((3,), (2, 3)),
        ((1,), (3,)),
        ((), (2, 2)),
        ((2, 1), (1, 3)),
        ((1, 1), ()),
        ((0,), (1,)),
        ((2, 0), (1,)),
        ((1, 3), (0, 3)),
        ((2, 1, 4), (3, 1)),
    ):
        a = (mt.arange(float(max(1, size(first)))).reshape(-1)[: size(first)].reshape(first) + 1).requires_grad_()
        b = (mt.arange(float(max(1, size(second)))).reshape(-1)[: size(second)].reshape(second) + 2).requires_grad_()
        for operation in (lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y, lambda x, y: x / y):
            z = operation(a, b)
            z.sum().backward()
            see.value(z, a.grad, b.grad)
            (g,) = mt.autograd.grad((operation(a, b) * operation(a, b)).sum(), a, create_graph=True)
            see.value(*mt.autograd.grad(g.sum(), b))


@shows("12 broadcast operands")
def that_do_not_fit_are_named_by_their_first_dimension_that_differs(mt, see):
    shapes = ((3,), (2,)), ((2, 3), (4,)), ((4,), (2, 3)), ((5, 2, 3), (2, 1)), ((4, 1), (5, 3, 3)), ((2, 0), (2,))
    for first, second in shapes:
        with see.raising():
            see.value(mt.ones(first) + mt.ones(second))
        with see.raising():
            mt.ones(first, requires_grad=True).mul(mt.ones(second)).sum().backward()


def size(shape):
    result = 1
    for one in shape:
        result *= one
    return result


@shows("12 x[idx] with repeated indices")
def accumulates(mt, see):
    x = leaf(mt)
    for index in ([0, 0, 2], mt.tensor([1, 1, 1]), mt.tensor([[0, 1], [1, 0]]), x.detach() > 1, [-1, 2]):
        y = x[index]
        see(y)
        (y * y).sum().backward()
        see.value(x.grad)


@shows("12 max, min, amax, amin, maximum, minimum at ties")
def share_the_gradient(mt, see):
    x, y = leaf(mt, 2.0, 2.0, 1.0, 1.0), leaf(mt, 2.0, 1.0, 1.0, 2.0)
    for reduction in (
        lambda: x.max(),
        lambda: x.min(),
        lambda: x.amax(),
        lambda: x.amin(0),
        lambda: mt.maximum(x, y).sum(),
        lambda: mt.minimum(x, y).sum(),
    ):
        reduction().backward()
        see.value(x.grad, y.grad)
        x.grad = y.grad = None


@shows("12 at 0")
def kinks_have_torchs_gradients(mt, see):
    for function in (
        lambda x: x.relu(),
        lambda x: x.abs(),
        lambda x: x.sqrt(),
        lambda x: x.clamp(min=0),
        lambda x: x.clamp(max=0),
        lambda x: x.sign(),
        lambda x: x**2,
        lambda x: x**1,
        lambda x: x**0,
        lambda x: x**0.5,
        lambda x: x**-1,
        lambda x: x / x,
        lambda x: x.log(),
        lambda x: x.reciprocal(),
    ):
        x = mt.tensor([0.0, -1.0, 1.0], requires_grad=True)
        y = function(x)
        y.sum().backward()
        see.value(y, x.grad)


@shows("12 0**b and pow(x, 0)")
def are_defined(mt, see):
    for base in (0.0, 2.0):
        b = mt.tensor([-1.0, 0.0, 1.0], requires_grad=True)
        (base**b).sum().backward()
        x = mt.full((3,), base, requires_grad=True)
        b2 = mt.tensor([-1.0, 0.0, 1.0], requires_grad=True)
        y = x**b2
        y.sum().backward()
        see.value(b.grad, y, x.grad, b2.grad)


@shows("12 comparisons and casts to int")
def never_require_grad(mt, see):
    x = leaf(mt)
    see(x > 1, x == 2, x != 2, x.argmax(), x.long(), x.bool() if hasattr(x, "bool") else x > 0)
    with see.raising():
        x.long().backward()


@shows("12 float -> double -> float")
def casts_are_differentiable(mt, see):
    x = leaf(mt)
    y = x.double()
    z = (y * y).float()
    see(y, z)
    see.graph(z)
    z.sum().backward()
    see.value(x.grad)
    w = mt.tensor([1.0, 2.0, 3.0], dtype=mt.float64, requires_grad=True)
    (x * w).sum().backward()
    see.value(x.grad, w.grad)
    s = mt.tensor(2.0, dtype=mt.float64, requires_grad=True)
    (x * s).sum().backward()
    see.value(x.grad, s.grad)


@shows("12 complex")
def gradients_follow_torchs_convention(mt, see):
    z = mt.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    x = leaf(mt, 2.0, 3.0)
    w = z * z + 2 * z
    w.backward(mt.tensor([1 + 0j, 0 + 1j]))
    see.value(w, z.grad)
    v = z * x
    v.backward(mt.tensor([1 + 1j, 2 - 1j]))
    see.value(v, z.grad, x.grad)
    u = (z * 1).clone()
    u[:1].mul_(3 + 1j)
    u.backward(mt.tensor([1 + 1j, 2 - 1j]))
    see.value(u, z.grad)


@shows("12 0-d and zero-size tensors")
def go_through_everything(mt, see):
    e = mt.zeros(0, 3, requires_grad=True)
    (e * 2).sum().backward()
    see.value(e.grad)
    f = e * 1
    f.add_(1)
    f[:, 0].mul_(2)
    f.sum().backward()
    see.value(e.grad)
    s = mt.tensor(3.0, requires_grad=True)
    t = s * 2
    t.mul_(t.detach().clone())
    t[...] = t * 2
    t.backward()
    see.value(t, s.grad)
    (e.sum() + s).backward()
    see.value(s.grad, e.grad)


@shows("8 Node.name()")
def is_its_class_without_the_namespace(mt, see):
    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(mt)
    written = x * 1
    written[0] = 5.0
    accumulate = written.grad_fn.next_functions[0][0].next_functions[0][0]
    for node in ((x * 2).grad_fn, Twice.apply(x).grad_fn, accumulate, written.grad_fn, x[0].grad_fn):
        see(node.name(), type(node).__name__)


@shows("12 prod with zeros")
def where_the_product_without_one_matters(mt, see):
    for values in ([2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0], []):
        x = mt.tensor(values, requires_grad=True)
        (grad,) = mt.autograd.grad(x.prod(), x, create_graph=True)
        see.value(grad)
        if grad.requires_grad:
            see.value(*mt.autograd.grad(grad.sum(), x, allow_unused=True))
    for dim in (0, 1):
        m = mt.tensor([[1.0, 0.0, 3.0], [0.0, 0.0, 2.0]], requires_grad=True)
        m.prod(dim).sum().backward()
        see.value(m.grad)
