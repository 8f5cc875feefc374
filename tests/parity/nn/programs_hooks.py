"""Programs about the hooks of modules: their order, what they get, what they may change. `mt` is torch or microtape."""

from __future__ import annotations


def pair(mt):
    """Two layers and the input."""
    mt.manual_seed(0)
    net = mt.nn.Sequential(mt.nn.Linear(2, 3), mt.nn.Tanh(), mt.nn.Linear(3, 1))
    return net, mt.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)


def shown(values):
    """Shapes of tensors in a hook's arguments."""
    return [None if one is None else list(one.shape) for one in values]


def run_in_order(mt, see):
    net, x = pair(mt)
    ran = []
    handles = []
    for number, module in enumerate(net):
        for name in ("forward_pre", "forward", "full_backward_pre", "full_backward"):
            register = getattr(module, f"register_{name}_hook")
            handles.append(register(lambda *given, at=(number, name): ran.append(at)))
            handles.append(register(lambda *given, at=(number, name, "first"): ran.append(at), prepend=True))
    net(x).sum().backward()
    see(ran)
    see.value(x.grad, *[one.grad for one in net.parameters()])
    for handle in handles:
        handle.remove()
    del ran[:]
    net(x).sum().backward()
    see(ran)


def see_values(mt, see):
    net, x = pair(mt)
    net[0].register_forward_pre_hook(lambda module, args: see.value(*args))
    net[0].register_forward_hook(lambda module, args, result: see.value(*args, result))
    net[2].register_full_backward_pre_hook(lambda module, outputs: see.value(*outputs))
    net[1].register_full_backward_hook(lambda module, inputs, outputs: see.value(*inputs, *outputs))
    result = net(x)
    see(result, x)
    result.sum().backward()
    see.value(x.grad)


def may_change_what_passes(mt, see):
    net, x = pair(mt)
    net[0].register_forward_pre_hook(lambda module, args: args[0] * 2)
    net[0].register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    net[1].register_forward_hook(lambda module, args, result: result * 3)
    net[2].register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 5,))
    net[1].register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 7,))
    net[1].register_full_backward_hook(lambda module, inputs, outputs: see.value(*inputs))
    net(x).sum().backward()
    see.value(x.grad, *[one.grad for one in net.parameters()])


def get_keywords(mt, see):
    class Scaled(mt.nn.Module):
        def forward(self, x, *, scale=1.0):
            return x * scale

    layer = Scaled()

    def pre(module, args, kwargs):
        see(shown(args), kwargs)
        return args, {"scale": kwargs.get("scale", 1.0) + 1}

    layer.register_forward_pre_hook(pre, with_kwargs=True)
    layer.register_forward_hook(lambda module, args, kwargs, result: see(kwargs, result), with_kwargs=True)
    see(layer(mt.ones(2)), layer(mt.ones(2), scale=3.0))
    layer.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    with see.raising():
        layer(mt.ones(2))


def are_called_after_an_error(mt, see):
    class Failing(mt.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    layer, ran = Failing(), []
    layer.register_forward_hook(lambda module, args, result: ran.append("usual"))
    layer.register_forward_hook(lambda module, args, result: ran.append(("always", result)), always_call=True)
    layer.register_forward_hook(lambda module, args, result: 1 / 0, always_call=True)
    with see.raising():
        layer(mt.ones(2))
    see(ran)


def cope_with_several_inputs_and_outputs(mt, see):
    class Two(mt.nn.Module):
        def forward(self, a, text, b, c=None):
            return a * b, text, a + 1, mt.ones(1)

    layer = Two()
    layer.register_full_backward_pre_hook(lambda module, outputs: see.value(*outputs))
    layer.register_full_backward_hook(lambda module, inputs, outputs: see.value(*inputs, *outputs))
    a, b = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0])
    product, text, more, _ = layer(a, "text", b)
    see(product, text, more)
    product.sum().backward(retain_graph=True)
    (product * more).sum().backward()
    see.value(a.grad, b.grad)
    with mt.no_grad():
        see(layer(a, "text", b)[0])


def run_where_no_input_requires_grad(mt, see):
    net, x = pair(mt)
    net[0].register_full_backward_hook(lambda module, inputs, outputs: see(shown(inputs), shown(outputs)))
    net(x.detach()).sum().backward()
    net[0].register_full_backward_hook(lambda module, inputs, outputs: (x,))
    with see.raising():
        net(x.detach()).sum().backward()


def check_what_is_returned(mt, see):
    net, x = pair(mt)
    first = net[2].register_full_backward_pre_hook(lambda module, outputs: (1, 2))
    with see.raising():
        net(x).sum().backward()
    first.remove()
    net[2].register_full_backward_hook(lambda module, inputs, outputs: (1, 2, 3))
    with see.raising():
        net(x).sum().backward()
    other = mt.nn.Identity()
    other.register_full_backward_hook(lambda *given: None)
    with see.raising(text=False):
        other({"a": x})


def survive_a_second_derivative(mt, see):
    net, x = pair(mt)
    net.register_full_backward_hook(lambda module, inputs, outputs: see.value(*inputs, *outputs))
    (gradient,) = mt.autograd.grad(net(x).sum(), x, create_graph=True)
    (gradient * gradient).sum().backward()
    see.value(x.grad, *[one.grad for one in net.parameters()])


PROGRAMS = [
    run_in_order,
    see_values,
    may_change_what_passes,
    get_keywords,
    are_called_after_an_error,
    cope_with_several_inputs_and_outputs,
    run_where_no_input_requires_grad,
    check_what_is_returned,
    survive_a_second_derivative,
]
