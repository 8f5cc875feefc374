"""Programs that use torch beside threads, processes, compilers, copies and errors. Each returns what it computed."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import pickle
import sys
import threading
from typing import Any

import torch
from torch import nn

PROCESS = os.getpid()  # that has imported this file: a fork has another number


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        own = torch.tensor([float(index), 1.0], requires_grad=True)
        if os.getpid() == PROCESS:  # torch may refuse a pass in a fork
            (own * own).sum().backward()  # a pass in the worker
        return 2 * own.detach()


class Interrupting(torch.autograd.Function):
    error: type[BaseException] = KeyboardInterrupt

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise Interrupting.error("in the middle")


class Fragile(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.error = None

    def forward(self, x):
        hidden = self.inner(x)
        if self.error is not None:
            raise self.error
        return hidden.tanh()


def trained(model: nn.Module, loader: Any) -> list[Any]:
    for batch in loader:
        model(batch).sum().backward()
    return [one.grad for one in model.parameters()]


def a_loader_that_forks():
    return trained(nn.Linear(2, 1), torch.utils.data.DataLoader(Numbers(), 2, num_workers=2))


def a_loader_that_spawns():
    loader = torch.utils.data.DataLoader(Numbers(), 3, num_workers=1, multiprocessing_context="spawn")
    return trained(nn.Linear(2, 1), loader)


def a_pass_in_a_thread():
    a = leaf(3)
    y = (a * a).exp().sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    (a * 2).sum().backward()
    return a.grad


def passes_in_two_threads_at_once():
    weight = leaf(20, 20)
    found: dict[int, Any] = {}

    def run(number: int) -> None:
        own = weight.detach().clone().requires_grad_()
        for _ in range(20):
            (own @ own).tanh().sum().backward()
        found[number] = own.grad

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for _ in range(20):
        (weight @ weight).sum().backward()
    for one in threads:
        one.join()
    return weight.grad, found[0], found[1]


def _compiled(backend: str) -> Any:
    torch.compiler.reset()
    model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2))
    compiled = torch.compile(model, backend=backend)
    for _ in range(2):
        compiled(torch.randn(5, 3)).square().sum().backward()
    return [one.grad for one in model.parameters()]


def compiled_by_eager():
    return _compiled("eager")


def compiled_by_aot_eager():
    return _compiled("aot_eager")


def a_compiled_step():
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())

    @torch.compile(backend="eager")
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return [step(torch.randn(8, 4)) for _ in range(3)], list(model.parameters())


def compiled_code_with_breaks():
    torch._dynamo.reset()
    w = leaf(4, 4)
    seen = []

    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.clone())
            return grad * ctx.saved_tensors[0].cos()

    @torch.compiler.disable
    def show(x):
        seen.append((x * 2).detach().clone())
        return x * 3

    @torch.compile(backend="eager")
    def broken(x):
        loss = show(torch.tanh(x @ w)).square().mean()
        seen.append(loss.item())
        if loss.item() < 1e6:
            loss = loss + show(Shown.apply(w)).mean()
        (gradient,) = torch.autograd.grad(loss, w, retain_graph=True)
        return loss + gradient.norm().item()

    for _ in range(3):
        broken(torch.randn(3, 4)).backward()
    return w.grad, seen


def compiled_code_in_functions_and_hooks():
    torch._dynamo.reset()
    w, x = leaf(4, 4), leaf(3, 4)
    compilations = []

    def counted(module, _):
        compilations.append(len(module.graph.nodes))
        return module

    @torch.compiler.disable
    def show(x):
        return x * 3

    @torch.compile(backend=counted)
    def broken(x):
        loss = show(torch.tanh(x @ w)).square().mean()
        if loss.item() < 1e6:
            loss = loss + w.sin().mean()
        return loss + x.square().mean()

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * broken(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * broken(ctx.saved_tensors[0]) + broken(grad)

    for _ in range(2):
        y = Twice.apply(x)
        y.register_hook(lambda grad: grad * broken(grad))
        y.square().sum().backward()
    return x.grad, compilations


def compiled_code_that_calls_a_held_apply():
    torch._dynamo.reset()
    x = leaf(3)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    square = Square.apply

    @torch.compile(backend="eager")
    def loss(x):
        return square(x).sum()

    for _ in range(2):
        (loss(x) + square(x).mean()).backward()
    return x.grad


def modules_that_compiled_code_calls():
    torch._dynamo.reset()
    compilations = []

    def counted(module, _):
        compilations.append(len(module.graph.nodes))
        return module

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh())])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).sigmoid()
                if x.sum().item() > 1e9:  # a graph break in a loop: the frame is not compiled
                    x = x * 2
            return x

    net = Net()
    compiled = torch.compile(net, backend=counted)

    @torch.compile(backend=counted)
    def loss(x):
        return compiled(x).square().sum() + net(x).sum()

    for _ in range(3):
        compiled(torch.randn(5, 3)).square().sum().backward()
        loss(torch.randn(5, 3)).backward()
    return [one.grad for one in net.parameters()], compilations


def a_compiled_optimiser():
    torch._dynamo.reset()
    model = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer)

    @torch.compile(backend="eager", fullgraph=False)
    def step():
        optimizer.step()
        schedule.step()

    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(2, 4)).square().sum().backward()
        step()
    return list(model.parameters())


def spectral_normalisation():
    model = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2))
    for _ in range(2):
        model(torch.randn(4, 3)).sum().backward()
    return [one.grad for one in model.parameters()], list(model.buffers())


def a_parametrization():
    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    model = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(model, "weight", Symmetric())
    with nn.utils.parametrize.cached():
        (model(torch.randn(2, 3)) + model(torch.randn(2, 3))).sum().backward()
    return [one.grad for one in model.parameters()]


def traced_functions():
    def work(x, w):
        return (x * w).tanh() @ w

    x, w = torch.randn(3, 3), leaf(3, 3)
    traced = torch.jit.trace(work, (x, torch.ones(3, 3)))
    for _ in range(3):
        traced(x, w).sum().backward()
    return w.grad


def a_traced_module():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            y = self.linear(x).view(x.shape[0], 2, x.size(-1) // 2)
            y[0] = 0
            return nn.functional.mse_loss(y.transpose(1, 2).reshape(len(x), -1), x)

    model, x = Halves(), torch.randn(3, 4)
    traced = torch.jit.trace(model, x)
    for _ in range(3):
        (traced(x) + model(x)).backward()
    return [one.grad for one in model.parameters()], [node.kind() for node in traced.graph.nodes()]


def scripted_functions():
    model = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    for _ in range(3):
        model(torch.randn(2, 3)).sum().backward()
    return [one.grad for one in model.parameters()]


def copies_of_a_module():
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.BatchNorm1d(3))
    model(torch.randn(4, 3)).sum().backward()
    copied = copy.deepcopy(model)
    unpickled = pickle.loads(pickle.dumps(model))
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    size = file.tell()
    file.seek(0)
    unpickled.load_state_dict(torch.load(file))
    for one in (model, copied, unpickled):
        one(torch.randn(4, 3)).square().sum().backward()
    return [one.grad for each in (model, copied, unpickled) for one in each.parameters()], size


def an_interrupted_forward():
    model = Fragile()
    found = []
    for error in (KeyboardInterrupt("now"), ValueError("too large"), SystemExit(3), None):
        model.error = error
        try:
            model(torch.randn(2, 3)).sum().backward()
        except BaseException as caught:
            found.append(repr(caught))
    return found, [one.grad for one in model.parameters()]


def interrupted_passes():
    found = []
    a = leaf(3)
    for error in (KeyboardInterrupt, SystemExit, MemoryError):
        Interrupting.error = error
        try:
            (Interrupting.apply(a * 2) * 3).sum().backward()
        except BaseException as caught:
            found.append(repr(caught))
    (a * 5).sum().backward()
    return found, a.grad


def a_hook_that_exits():
    a = leaf(3)
    handle = a.register_hook(lambda gradient: sys.exit("enough"))
    found = []
    try:
        (a * 2).sum().backward()
    except SystemExit as caught:
        found.append(str(caught))
    handle.remove()
    (a * 2).sum().backward()
    return found, a.grad


def an_error_while_a_graph_is_built():
    a = leaf(3)
    with contextlib.suppress(RuntimeError):
        (a * torch.ones(4)).sum().backward()
    with contextlib.suppress(TypeError):
        torch.cat(a, 3).sum().backward()
    (a * 2).sum().backward()
    return a.grad


def a_saved_tensor_on_the_cpu_and_a_checkpoint():
    from torch.utils.checkpoint import checkpoint

    a = leaf(4, 4)
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        y = checkpoint(lambda x: (x @ x).tanh(), a, use_reentrant=False)
    y.sum().backward()
    return a.grad


def autocast_and_a_scaler():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**4)
    for number in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(8, 4)).square().mean() * (float("inf") if number == 1 else 1.0)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return list(model.parameters()), scaler.get_scale()


def an_array_of_numpy_beside_other_kinds_of_tensors():
    """What comes back from numpy is found by its memory, which not every tensor has."""
    from torch._subclasses import FakeTensorMode

    weight = leaf(3)
    shared = torch.from_numpy((weight * 2).detach().numpy())

    def squares(one, x):
        return (one * x).square().sum()

    slopes = torch.vmap(torch.func.grad(squares), (None, 0))(weight.detach(), torch.randn(4, 3))
    loss = torch.vmap(squares, (None, 0))(weight, torch.randn(4, 3)).sum() + (shared * weight).sum()
    loss.backward()
    with FakeTensorMode():
        (torch.ones(3) * 2).sum()
    with torch.inference_mode():
        (torch.ones(3) * 2).sum()
    (torch.eye(2).to_sparse() * 2).to_dense()
    return slopes, weight.grad
