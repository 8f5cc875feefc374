"""Section 7 of the semantics: saved tensors, their names and their hooks."""

import threading

from tests.parity.rows import shows


def pair(mt):
    return mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)


def logging_hooks(mt, log):
    """Hooks that keep a copy, and log their arguments."""

    def pack(tensor):
        log.append(("pack", tensor.tolist(), tensor.requires_grad, tensor.is_leaf, mt.is_grad_enabled()))
        return "packed", tensor.detach().clone()

    def unpack(kept):
        log.append(("unpack", kept[0], kept[1].tolist(), mt.is_grad_enabled()))
        return kept[1]

    return mt.autograd.graph.saved_tensors_hooks(pack, unpack)


def has_function(mt):
    class Saves(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            product = x * y
            ctx.save_for_backward(x, None, product, y)
            return product

        @staticmethod
        def backward(ctx, grad):
            x, nothing, product, y = ctx.saved_tensors
            assert nothing is None
            return grad * y + product * 0, grad * x

    return Saves


@shows("7 _saved_<name>")
def named_as_in_torch(mt, see):
    x, y = pair(mt)
    m = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = x * y
    see(z.grad_fn._saved_self is x, z.grad_fn._saved_other is y)
    z = x / y
    see(z.grad_fn._saved_self is x, z.grad_fn._saved_other is y)
    z = x * y.detach()
    see(z.grad_fn._saved_self, z.grad_fn._saved_other)
    z = x**y
    see(z.grad_fn._saved_self, z.grad_fn._saved_exponent, z.grad_fn._saved_result)
    see((x**2).grad_fn._saved_self, (x**2).grad_fn._saved_exponent)
    see((m @ m).grad_fn._saved_mat2 is m, (m @ m).grad_fn._saved_self is m)
    see((m @ x).grad_fn._saved_vec is x, (x @ y).grad_fn._saved_tensor is y)
    see(x.log().grad_fn._saved_self, x.tanh().grad_fn._saved_result)
    see(mt.bmm(m.view(1, 2, 2), m.view(1, 2, 2)).grad_fn._saved_mat2)
    see(m.sum(0).grad_fn._saved_dim, m.sum(0).grad_fn._saved_keepdim, tuple(m.sum(0).grad_fn._saved_self_sym_sizes))
    see(m.transpose(0, 1).grad_fn._saved_dim0, m.permute(1, 0).grad_fn._saved_dims)
    see(m[1].grad_fn._saved_dim, m[1].grad_fn._saved_index)
    with see.raising():
        (x + y).grad_fn._saved_self  # noqa: B018


@shows("7 _saved_<name>")
def of_a_result_is_equal_but_another_object(mt, see):
    x, _ = pair(mt)
    y = x.exp()
    saved = y.grad_fn._saved_result
    see(saved, saved is y, saved.grad_fn is y.grad_fn, saved is y.grad_fn._saved_result)
    with mt.no_grad():
        saved.add_(1)
    see(y._version, y)
    with see.raising():
        y.grad_fn._saved_result  # noqa: B018


@shows("7 _saved_<name>")
def after_freeing(mt, see):
    x, y = pair(mt)
    z = x * y
    half = x * 2
    whole = z.sum() + half.sum()
    whole.backward(retain_graph=True)
    see(z.grad_fn._saved_self is x)
    whole.backward()
    with see.raising():
        z.grad_fn._saved_self  # noqa: B018
    with see.raising():
        z.grad_fn._saved_other  # noqa: B018
    see(half.grad_fn._saved_self)
    with see.raising():
        half.grad_fn._saved_other  # noqa: B018
    see((x**2).grad_fn._saved_exponent)


@shows("7 _saved_<name>")
def checks_the_version(mt, see):
    x, _ = pair(mt)
    y = x * 1
    z = y * y
    with mt.no_grad():
        y.add_(1)
    with see.raising():
        z.grad_fn._saved_self  # noqa: B018


@shows("7 _raw_saved_<name>")
def can_be_packed_one_by_one(mt, see):
    x, y = pair(mt)
    z = x * y
    raw = z.grad_fn._raw_saved_self
    see(raw is z.grad_fn._raw_saved_self, raw.data is x, raw.unpack_hook, raw.unpack() is x)
    seen = []
    raw.register_hooks(lambda tensor: seen.append(tensor) or ("packed", tensor), lambda kept: kept[1] * 10)
    see(seen, raw.data[0], raw.unpack_hook is not None, raw.unpack())
    saved = z.grad_fn._saved_self
    see(saved, saved is x, saved is z.grad_fn._saved_self)
    with see.raising():
        raw.register_hooks(lambda tensor: tensor, lambda kept: kept)
    z.sum().backward()
    see.value(x.grad, y.grad)
    with see.raising():
        raw.unpack()
    see(raw.data, raw.unpack_hook, z.grad_fn._raw_saved_self is raw)
    with see.raising():
        z.grad_fn._raw_saved_other.register_hooks(lambda tensor: tensor, lambda kept: kept)
    with see.raising():
        type(raw)()
    nothing = (x * 2).grad_fn
    see(nothing._raw_saved_self.unpack(), nothing._raw_saved_self.data)
    with see.raising():
        nothing._raw_saved_self.register_hooks(lambda tensor: tensor, lambda kept: kept)


@shows("7 _raw_saved_<name>")
def of_a_result(mt, see):
    x, _ = pair(mt)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda tensor: tensor.tolist(), lambda kept: mt.tensor(kept) * 2)
    see(y.grad_fn._saved_result, y.grad_fn._saved_result.grad_fn is y.grad_fn)
    (g,) = mt.autograd.grad(y.sum(), x, create_graph=True)
    see.value(g)
    see.value(*mt.autograd.grad(g.sum(), x))


@shows("7 _raw_saved_<name>")
def of_a_function(mt, see):
    x, y = pair(mt)
    z = has_function(mt).apply(x, y)
    raw = z.grad_fn._raw_saved_tensors
    see(len(raw), raw[0].unpack() is x, raw[1].unpack())
    with see.raising():
        raw[1].register_hooks(lambda tensor: tensor, lambda kept: kept)
    raw[0].register_hooks(lambda tensor: tensor * 100, lambda kept: kept)
    z.sum().backward()
    see.value(x.grad, y.grad)
    with see.raising():
        z.grad_fn._raw_saved_tensors  # noqa: B018


@shows("7 saved_tensors_hooks")
def pack_at_save_and_unpack_at_every_access(mt, see):
    x, y = pair(mt)
    log = []
    with logging_hooks(mt, log):
        a = x * y
        b = a.exp()
        c = 2 * b / 3 + 1
        d = has_function(mt).apply(c, y)
        e = (d**2).sum()
    see(log)
    del log[:]
    see(a.grad_fn._saved_self, b.grad_fn._saved_result, b.grad_fn._saved_result.grad_fn is b.grad_fn)
    see(log)
    del log[:]
    e.backward()
    see(log)
    see.value(x.grad, y.grad)


@shows("7 saved_tensors_hooks")
def of_every_operation_in_the_same_order(mt, see):
    x, y = pair(mt)
    m = mt.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    n = mt.tensor([[7.0, 8.0], [9.0, 10.0]], requires_grad=True)
    for name, function in {
        "mul": lambda: x * y,
        "div": lambda: x / y,
        "pow": lambda: x**y,
        "mm": lambda: m @ n,
        "mv": lambda: m @ x,
        "dot": lambda: x @ y,
        "maximum": lambda: mt.maximum(x, y),
        "log": lambda: x.log(),
        "tanh": lambda: x.tanh(),
        "number": lambda: x / 4.0,
        "constant": lambda: x * y.detach(),
        "where": lambda: mt.where(x > 1, x, y),
        "sum": lambda: m.sum(0),
        "index": lambda: m[0] * m[1],
        "in place": lambda: (x * 1).mul_(y),
    }.items():
        log = []
        with logging_hooks(mt, log):
            result = function()
        see(name, log)
        del log[:]
        result.sum().backward()
        see(log)
        see.value(x.grad, y.grad, m.grad, n.grad)


@shows("7 saved_tensors_hooks")
def see_the_very_tensors(mt, see):
    x, y = pair(mt)
    seen = []
    with mt.autograd.graph.saved_tensors_hooks(
        lambda tensor: seen.append(tensor) or tensor.detach(), lambda kept: kept
    ):
        a = x * y
        b = a.exp()
    see([any(one is other for other in (x, y, a, b)) for one in seen])
    see(seen[-1] is b)


@shows("7 saved_tensors_hooks")
def only_the_innermost_pair(mt, see):
    x, y = pair(mt)
    hooks = mt.autograd.graph.saved_tensors_hooks
    with hooks(lambda tensor: ("outer", tensor), lambda kept: kept[1]):
        with hooks(lambda tensor: ("inner", tensor), lambda kept: kept[1]):
            a = x * y
        b = x * y
    c = x * y
    see(a.grad_fn._raw_saved_self.data[0], b.grad_fn._raw_saved_self.data[0], c.grad_fn._raw_saved_self.data is x)
    with see.raising():
        a.grad_fn._raw_saved_self.register_hooks(lambda tensor: tensor, lambda kept: kept)


@shows("7 saved_tensors_hooks")
def have_no_versions(mt, see):
    x, _ = pair(mt)
    hooks = mt.autograd.graph.saved_tensors_hooks
    with hooks(lambda tensor: tensor.detach().clone(), lambda kept: kept):
        y = x.exp()
        y.add_(1)
    y.sum().backward()
    see.value(x.grad)
    with hooks(lambda tensor: tensor, lambda kept: kept):
        y = x.exp()
        y.add_(1)
    y.sum().backward()
    see.value(x.grad)


@shows("7 saved_tensors_hooks")
def double_backward(mt, see):
    x, y = pair(mt)
    with mt.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach().tolist(), lambda kept: mt.tensor(kept)):
        z = (x * y).exp() * x**3
        (g,) = mt.autograd.grad(z.sum(), x, create_graph=True)
        see.value(g, *mt.autograd.grad(g.sum(), (x, y), retain_graph=True))
    (g,) = mt.autograd.grad(z.sum(), x, create_graph=True)
    see.value(g, *mt.autograd.grad(g.sum(), (x, y)))


@shows("7 saved_tensors_hooks")
def errors(mt, see):
    x, y = pair(mt)
    hooks = mt.autograd.graph.saved_tensors_hooks

    def raises(anything):
        raise ValueError("cannot")

    def writes(tensor):
        tensor.add_(1)
        return tensor

    with see.raising(), hooks(raises, lambda kept: kept):
        x * y
    with hooks(lambda tensor: tensor, raises):
        z = x * y
    with see.raising():
        z.sum().backward()
    with see.raising():
        z.grad_fn._saved_self  # noqa: B018
    with hooks(lambda tensor: 5, lambda kept: kept):
        z = x * y
    with see.raising():
        z.sum().backward()
    with see.raising(), hooks(writes, lambda kept: kept):
        x * y
    with see.raising(), hooks(writes, lambda kept: kept):
        x.exp()
    with see.raising():
        z.grad_fn._raw_saved_self.register_hooks(lambda tensor: tensor, lambda kept: kept)


@shows("7 save_on_cpu")
def save_on_cpu(mt, see):
    x, y = pair(mt)
    with mt.autograd.graph.save_on_cpu():
        z = (x * y).exp()
    z.sum().backward()
    see.value(x.grad, y.grad)


@shows("7 disable_saved_tensors_hooks")
def disabled(mt, see):
    graph = mt.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        with see.raising(), graph.saved_tensors_hooks(lambda tensor: tensor, lambda kept: kept):
            pass
        with see.raising(), graph.save_on_cpu():
            pass
        with graph.disable_saved_tensors_hooks("nor here"), see.raising(), graph.save_on_cpu():
            pass
        with see.raising(), graph.save_on_cpu():
            pass
    with graph.save_on_cpu(), see.raising(), graph.disable_saved_tensors_hooks("too late"):
        pass
    with graph.save_on_cpu():
        see("fine")


@shows("6 allow_mutation_on_saved_tensors")
def overwriting_is_allowed(mt, see):
    allow = mt.autograd.graph.allow_mutation_on_saved_tensors
    x, y = pair(mt)
    with allow():
        a = x.clone()
        out = (a**2).sum()
        a.sin_()
        a.mul_(y)
        more = (a * a).sum()
        a[0:1].mul_(3)
        (out + more).backward()
        see.value(x.grad, y.grad)
        x.grad = y.grad = None
        b = x * 3
        c = b * b
        d = b.detach()
        d.zero_()
        c.sum().backward()
        see.value(x.grad)
        b = x.exp()
        b.mul_(b)
        c = b * b
        b.zero_()
        with mt.no_grad():
            c.sub_(1)
        c.sum().backward()
        see.value(x.grad)
        with see.raising(), allow():
            pass


@shows("6 allow_mutation_on_saved_tensors")
def only_inside(mt, see):
    allow = mt.autograd.graph.allow_mutation_on_saved_tensors
    x, _ = pair(mt)
    with allow():
        late = (x**2).sum()
    with see.raising():
        late.backward()
    with allow(), see.raising():
        late.backward()
    with allow() as context:
        kept, later = (x**2).sum(), x * 2
        context.clear()
        with see.raising():
            kept.backward()
        (later * later).sum().backward()
        see.value(x.grad)


@shows("6 version check")
def of_what_an_operation_itself_overwrites(mt, see):
    x, _ = pair(mt)
    for function in (
        lambda y: y.mul_(y),
        lambda y: y.mul_(y.detach()),
        lambda y: y.div_(y),
        lambda y: y.add_(y),
        lambda y: y.pow_(2),
    ):
        y = function(x * 2)
        with see.raising():
            see.value(*mt.autograd.grad(y.sum(), x))


def logging(mt, log, name):
    """Hooks that log their name."""
    return mt.autograd.graph.saved_tensors_hooks(
        lambda tensor: (log.append(f"pack {name}"), tensor.detach())[1],
        lambda tensor: (log.append(f"unpack {name}"), tensor)[1],
    )


@shows("7 saved_tensors_hooks")
def hooks_that_user_code_leaves_end_with_its_node(mt, see):
    log = []

    class Enters(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            logging(mt, log, "function").__enter__()
            return grad * 2

    def unpack(tensor):
        logging(mt, log, "unpacking").__enter__()
        return tensor

    x = mt.ones(2, requires_grad=True)
    with mt.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = x.exp()
    z = Enters.apply(y)
    z.register_hook(lambda grad: logging(mt, log, "hook").__enter__())
    z.sum().backward(create_graph=True)
    see(log)
    x.exp()
    see(log)


@shows("7 saved_tensors_hooks")
def a_hook_takes_hooks_out_of_force(mt, see):
    log = []
    hooks = logging(mt, log, "outer")
    x = mt.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: hooks.__exit__(None, None, None))
    with hooks:
        y.sum().backward()
        x.exp()
    see(log)
    x.exp()
    see(log)


@shows("7 saved_tensors_hooks")
def left_more_often_than_entered(mt, see):
    log = []
    hooks, others = logging(mt, log, "first"), logging(mt, log, "second")
    with see.raising(text=False):
        hooks.__exit__(None, None, None)
    x = mt.ones(2, requires_grad=True)
    hooks.__enter__()
    others.__enter__()
    hooks.__exit__(None, None, None)
    x.exp()
    see(log)
    others.__exit__(None, None, None)
    x.exp()
    see(log)


@shows("7 saved_tensors_hooks")
def the_hooks_in_force_are_those_at_entering(mt, see):
    log = []
    hooks = logging(mt, log, "first")
    with hooks:
        hooks.pack_hook = lambda tensor: log.append("another")
        mt.ones(2, requires_grad=True).exp()
    see(log)


@shows("7 saved_tensors_hooks")
def entered_on_another_thread(mt, see):
    log = []
    x = mt.ones(2, requires_grad=True)
    hooks = logging(mt, log, "main")

    def leave():
        with see.raising(text=False):
            hooks.__exit__(None, None, None)

    for work in (leave, logging(mt, log, "other").__enter__):
        thread = threading.Thread(target=work)
        with hooks:
            thread.start()
            thread.join()
            x.exp()
        x.exp()
    see(log)


@shows("7 disable_saved_tensors_hooks")
def disabled_by_a_hook_until_its_node_ends(mt, see):
    def disable(grad):
        kept.append(mt.autograd.graph.disable_saved_tensors_hooks("no more"))
        kept[0].__enter__()
        with see.raising(), logging(mt, [], "inside"):
            pass

    kept = []
    y = mt.ones(2, requires_grad=True) * 2
    y.register_hook(disable)
    y.sum().backward()
    with see.raising(), logging(mt, [], "after"):
        pass


@shows("6 allow_mutation_on_saved_tensors")
def written_through_data(mt, see):
    with mt.autograd.graph.allow_mutation_on_saved_tensors():
        x = mt.ones(2, requires_grad=True)
        loss = (x**2).sum()
        x.data.mul_(5)
        loss.backward()
    see.value(x, x.grad)


@shows(
    "6 allow_mutation_on_saved_tensors",
    differs="a write to a view leaves the saved values of its base, where torch may use the new values in backward",
)
def written_through_a_view_of_the_second_row(mt, see):
    with mt.autograd.graph.allow_mutation_on_saved_tensors():
        x = mt.ones(2, 3, requires_grad=True)
        copied = x.clone()
        loss = (copied**2).sum()
        copied[1].sin_()
        loss.backward()
    see.value(x.grad)


@shows(
    "6 allow_mutation_on_saved_tensors",
    differs="an attempt to nest the contexts leaves the outer one in force, where torch ends it",
)
def nested_in_vain(mt, see):
    with mt.autograd.graph.allow_mutation_on_saved_tensors() as context:
        with see.raising(), mt.autograd.graph.allow_mutation_on_saved_tensors():
            pass
        x = mt.ones(2, requires_grad=True)
        loss = (x**2).sum()
        with see.raising():
            loss.backward()
        context.clear()


@shows("7 saved_tensors_hooks")
def a_written_output_without_derivative(mt, see):
    class Halves(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g, g

    leaf = mt.ones(2, requires_grad=True)
    for hooks in (mt.autograd.graph.save_on_cpu, mt.enable_grad):
        view = (leaf * 1)[None].unbind(0)[0]
        with hooks(), see.raising():
            Halves.apply(view, leaf)


@shows("7 saved_tensors_hooks")
def hooks_of_which_one_cannot_be_called(mt, see):
    x = mt.tensor(2.0, requires_grad=True)
    for hooks in ((1, lambda packed: packed), (lambda saved: saved, None)):
        with see.raising(text=False), mt.autograd.graph.saved_tensors_hooks(*hooks):
            see.value(x * x)
        with see.raising(text=False):
            (x * x).grad_fn._raw_saved_self.register_hooks(*hooks)


@shows("7 saved_tensors_hooks")
def results_that_are_overwritten_unseen(mt, see):
    functions = mt.nn.functional
    for function in (
        mt.relu, mt.exp, mt.tanh, mt.sigmoid, mt.sqrt, mt.rsqrt, mt.reciprocal, mt.expm1, mt.tan,
        functions.relu6, functions.elu, functions.selu, functions.leaky_relu, functions.logsigmoid,
        lambda x: mt.softmax(x, 0), lambda x: mt.log_softmax(x, 0), lambda x: mt.logsumexp(x, 0), lambda x: x.norm(),
        lambda x: mt.cumprod(x, 0), lambda x: x.prod(), lambda x: x.std(), lambda x: x.pow(0.5), lambda x: x.amax(),
    ):  # fmt: skip
        x = mt.tensor([1.0, 0.5, 2.0], dtype=mt.float64, requires_grad=True)
        y = function(x)
        y.data.neg_()
        y.sum().backward()
        see.value(x.grad)
        with mt.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda packed: packed):
            y = function(x)
        y.data.sub_(3)
        y.sum().backward()
        see.value(x.grad)
