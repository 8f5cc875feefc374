"""Sections 4, 8 and 9 of the semantics: nodes, hooks on several tensors, looking at the engine."""

import copy
import pickle
import threading

from tests.parity.rows import shows


def pair(mt):
    return mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)


def named(dtype):
    return str(dtype).rpartition(".")[2]


def two_outputs(mt):
    class TwoOutputs(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, 5, x.sum()

        @staticmethod
        def backward(ctx, grad, nothing, grad_sum):
            return grad * 2 + grad_sum

    return TwoOutputs


def leaf_node(mt):
    x = mt.tensor([1.0, 1.0], requires_grad=True)
    return x, (x * 2).grad_fn.next_functions[0][0]


@shows("8 calling a node")
def of_a_leaf_takes_a_copy_of_what_it_is_given(mt, see):
    for enabled in (False, True):
        x, node = leaf_node(mt)
        given = mt.ones(2)
        with mt.set_grad_enabled(enabled):
            see(node(given))
            given[0] = 99
            see.value(x.grad, given)
            kept = x.grad
            node(given)
            see.value(x.grad, given, kept)
            see(kept is x.grad)


@shows("8 calling a node")
def of_a_leaf_may_be_recorded(mt, see):
    for enabled in (False, True):
        x, node = leaf_node(mt)
        given = mt.ones(2, requires_grad=True)
        with mt.set_grad_enabled(enabled):
            node(given)
            node(given)
        see.value(x.grad)


@shows("8 calling a node")
def of_a_leaf_runs_the_hooks_of_the_leaf_alone(mt, see):
    x, node = leaf_node(mt)
    x.register_hook(lambda gradient: see("tensor", gradient))
    x.register_post_accumulate_grad_hook(lambda leaf: see("post accumulate", leaf.grad))
    node.register_prehook(lambda gradients: see("pre", gradients))
    node.register_hook(lambda gradients, arrived: see("post", arrived))
    node(mt.ones(2))
    node(None)
    see(x.grad)


@shows("8 calling a node")
def of_a_leaf_that_is_none_any_more(mt, see):
    x, node = leaf_node(mt)
    x.requires_grad_(False)
    see(node(mt.ones(2)), x.grad)
    x.mul_(mt.ones(2, requires_grad=True))
    with see.raising():
        node(mt.ones(2))


@shows("8 calling a node")
def of_a_leaf_with_another_shape_or_dtype(mt, see):
    for enabled in (False, True):
        for given in (mt.ones(1), mt.ones(2, dtype=mt.float64), mt.ones(3), mt.ones(2, 2), mt.tensor(3.0)):
            x, node = leaf_node(mt)
            with mt.set_grad_enabled(enabled), see.raising():
                node(given)
            see.value(x.grad)


@shows("8 graph.Node")
def is_what_every_grad_fn_is_an_instance_of(mt, see):
    x, y = pair(mt)
    node = mt.autograd.graph.Node
    a = x * y
    a[0:1].mul_(2)
    b = two_outputs(mt).apply(a)[0]
    for one in (a.grad_fn, b.grad_fn, x.exp().grad_fn, x.exp().grad_fn.next_functions[0][0]):
        see(one.name(), isinstance(one, node), issubclass(type(one), node))
    see(isinstance(x, node), isinstance(3, node))


@shows("8 Node.metadata")
def is_a_dict_for_the_user(mt, see):
    x, y = pair(mt)
    a = x * y
    see(a.grad_fn.metadata)
    a.grad_fn.metadata["note"] = 5
    see(a.grad_fn.metadata, (x * y).grad_fn.metadata)


@shows("8 _sequence_nr(), _set_sequence_nr(n)")
def rises_in_the_order_of_creation(mt, see):
    x, y = pair(mt)
    a, b = x * y, x + y
    c = a * b
    numbers = [one.grad_fn._sequence_nr() for one in (a, b, c)]
    see(numbers[1] - numbers[0], numbers[2] - numbers[1])
    see(a.grad_fn.next_functions[0][0]._sequence_nr())


@shows("8 _sequence_nr(), _set_sequence_nr(n)")
def decides_among_what_is_ready(mt, see):
    x, _ = pair(mt)
    a, b, c = x * 2, x * 3, x * 5
    total = ((a + b) + c).sum()
    with see.order(total):
        total.backward(retain_graph=True)
    a.grad_fn._set_sequence_nr(10**9)
    see(a.grad_fn._sequence_nr())
    with see.order(total):
        total.backward(retain_graph=True)
    with see.order(total):
        see.value(*mt.autograd.grad(total, x, retain_graph=True))
    with see.order(total):
        see.value(*mt.autograd.grad(total, b, retain_graph=True))
    for wrong in (-1, "a"):
        with see.raising():
            a.grad_fn._set_sequence_nr(wrong)


@shows("8 _input_metadata")
def describes_the_outputs_of_the_forward(mt, see):
    x, _ = pair(mt)
    m = mt.ones(2, 3, dtype=mt.float64, requires_grad=True)
    for tensor in (x * 2, m.sum(0), m.sum(), m * 1, m.to(mt.float32)):
        see([(list(one.shape), named(one.dtype), str(one.device)) for one in tensor.grad_fn._input_metadata])
    see(len(two_outputs(mt).apply(x)[0].grad_fn._input_metadata))
    leaf = (x * 2).grad_fn.next_functions[0][0]
    see([(list(one.shape), named(one.dtype)) for one in leaf._input_metadata])


@shows("8 calling a node")
def runs_it(mt, see):
    x, y = pair(mt)
    a = x * y
    ones = mt.ones(2)
    result = a.grad_fn(ones)
    see(type(result) is tuple, [(one.tolist(), one.requires_grad) for one in result])
    with mt.no_grad():
        see([(one.tolist(), one.requires_grad) for one in a.grad_fn(ones)])
    see(a.grad_fn(None))
    see.value(x.exp().grad_fn(ones), a.sum().grad_fn(mt.tensor(2.0)))
    seed = mt.ones(2, requires_grad=True)
    see.value(*mt.autograd.grad(a.grad_fn(seed)[0].sum(), (seed, y)))
    leaf = (x * 2).grad_fn.next_functions[0][0]
    see(leaf(ones), x.grad.tolist())
    see(leaf(ones), x.grad.tolist())


@shows("8 calling a node")
def runs_no_hooks(mt, see):
    x, y = pair(mt)
    a = x * y
    a.register_hook(lambda grad: grad * 10)
    a.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    a.grad_fn.register_hook(lambda grads, outputs: (grads[0] * 10, grads[1]))
    see.value(*a.grad_fn(mt.ones(2)))


@shows("8 calling a node")
def with_wrong_arguments(mt, see):
    x, y = pair(mt)
    node = (x * y).grad_fn
    with see.raising():
        node()
    with see.raising():
        node(mt.ones(2), mt.ones(2))
    with see.raising():
        node(1)
    with see.raising():
        two_outputs(mt).apply(x)[0].grad_fn(mt.ones(2), None, None)


@shows("8 calling a node")
def after_freeing(mt, see):
    x, y = pair(mt)
    a = x * y
    a.sum().backward()
    with see.raising():
        a.grad_fn(mt.ones(2))


@shows("6 increment_version")
def counts_a_write(mt, see):
    x, y = pair(mt)
    increment = mt.autograd.graph.increment_version
    a = x * y
    increment(x)
    see(x._version)
    increment([x, y])
    see(x._version, y._version)
    with see.raising():
        a.sum().backward()
    with see.raising():
        increment(3)
    with see.raising():
        increment([3])


@shows("4 register_multi_grad_hook")
def waits_for_all(mt, see):
    x, y = pair(mt)
    a, b = x * y, x * y
    c = a * 2
    handle = mt.autograd.graph.register_multi_grad_hook(
        (x, y, a, b), lambda grads: see([None if grad is None else grad.tolist() for grad in grads])
    )
    a.sum().backward(retain_graph=True)
    a.sum().backward(inputs=(x,), retain_graph=True)
    mt.autograd.grad(a.sum(), a, retain_graph=True)
    c.sum().backward(retain_graph=True)
    (a.sum() + b.sum()).backward(retain_graph=True)
    mt.autograd.backward([a.sum(), b.sum()], retain_graph=True)
    (x * 2).sum().backward()
    handle.remove()
    handle.remove()
    a.sum().backward()


@shows("4 register_multi_grad_hook")
def any_acts_once(mt, see):
    x, y = pair(mt)
    a, b = x * y, x * y
    handle = mt.autograd.graph.register_multi_grad_hook(
        (x, mt.ones(1), y, a, b), lambda grad: see.value(grad), mode="any"
    )
    (a.sum() + b.sum()).backward(retain_graph=True)
    a.sum().backward(inputs=(x,), retain_graph=True)
    mt.autograd.grad(b.sum(), b, retain_graph=True)
    handle.remove()
    a.sum().backward()


@shows("4 register_multi_grad_hook")
def what_they_return_is_ignored_and_errors_surface(mt, see):
    x, y = pair(mt)
    a = x * y
    hook = mt.autograd.graph.register_multi_grad_hook
    for mode in ("all", "any"):
        with hook((x, a), lambda *args: 5, mode=mode):
            a.sum().backward(retain_graph=True)
    with hook((x, a), lambda grads: 1 / 0), see.raising():
        a.sum().backward(retain_graph=True)
    with hook((x, a), lambda grads: 1 / 0, mode="any"), see.raising():
        a.sum().backward(retain_graph=True)
    see.value(x.grad, y.grad)
    with see.raising():
        hook((x,), print, mode="some")
    with see.raising():
        hook((mt.ones(1),), print)


@shows("4 register_multi_grad_hook")
def counts_apart_in_a_backward_inside_of_a_backward(mt, see):
    x, y = pair(mt)
    p, q = x * 2, x * 3
    calls = []
    mt.autograd.graph.register_multi_grad_hook((p, q), lambda grads: calls.append([g is not None for g in grads]))

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor.clone()

        @staticmethod
        def backward(ctx, grad):
            with mt.enable_grad():
                p.sum().backward(retain_graph=True)
            return grad

    (p.sum() + Inner.apply(y).sum() + q.sum()).backward(retain_graph=True)
    see(calls)


@shows("4 register_multi_grad_hook")
def counts_apart_in_threads(mt, see):
    calls = []
    meet = threading.Barrier(2)

    def work():
        x = shared * 2
        x.register_hook(lambda grad: (meet.wait(), None)[1])
        (x * other).sum().backward()

    shared = mt.ones(2, requires_grad=True)
    other = mt.ones(2, requires_grad=True)
    mt.autograd.graph.register_multi_grad_hook((shared, other), lambda grads: calls.append(len(grads)))
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    see(calls)


@shows("4 register_multi_grad_hook")
def does_not_wait_for_a_leaf_that_is_not_reached(mt, see):
    x, y = mt.ones(3, requires_grad=True), mt.ones(3, requires_grad=True)
    product, one = x * y, mt.ones(3)
    mt.autograd.graph.register_multi_grad_hook([x, y], lambda grads: see.value(*grads))
    for roots, inputs in (([x], [x]), ([x], [y]), ([x, y], [x, y]), ([x, product], [y]), ([product], [product, x])):
        with see.raising():
            gradients = [one] * len(roots)
            see(mt.autograd.grad(roots, inputs, gradients, retain_graph=True, allow_unused=True))


@shows("9 where the engine stands")
def tells_where_the_engine_stands(mt, see):
    c = mt._C
    see(c._current_graph_task_id(), c._current_autograd_node())
    for probe in (lambda: c._will_engine_execute_node(x.exp().grad_fn), c._current_graph_task_execution_order):
        with see.raising():
            probe()
    x, _ = pair(mt)
    a = x * 2
    b = a * x
    d = b.exp()
    ids = []

    def hook(grad):
        ids.append(c._current_graph_task_id())
        see(c._current_autograd_node() is b.grad_fn)
        nodes = (a.grad_fn, b.grad_fn, d.grad_fn, a.grad_fn.next_functions[0][0], x.exp().grad_fn)
        see([c._will_engine_execute_node(node) for node in nodes])
        with see.raising():
            c._will_engine_execute_node(a)

    b.register_hook(hook)
    b.grad_fn.register_prehook(lambda grads: see(c._current_autograd_node() is b.grad_fn))
    b.grad_fn.register_hook(lambda grads, outputs: see(c._current_autograd_node() is b.grad_fn))
    d.sum().backward(retain_graph=True)
    d.sum().backward(retain_graph=True, inputs=[x])
    mt.autograd.grad(d.sum(), a, retain_graph=True)
    mt.autograd.grad(d.sum(), b, retain_graph=True)
    see([number - ids[0] for number in ids])


@shows("9 where the engine stands")
def tells_what_is_to_come(mt, see):
    x, y = pair(mt)
    a, b = x * 2, y * 3
    total = (a * b + a).exp().sum()

    def order(grad):
        see([node.name() for node in mt._C._current_graph_task_execution_order()])

    total.register_hook(order)
    with mt.autograd.set_multithreading_enabled(False):
        total.backward(retain_graph=True)
        mt.autograd.grad(total, a, retain_graph=True)
        mt.autograd.grad(total, x, retain_graph=True)
        total.backward(inputs=[a])


@shows("5 set_multithreading_enabled, is_view_replay_enabled")
def settings_are_remembered(mt, see):
    def now():
        see(mt._C._is_multithreading_enabled(), mt._C._is_view_replay_enabled(), mt.autograd.is_view_replay_enabled())

    now()
    with mt.autograd.set_multithreading_enabled(False), mt.autograd._force_original_view_tracking(True):
        now()
    now()
    mt.autograd.set_multithreading_enabled(False)
    now()
    mt.autograd.set_multithreading_enabled(True)


@shows("5 set_multithreading_enabled, is_view_replay_enabled")
def settings_that_a_hook_changes_end_with_its_node(mt, see):
    x = mt.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: mt.autograd._force_original_view_tracking(True) and None)
    x.register_hook(lambda g: see(mt._C._is_view_replay_enabled()))
    y.sum().backward()
    see(mt._C._is_view_replay_enabled())


@shows("6 _unsafe_preserve_version_counter")
def writes_that_are_not_counted(mt, see):
    x, y = pair(mt)
    a, b = x * 1, y * 1
    product = a * b
    with mt.autograd._unsafe_preserve_version_counter((a, b)), mt.no_grad():
        a.add_(1)
        b.add_(1)
        see(a._version, b._version)
    see(a._version, b._version)
    product.sum().backward()
    see.value(x.grad, y.grad)
    with mt.autograd._unsafe_preserve_version_counter(a):
        a.detach().zero_()
    see(a._version)
    with see.raising():
        mt.autograd._unsafe_preserve_version_counter(3)


@shows("4 queue_callback")
def calls_back_after_the_last_node(mt, see):
    engine = mt.autograd.Variable._execution_engine
    c = mt._C
    with see.raising():
        engine.queue_callback(print)
    x, _ = pair(mt)
    a = x * 2

    def at_the_end():
        see(c._current_graph_task_id() >= 0, c._current_autograd_node(), x.grad, mt.is_grad_enabled())
        engine.queue_callback(lambda: see("later still", c._current_graph_task_id() >= 0))

    a.register_hook(lambda grad: engine.queue_callback(at_the_end))
    a.register_hook(lambda grad: engine.queue_callback(lambda: see("second")))
    a.sum().backward(retain_graph=True)
    see(c._current_graph_task_id())
    mt.autograd.grad(a.sum(), x, create_graph=True)

    def fails():
        raise ValueError("at the end")

    x.grad = None
    b = x * 2
    b.register_hook(lambda grad: engine.queue_callback(fails))
    with see.raising():
        b.sum().backward()
    see.value(x.grad)
    d = x * 2
    d.register_hook(lambda grad: engine.queue_callback(lambda: see("never")))
    d.register_hook(lambda grad: 1 / 0)
    with see.raising():
        d.sum().backward()


@shows("4 queue_callback")
def belongs_to_its_own_backward(mt, see):
    engine = mt.autograd.Variable._execution_engine
    x, _ = pair(mt)

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor.clone()

        @staticmethod
        def backward(ctx, grad):
            outer = mt._C._current_graph_task_id(), mt._C._current_autograd_node().name()
            with mt.enable_grad():
                leaf = mt.ones(2, requires_grad=True)
                inside = leaf * 2
            inside.register_hook(lambda grad: engine.queue_callback(lambda: see("inner end")))
            inside.register_hook(lambda grad: see(outer[0] != mt._C._current_graph_task_id(), outer[1]))
            inside.sum().backward()
            see("inner done", mt._C._current_autograd_node().name())
            return grad

    a = Inner.apply(x)
    a.register_hook(lambda grad: engine.queue_callback(lambda: see("outer end")))
    a.sum().backward()
    see("outer done")


@shows("4 queue_callback")
def is_an_old_name_of_tensors(mt, see):
    variable = mt.autograd.Variable
    x, _ = pair(mt)
    see(isinstance(x, variable), isinstance(3, variable), type(variable(x)) is mt.Tensor)
    see(variable(mt.ones(2)), variable(mt.ones(2), requires_grad=True))


@shows("4 register_multi_grad_hook")
def of_the_only_root_and_of_leaves_in_grad(mt, see):
    x, y = pair(mt)
    z = x * y
    mt.autograd.graph.register_multi_grad_hook([z, x], lambda gradients: see.value(*gradients))
    z.backward(mt.ones(2), retain_graph=True)
    with see.raising():
        mt.autograd.grad(z, x, mt.ones(2), retain_graph=True)
    see.value(*mt.autograd.grad(z, y, mt.ones(2)))


@shows("8 graph.Node")
def cannot_be_copied(mt, see):
    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = mt.ones(2, requires_grad=True)
    for node in ((x * 2).grad_fn, (x * 2).grad_fn.next_functions[0][0], Twice.apply(x).grad_fn):
        for copying in (copy.copy, copy.deepcopy, pickle.dumps):
            with see.raising():
                copying(node)
