"""Programs that use torch in all the ways in which a recorder could disturb them. Each returns what it computed."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def leaf(*shape: int, **options: Any) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True, **options)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor, x > 0

    @staticmethod
    def backward(ctx, grad, _):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor + 0 * x, None


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class PassInside(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (inner * inner).sum().backward()
        return grad * inner.grad


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("no gradient today")


class Noisy(torch.autograd.Function):
    """What is random in a forward that runs again comes out of the generator once more."""

    @staticmethod
    def forward(ctx, x):
        noise = torch.rand_like(x)
        ctx.save_for_backward(noise)
        return x * noise

    @staticmethod
    def backward(ctx, grad):
        (noise,) = ctx.saved_tensors
        return grad * noise * torch.rand(1)


class Counting(torch.autograd.Function):
    """Its forward writes into a tensor of the program's, its backward adds to `.grad`."""

    calls = torch.zeros(2)
    weight = torch.zeros(2, requires_grad=True)

    @staticmethod
    def forward(ctx, x):
        Counting.calls += 1
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            (Counting.weight * grad.detach()).sum().backward()
        return grad * 2


class Reads(torch.autograd.Function):
    """Attributes of ctx, a result that is an argument, and gradients that may be undefined."""

    @staticmethod
    def forward(ctx, x, y, scale=2.0):
        ctx.set_materialize_grads(False)
        ctx.scale, ctx.kept = scale, [x.detach()]
        ctx.save_for_backward(x, None, y)
        return x * y, y.exp(), x

    @staticmethod
    def backward(ctx, product, exponential, same):
        x, _, y = ctx.saved_tensors
        of_x = product * y if product is not None else torch.zeros_like(x)
        of_y = product * x if product is not None else torch.zeros_like(y)
        if exponential is not None:
            of_y = of_y + exponential * y.exp()
        if same is not None:
            of_x = of_x + same
        return of_x, of_y, None


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx, grad, grad_slope):
        x, slope = ctx.saved_tensors
        return grad * slope + grad_slope * 6 * x


class Once(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.t().to(grad.dtype), x.t().to(grad.dtype) @ grad


class Holding(torch.autograd.Function):
    """Keeps its argument and its result on ctx, looks at the class that it is, and calls another Function."""

    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.name = x, type(ctx).__name__
        ctx.y = Cubed.apply(x)[0]
        return ctx.y + 0

    @staticmethod
    def backward(ctx, grad):
        assert ctx.name == type(ctx).__name__ == "HoldingBackward"
        assert Holding.forward is vars(Holding)["forward"].__func__
        return grad * 3 * ctx.x**2


def writes_in_place():
    a = leaf(3)
    b = a * 2
    b += a
    b[0] = 5.0
    b.mul_(a)
    b[1:].sin_()
    b.sum().backward()
    return a.grad


def views():
    a = leaf(4, 4)
    b = a.clone()
    b.view(2, 8)[0].mul_(3)
    b.t().reshape(-1)[2:5].sum().backward()
    return a.grad


def grad_of_grad():
    a, b = leaf(3), leaf(3)
    first = torch.autograd.grad((a.exp() * b).sum(), [a, b], create_graph=True)
    (first[0].pow(2).sum() + first[1].sum()).backward()
    return first, a.grad, b.grad


def a_kept_graph():
    a = leaf(3)
    y = (a * a).sum()
    y.backward(retain_graph=True)
    y.backward()
    return a.grad


def some_inputs():
    a, b = leaf(3), leaf(3)
    (a * b).sum().backward(inputs=[a])
    return a.grad, b.grad


def grad_for_results():
    a = leaf(3)
    b = a * 2
    c = b.exp()
    return torch.autograd.grad(c.sum(), [b, c, a, leaf(2)], allow_unused=True)


def retained_grad():
    a = leaf(3)
    b = a * 2
    b.retain_grad()
    b.exp().sum().backward()
    return a.grad, b.grad


def hooks():
    seen = []
    a = leaf(3)
    a.register_hook(lambda g: g * 2)
    b = a * 3
    b.register_hook(lambda g: seen.append(g.clone()))
    b.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
    b.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    a.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.mul_(10).clone()))
    b.sum().backward()
    return a.grad, seen


def functions():
    a = leaf(3)
    y, mask = Scaled.apply(a * 2, 3.0)
    b = y * 2
    AddOne.apply(b)
    (b.sum() + PassInside.apply(a).sum()).backward()
    return a.grad, mask


def random_functions():
    a = leaf(3)
    (Noisy.apply(a * 2) + Noisy.apply(a)).sum().backward()
    return a.grad, torch.rand(2)


def functions_with_side_effects():
    with torch.no_grad():
        Counting.calls.zero_()
    Counting.weight.grad = None
    a = leaf(2)
    y = Counting.apply(a).sum() + Counting.apply(a * 2).sum()
    y.backward()
    return a.grad, Counting.calls.clone(), Counting.calls._version > 2, Counting.weight.grad


def functions_with_undefined_gradients():
    a, b = leaf(3), leaf(3)
    product, exponential, same = Reads.apply(a, b)
    exponential.sum().backward(retain_graph=True)
    (product + same).sum().backward()
    return a.grad, b.grad, product.grad_fn.scale, len(product.grad_fn.kept)


def functions_of_higher_order():
    a = leaf(3)
    first = torch.autograd.grad(Cubed.apply(a)[0].sum(), a, create_graph=True)[0]
    first.pow(2).sum().backward()
    return first, a.grad


def functions_under_autocast():
    a, weight = leaf(2, 3), leaf(3, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = Once.apply(a * 1, weight)
    y.float().sum().backward()
    return y, a.grad, weight.grad


def functions_that_hold_tensors():
    a = leaf(3)
    y = Holding.apply(a * 1)
    y.sum().backward()
    return a.grad, y.grad_fn.x, y.grad_fn.y.requires_grad, y.grad_fn.name


def functions_with_packed_tensors():
    packed = []

    def pack(tensor):
        packed.append(("pack", tensor.sum().item()))
        return tensor * 2

    def unpack(tensor):
        packed.append(("unpack", tensor.sum().item()))
        return tensor / 2

    a = leaf(3)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = Scaled.apply(a.exp(), 2.0)[0].sum() + Cubed.apply(a)[0].sum() + (a * a).sum()
    y.backward()
    return a.grad, packed


def functions_in_checkpoints():
    a = leaf(3)

    def block(x):
        return Cubed.apply(Scaled.apply(x, 2.0)[0])[0]

    y = checkpoint(block, a * 2, use_reentrant=False).sum() + checkpoint(block, a, use_reentrant=True).sum()
    y.backward()
    return a.grad


def functions_that_raise():
    a, found = leaf(2), []

    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, wrong):
            if wrong == "forward":
                raise KeyError("in forward")
            ctx.wrong = wrong
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if ctx.wrong == "count":
                return grad
            if ctx.wrong == "shape":
                return grad.new_ones(5), None
            if ctx.wrong == "kind":
                return 3.0, None
            return grad, grad

    for wrong in ("forward", "count", "shape", "kind", "constant"):
        try:
            Bad.apply(a, wrong).sum().backward()
        except (RuntimeError, KeyError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found, a.grad


def functions_in_forward_mode():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * 2 + 0 * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    forward_ad = torch.autograd.forward_ad
    a = leaf(3)
    with forward_ad.dual_level():
        y = Double.apply(forward_ad.make_dual(a, torch.ones(3)))
        tangent = forward_ad.unpack_dual(y).tangent
        y.sum().backward()
    return a.grad, tangent


def functions_in_transforms():
    class Halved(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x / 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad / 2 + 0 * x

    x = torch.randn(3)
    func, a = torch.func, leaf(3)
    Halved.apply(a).sum().backward()
    return (
        func.vmap(func.grad(lambda x: Halved.apply(x) ** 2))(x),
        func.jacrev(Halved.apply)(x),
        torch.autograd.functional.jacobian(Halved.apply, x, vectorize=True),
        torch.autograd.grad(Halved.apply(a), a, torch.eye(3), is_grads_batched=True),
        a.grad,
    )


def functions_by_names_of_their_own():
    known = []

    class Registered(torch.autograd.Function):
        def __init_subclass__(cls, **options):
            known.append(cls.__name__)

    class Tripled(Registered):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @classmethod
        def apply(cls, x):
            return super().apply(x * 1)

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3

    a = leaf(3)
    y = Tripled.apply(a)
    y.sum().backward()
    return a.grad, known, Registered.__subclasses__() == [Tripled], type(y.grad_fn).__name__


def checkpoints():
    a = leaf(3)

    def block(x):
        return (x.sin() * x).exp()

    y = checkpoint(block, a * 2, use_reentrant=False).sum() + checkpoint(block, a * 3, use_reentrant=True).sum()
    y.backward()
    return a.grad


def jacobians():
    x = torch.randn(3)
    functional = torch.autograd.functional
    return (
        functional.jacobian(lambda x: x**3, x),
        functional.hessian(lambda x: (x**3).sum(), x),
        functional.jacobian(lambda x: x**3, x, vectorize=True),
    )


def function_transforms():
    x = torch.randn(3)
    func = torch.func
    return func.grad(lambda x: (x**3).sum())(x), func.vmap(func.grad(lambda x: x**3))(x), func.jacrev(torch.sin)(x)


def batched_gradients():
    a = leaf(3)
    return torch.autograd.grad(a**2, a, torch.eye(3), is_grads_batched=True)


def sparse_gradients():
    table = nn.Embedding(5, 3, sparse=True)
    table(torch.tensor([1, 2, 1])).sum().backward()
    return table.weight.grad.to_dense()


def other_dtypes():
    a, b = leaf(3, dtype=torch.complex64), leaf(3, dtype=torch.bfloat16)
    ((a * a.conj()).real.sum() + (b * b + b + b.exp()).sum()).backward()
    return a.grad, b.grad


def mixed_precision():
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(2, 3)).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return list(model.parameters())


def an_lstm():
    model = nn.LSTM(3, 4, 2, bidirectional=True)
    model(torch.randn(5, 2, 3))[0].sum().backward()
    return [one.grad for one in model.parameters()]


def a_transformer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.1)
    model = nn.TransformerEncoder(layer, 2)
    model(torch.randn(2, 5, 8)).sum().backward()
    return [one.grad for one in model.parameters()]


def a_training_loop():
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(2, 3, 8, 8)), torch.tensor([0, 1])).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return list(model.parameters()), list(model.buffers()), [one.grad for one in model.parameters()]


def lbfgs():
    a = leaf(3)
    optimizer = torch.optim.LBFGS([a], max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = (a**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return a


def several_roots():
    a = leaf(3)
    y, z = a * 2, a * 3
    torch.autograd.backward([y, z, y], [torch.ones(3)] * 3)
    return a.grad


def several_outputs():
    a = leaf(6)
    x, _, z = a.split(2)
    (x * z).sum().backward()
    return a.grad


def saved_tensor_hooks():
    unpacked = [0]

    def unpack(x):
        unpacked[0] += 1
        return x

    a = leaf(3)
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, unpack):
        y = (a.exp() * a).sum()
    with torch.autograd.graph.save_on_cpu():
        y = y + (a * a).sum()
    y.backward()
    return a.grad, unpacked


def module_hooks():
    seen = []
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    model[0].register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(grad_out[0].clone()))
    model[0].register_full_backward_pre_hook(lambda module, grad_out: (grad_out[0] * 3,))
    model[1].register_forward_hook(lambda module, args, out: out * 2)
    model(torch.randn(2, 3)).sum().backward()
    return model[0].weight.grad, seen


def errors():
    found = []
    a = leaf(2)
    b = a.exp()
    b += 1
    for run in (
        lambda: torch.randn(3).sum().backward(),
        lambda: (leaf(3) * 2).backward(),
        lambda: torch.autograd.grad(leaf(3).sum(), leaf(3)),
        lambda: b.sum().backward(),
        lambda: Failing.apply(a).sum().backward(),
    ):
        try:
            run()
        except (RuntimeError, ValueError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def anomaly_mode():
    a = torch.zeros(2, requires_grad=True)
    with torch.autograd.detect_anomaly(), torch.no_grad(), torch.enable_grad():
        try:
            (a.sqrt() * 0).sum().backward()
        except RuntimeError as error:
            return str(error)


def subclasses():
    class Own(torch.Tensor):
        pass

    a = torch.randn(3).as_subclass(Own).requires_grad_()
    (a * 2).exp().sum().backward()
    return a.grad.as_subclass(torch.Tensor)


def tensors_without_elements():
    a = torch.randn(3, device="meta", requires_grad=True)
    (a * 2).sum().backward()
    return tuple(a.grad.shape)


def modes_of_the_programs_own():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Dispatched(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    class Called(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    class Cubed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(result := x**3)
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] ** (2 / 3) * 3

    a, layer = leaf(3), nn.Linear(3, 3)
    optimizer = torch.optim.Adam([a, *layer.parameters()])
    with Dispatched(), Called():
        for _ in range(2):
            optimizer.zero_grad()
            y = layer((a * 2).exp()).relu().softmax(0)
            y.retain_grad()
            z = Cubed.apply(y.clone().tanh_()) + checkpoint(torch.sigmoid, y, use_reentrant=False)
            z[0] = z[1] * 2
            nn.functional.layer_norm(torch.cat([z, a]), [6]).norm().backward(retain_graph=True)
            torch.autograd.grad(z.square().sum(), a, create_graph=True)
            optimizer.step()
    return a.grad, seen


def threads():
    found = []

    def run():
        b = torch.ones(3, requires_grad=True)
        (b * 2).sum().backward()
        found.append(b.grad)

    a = leaf(3)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    (a * a).sum().backward()
    return a.grad, found


def without_grad():
    a = leaf(3)
    with torch.inference_mode():
        b = a * 2
    with torch.no_grad():
        a.mul_(2)
    return b, a, (a.detach() * 2).item() if a.numel() == 1 else a.argmax().item()


def a_deep_graph():
    a = leaf(2)
    y = a
    for _ in range(3000):
        y = y * 1.0001
    y.sum().backward()
    return a.grad


def parametrized():
    model = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    model(torch.randn(1, 3)).sum().backward()
    return [one.grad for one in model.parameters()]


def distributions():
    mean, scale = leaf(3), nn.Parameter(torch.ones(3))
    normal = torch.distributions.Normal(mean, scale)
    (-normal.log_prob(normal.rsample())).sum().backward()
    return mean.grad, scale.grad
