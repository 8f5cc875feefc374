"""Facts about torch on which its recorder rests: what hooks see, and in which order they run.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import pytest

from tests.parity.pytorch.watching import hooks, name, values, walk


def test_hooks_run_in_this_order_at_a_node_and_at_a_leaf(torch):
    """Tensor hooks, also later ones, then node pre-hooks, the node or the accumulation, then node post-hooks."""
    leaf, ran = torch.ones(2, requires_grad=True), []
    y = leaf * 2
    end = y.grad_fn.next_functions[0][0]
    y.grad_fn.register_hook(lambda made, got: ran.append("post"))
    y.grad_fn.register_prehook(lambda got: ran.append("pre"))
    y.register_hook(lambda gradient: ran.append("tensor"))
    end.register_hook(lambda made, got: ran.append("leaf post"))
    end.register_prehook(lambda got: ran.append("leaf pre"))
    leaf.register_post_accumulate_grad_hook(lambda leaf: ran.append(f"accumulated {leaf.grad.tolist()}"))
    leaf.register_hook(lambda gradient: ran.append("leaf tensor"))
    y.register_hook(lambda gradient: ran.append("later tensor"))
    y.grad_fn.register_prehook(lambda got: ran.append("later pre"))
    y.sum().backward()
    assert ran == ["tensor", "later tensor", "pre", "later pre", "post",
                   "leaf tensor", "leaf pre", "accumulated [2.0, 2.0]", "leaf post"]  # fmt: skip


def test_retain_grad_keeps_what_tensor_hooks_return_and_pre_hooks_get(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.retain_grad()
    y.grad_fn.register_prehook(lambda got: (got[0] + 1,))
    y.register_hook(lambda gradient: gradient * 10)
    y.sum().backward()
    assert y.grad.tolist() == [10, 10]


def test_the_last_pre_hook_sees_what_the_node_gets_and_the_last_post_hook_what_it_sends(torch):
    leaf, seen = torch.ones(2, requires_grad=True), []
    y = leaf * 2
    y.register_hook(lambda gradient: gradient * 10)
    y.grad_fn.register_prehook(lambda got: (got[0] + 5,))
    y.grad_fn.register_hook(lambda made, got: (made[0] + 1, None))
    with hooks([y.grad_fn], lambda node, got: seen.append(values(got)),
               lambda node, made, got: seen.append((values(made), values(got)))):  # fmt: skip
        y.sum().backward()
    assert seen == [[[15, 15]], ([[31, 31], None], [[15, 15]])]
    assert leaf.grad.tolist() == [31, 31]


def test_a_post_hook_sees_gradients_in_the_shape_and_dtype_of_the_inputs(torch):
    a, b, seen = torch.ones(4, 3, dtype=torch.float64, requires_grad=True), torch.ones(3, requires_grad=True), []
    y = a * b
    y.grad_fn.register_hook(lambda made, got: seen.extend((tuple(one.shape), one.dtype) for one in made))
    y.sum().backward()
    assert seen == [((4, 3), torch.float64), ((3,), torch.float32)]


def test_the_gradient_of_an_unused_output_is_none(torch):
    first, _ = torch.split(torch.ones(4, requires_grad=True) * 1, 2)
    seen = []
    with hooks([first.grad_fn], lambda node, got: seen.append(values(got)),
               lambda node, made, got: seen.append((values(made), values(got)))):  # fmt: skip
        first.sum().backward()
    assert seen == [[[1, 1], None], ([[1, 1, 0, 0]], [[1, 1], None])]


def test_nodes_behind_a_gradient_of_none_run_with_none(torch):
    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None

    a, b, seen = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True), {}
    unused = b * 1
    end = unused.grad_fn.next_functions[0][0]
    y = First.apply(a, unused)
    with hooks([unused.grad_fn, end], lambda node, got: seen.update({name(node): values(got)})):
        y.sum().backward()
    assert seen == {"MulBackward0": [None], "AccumulateGrad": [None]}
    assert b.grad is None


def test_saved_tensors_can_be_read_in_hooks_before_and_after_the_node(torch):
    y, seen = torch.ones(2, requires_grad=True).exp(), []
    expected = y.tolist()

    def read(node, *told):
        seen.append(node._saved_result.tolist())

    with hooks([y.grad_fn], read, read):
        y.sum().backward()
    assert seen == [expected, expected]
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._saved_result


def test_a_post_hook_sees_what_backward_wrote_into_its_gradient(torch):
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, gradient):
            gradient[0] = 99.0
            return gradient

    y, seen = Writes.apply(torch.ones(3, requires_grad=True)), []
    with hooks([y.grad_fn], lambda node, got: seen.append((values(got), got[0]._version)),
               lambda node, made, got: seen.append((values(got), got[0]._version))):  # fmt: skip
        (y * 2).sum().backward()
    assert seen == [([[2, 2, 2]], 0), ([[99, 2, 2]], 1)]


def users_pre(got):
    return (got[0] * 2,)


def users_post(made, got):
    return (made[0] + 1, None)


def test_the_node_hooks_of_the_user_are_listed_by_a_handle_of_ours(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    leaf = torch.ones(2, requires_grad=True)
    y = Same.apply(leaf * 2)
    for node in walk(y.grad_fn)[0]:
        node.register_prehook(users_pre)
        node.register_hook(users_post)
        before, after = node.register_prehook(lambda got: None), node.register_hook(lambda made, got: None)
        assert next(iter(before.hooks_dict_ref().values())) is users_pre
        assert next(iter(after.hooks_dict_ref().values())) is users_post
        assert [len(one.hooks_dict_ref()) for one in (before, after)] == [2, 2]


def test_the_tensor_hooks_of_the_user_are_listed_by_the_tensor(torch):
    def double(gradient):
        return gradient * 2

    leaf = torch.ones(2, requires_grad=True)
    y = leaf * 2
    assert (y._backward_hooks, leaf._post_accumulate_grad_hooks, y.retains_grad) == (None, None, False)
    y.register_hook(double)
    y.retain_grad()
    leaf.register_post_accumulate_grad_hook(double)
    assert list(y._backward_hooks.values()) == [double]
    assert list(leaf._post_accumulate_grad_hooks.values()) == [double]
    assert y.retains_grad


def test_a_hook_can_be_wrapped_for_a_pass_and_put_back(torch):
    leaf, seen = torch.ones(2, requires_grad=True), []
    y = leaf * 2
    y.register_hook(lambda gradient: gradient * 10)
    y.grad_fn.register_prehook(users_pre)
    handle = y.grad_fn.register_prehook(lambda got: None)
    listings = [y._backward_hooks, handle.hooks_dict_ref()]
    handle.remove()
    originals = [dict(one) for one in listings]

    def wrapped(hook):
        def watching(got):
            result = hook(got)
            seen.append([one[0].tolist() if isinstance(one, tuple) else one.tolist() for one in (got, result)])
            return result

        return watching

    for listing in listings:
        listing.update({key: wrapped(hook) for key, hook in listing.items()})
    y.sum().backward(retain_graph=True)
    for listing, original in zip(listings, originals, strict=True):
        listing.update(original)
    y.sum().backward()
    assert seen == [[[1, 1], [10, 10]], [[10, 10], [20, 20]]]
    assert leaf.grad.tolist() == [80, 80]


def test_hooks_run_in_the_order_in_which_they_were_put_into_the_listing(torch):
    """NB: torch reads the dict below the OrderedDict, which `move_to_end` does not change."""
    y, seen = torch.ones(2, requires_grad=True) * 2, []
    y.grad_fn.register_prehook(users_pre)
    handle = y.grad_fn.register_prehook(lambda got: seen.append(values(got)))
    listing = handle.hooks_dict_ref()
    listing.move_to_end(handle.id, last=False)
    y.sum().backward(retain_graph=True)
    ours_first = list(listing.items())
    listing.clear()
    listing.update(ours_first)
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert seen == [[[2, 2]], [[1, 1]]]


def test_a_node_whose_gradient_is_only_asked_for_runs_tensor_hooks_and_no_node_hooks(torch):
    leaf, ran = torch.zeros(2, requires_grad=True), []
    y = leaf * 2
    y.register_hook(lambda gradient: gradient * 10)
    loss = y.exp().sum()
    with hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append((name(node), values(made)))):
        (gradient,) = torch.autograd.grad(loss, y)
    assert ran == [("SumBackward0", [[1, 1]]), ("ExpBackward0", [[1, 1]])]  # the last is what is sent to y
    assert gradient.tolist() == [10, 10]


def test_a_node_that_is_asked_for_and_needed_runs_its_hooks(torch):
    leaf, ran = torch.zeros(2, requires_grad=True), []
    y = leaf * 2
    loss = y.exp().sum()
    with hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append(name(node))):
        torch.autograd.grad(loss, (y, leaf), retain_graph=True)
        ran.append("")
        loss.backward(inputs=[leaf])
    needed = ["SumBackward0", "ExpBackward0", "MulBackward0"]
    assert ran == [*needed, "", *needed, "AccumulateGrad"]


def test_a_hook_can_ask_whether_the_pass_executes_a_node(torch):
    leaf, told = torch.zeros(2, requires_grad=True), []
    y = leaf * 2
    end = y.grad_fn.next_functions[0][0]
    loss = y.exp().sum()

    def ask(got):
        told.append([torch._C._will_engine_execute_node(node) for node in (y.grad_fn, end)])

    loss.grad_fn.register_prehook(ask)
    torch.autograd.grad(loss, y, retain_graph=True)
    loss.backward(inputs=[leaf])
    assert told == [[True, False], [True, True]]


def test_nodes_made_in_a_step_have_the_numbers_given_out_since_the_last_one(torch):
    leaf, numbers, nodes = torch.ones(2, requires_grad=True), [torch._C._autograd._get_sequence_nr()], []
    loss = (leaf**3).sum()

    def after(node, made, got):
        numbers.append(torch._C._autograd._get_sequence_nr())
        nodes.extend((len(numbers) - 1, one.grad_fn) for one in made if one is not None and one.grad_fn)

    numbers = [torch._C._autograd._get_sequence_nr()]
    with hooks(walk(loss.grad_fn)[0], after=after):
        torch.autograd.grad(loss, leaf, create_graph=True)
    assert nodes
    assert all(numbers[step - 1] <= node._sequence_nr() < numbers[step] for step, node in nodes)


def test_a_gradient_under_create_graph_must_be_detached_before_it_is_read(torch):
    leaf, seen = torch.ones(2, requires_grad=True), []
    loss = (leaf**3).sum()
    with hooks([loss.grad_fn.next_functions[0][0]], after=lambda node, made, got: seen.append(made[0])):
        torch.autograd.grad(loss, leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        seen[0].numpy()
    assert seen[0].detach().numpy().tolist() == [3, 3]


def test_an_exception_in_a_hook_reaches_the_user_as_it_is(torch):
    y = torch.ones(2, requires_grad=True) * 2
    raised = ValueError("mine")

    def fail(*told):
        raise raised

    for before, after in ((fail, None), (None, fail)):
        with hooks([y.grad_fn], before, after), pytest.raises(ValueError, match="mine") as caught:
            y.sum().backward(retain_graph=True)
        assert caught.value is raised


def test_removed_handles_leave_no_hook_at_a_leaf_that_lives_on(torch):
    leaf = torch.ones(2, requires_grad=True)
    end = (leaf * 2).grad_fn.next_functions[0][0]
    loss = (leaf * 2).sum()
    with hooks(walk(loss.grad_fn)[0], lambda *told: None, lambda *told: None):
        loss.backward()
    assert len(end.register_prehook(lambda got: None).hooks_dict_ref()) == 1
    assert len(end.register_hook(lambda made, got: None).hooks_dict_ref()) == 1
