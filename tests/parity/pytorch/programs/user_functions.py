"""Functions of torch that few programs call, as users call them. Each returns what it computed."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def leaf(*shape: int, **options: Any) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True, **options)


def a_loss_over_alignments():
    logits = leaf(6, 2, 5)
    nn.functional.ctc_loss(
        logits.log_softmax(-1), torch.tensor([[1, 2, 1], [3, 0, 0]]), torch.tensor([6, 4]), torch.tensor([3, 1]),
        zero_infinity=True,
    ).backward()  # fmt: skip
    return logits.grad


def a_spatial_transformer():
    image, theta = leaf(1, 2, 4, 4), leaf(1, 2, 3)
    grid = nn.functional.affine_grid(theta, [1, 2, 3, 3], align_corners=False)
    out = nn.functional.grid_sample(image, grid, "bilinear", "reflection", align_corners=False)
    bigger = nn.functional.interpolate(out, scale_factor=2, mode="bicubic", align_corners=True)
    nn.functional.pixel_shuffle(bigger.repeat(1, 2, 1, 1), 2).square().sum().backward()
    return image.grad, theta.grad


def spectra():
    wave = leaf(16)
    spectrum = torch.fft.rfft(wave, norm="ortho")
    filtered = torch.fft.irfft(spectrum * torch.linspace(1, 0, 9), 16)
    frames = torch.stft(wave, 8, 4, window=torch.hann_window(8), return_complex=True)
    (filtered.square().sum() + frames.abs().sum() + torch.fft.fftn(wave.view(4, 4)).real.sum()).backward()
    return wave.grad


def scattered():
    values, index = leaf(6), torch.tensor([0, 1, 0, 2, 2, 2])
    found = [
        torch.zeros(4).scatter_reduce(0, index, values, one, include_self=False)
        for one in ("sum", "mean", "amax", "prod")
    ]
    table = torch.zeros(4)
    table.index_put_((index,), values * 2, accumulate=True)
    table.scatter_add_(0, index, values)
    table.index_copy_(0, torch.tensor([3]), values[:1])
    table.masked_scatter_(torch.tensor([True, False, True, False]), values[1:3])
    table[torch.tensor([True, False, False, True])] *= 3
    torch.stack([*found, table]).square().sum().backward()
    return values.grad


def a_choice_beside_nan():
    x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), torch.zeros(())).sum().backward()
    y = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
    torch.where(y > 0, y.clamp(min=1e-6).sqrt(), 0.0).sum().backward()
    z = torch.tensor([float("nan"), 1.0], requires_grad=True)
    torch.nan_to_num(z * 2, nan=0.5).nansum().backward()
    return x.grad, y.grad, z.grad


def complex_parameters():
    weight = nn.Parameter(torch.randn(3, 3, dtype=torch.complex64))
    model = nn.Linear(3, 2, dtype=torch.complex64)
    optimizer = torch.optim.Adam([weight, *model.parameters()], 0.1)
    x = torch.randn(2, 3)
    for _ in range(2):
        optimizer.zero_grad()
        hidden = torch.polar(x.abs(), x) @ weight
        parts = torch.view_as_real(model(hidden).conj().resolve_conj())
        (parts.square().sum() + weight.imag.sum() + hidden.angle().cos().mean()).backward()
        optimizer.step()
    return weight, weight.grad, list(model.parameters())


def writes_in_unusual_ways():
    x = leaf(2, 4)
    hidden = nn.functional.relu_(x * 2).sin()
    hidden[:, ::2].neg_()
    hidden.T[1].copy_(x[0, :2])
    hidden.diagonal().fill_(0.5)
    part = hidden.narrow(1, 1, 2)
    part += part.detach()
    torch.mul(x.detach(), 2, out=torch.empty(2, 4))
    nn.functional.dropout(hidden, 0.5, inplace=False).square().sum().backward()
    return x.grad, hidden


def linear_algebra():
    a = leaf(3, 3)
    spd = a @ a.mT + 3 * torch.eye(3)
    factor = torch.linalg.cholesky(spd)
    values, vectors = torch.linalg.eigh(spd)
    u, s, v = torch.linalg.svd(a)
    q, r = torch.linalg.qr(a)
    solved = torch.linalg.solve(spd, torch.ones(3))
    sign, size = torch.linalg.slogdet(spd)
    (
        factor.sum() + values.prod() + vectors.abs().sum() + s.sum() + (u @ v).trace() + r.abs().sum() + solved.sum()
        + size * sign + torch.linalg.matrix_norm(a, "nuc") + torch.linalg.inv(spd).trace() + torch.matrix_exp(a).trace()
    ).backward()  # fmt: skip
    return a.grad, q


def convolutions():
    x = leaf(1, 4, 6, 6)
    model = nn.Sequential(
        nn.Conv2d(4, 4, 3, groups=4, padding="same", padding_mode="reflect"), nn.GroupNorm(2, 4),
        nn.Hardswish(inplace=True), nn.ConvTranspose2d(4, 2, 2, 2), nn.InstanceNorm2d(2, affine=True),
        nn.AvgPool2d(2), nn.MaxPool2d(3, return_indices=True),
    )  # fmt: skip
    pooled, indices = model(x.to(memory_format=torch.channels_last))
    nn.functional.max_unpool2d(pooled, indices, 3).square().sum().backward()
    folded = nn.functional.fold(nn.functional.unfold(x, 2), (6, 6), 2)
    folded.sum().backward()
    return x.grad, [one.grad for one in model.parameters()]


def losses():
    x, y = leaf(4, 3), torch.randn(4, 3)
    labels, f = torch.tensor([0, 2, -100, 1]), nn.functional
    total = (
        f.cross_entropy(x, labels, weight=torch.tensor([1.0, 2.0, 3.0]))
        + f.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean")
        + f.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=torch.tensor(2.0))
        + f.triplet_margin_loss(x, y, y.flip(0))
        + f.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1, -1]), margin=0.2)
        + f.gaussian_nll_loss(x, y, x.exp())
        + f.poisson_nll_loss(x, y.abs())
        + f.multi_margin_loss(x, torch.tensor([0, 1, 2, 0]))
        + torch.cdist(x, y).mean()
        + f.pairwise_distance(x, y).sum()
    )
    total.backward()
    return x.grad


def sorting_and_counting():
    x = leaf(3, 5)
    top, where = x.topk(2, dim=1)
    ordered, order = x.sort(dim=1, stable=True)
    middle, _ = x.median(dim=0)
    peaks, _ = x.cummax(dim=1)
    (
        top.sum() + (ordered * torch.arange(5)).sum() + middle.sum() + x.quantile(0.3) + x.kthvalue(2).values.sum()
        + peaks.sum() + x.logcumsumexp(0).sum() + x.roll(1, 0)[0].sum() + x.diff().square().sum()
        + torch.take_along_dim(x, where, 1).prod() + x.amin() + x.renorm(2, 0, 1.0).sum()
    ).backward()  # fmt: skip
    return x.grad, order


def lists_of_tensors():
    parts = [leaf(3) for _ in range(4)]
    scaled = torch._foreach_mul(parts, 2.0)
    total = torch.block_diag(*[one[None] for one in scaled]).sum() + torch.cartesian_prod(parts[0], parts[1]).sum()
    total = total + torch.einsum("i,j,k->", *parts[:3]) + torch.linalg.multi_dot([parts[0], torch.eye(3), parts[3]])
    total = total + torch.nn.utils.rnn.pad_sequence([parts[0][:1], parts[1]]).sum() + torch.cat(parts).norm(p=3)
    chunks = torch.hstack(parts).tensor_split(5)
    (total + chunks[1].sum() * chunks[4].prod() + torch.meshgrid(*parts[:2], indexing="ij")[0].sum()).backward()
    return [one.grad for one in parts]


def numbers_taken_out_and_put_back():
    x = leaf(3)
    scale = x.abs().max().item()
    limit = float(x.norm())
    array = x.detach().numpy() * 2
    back = torch.from_numpy(array)
    fresh = torch.tensor([scale, limit, x.sum().item()])
    y = x * scale + back + fresh
    if (y > 0).any():
        y = y.clamp(max=limit)
    y.sum().backward()
    return x.grad, scale


def half_and_double():
    x, y = leaf(3, dtype=torch.float16), leaf(3, dtype=torch.bfloat16)
    z = x.float() * y.double() + torch.promote_types(x.dtype, y.dtype).itemsize
    z.to(torch.bfloat16).sum().backward()
    with torch.autocast("cpu", torch.bfloat16):
        model = nn.Linear(3, 2)
        (model(torch.randn(2, 3)).softmax(-1) ** 2).sum().backward()
    return x.grad, y.grad, model.weight.grad


def second_derivatives_of_modules():
    model = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))
    x = leaf(5, 3)
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).square().mean()
    curvature = torch.autograd.grad(slope.sum(), x, create_graph=True)[0].square().mean()
    (model(x).mean() + penalty + curvature).backward()
    vector = [torch.ones_like(one) for one in model.parameters()]
    slopes = torch.autograd.grad(model(x).square().mean(), list(model.parameters()), create_graph=True)
    product = torch.autograd.grad(slopes, list(model.parameters()), vector, allow_unused=True, materialize_grads=True)
    return [one.grad for one in model.parameters()], x.grad, product


def transforms_that_return_what_they_are_given():
    x, func = torch.randn(3), torch.func
    jacobian, value = func.jacrev(lambda one: (one, one * 2), has_aux=True)(x)
    return (
        func.jacrev(lambda one: one)(x), func.grad(lambda one: one)(x[0]), func.vjp(lambda one: one, x)[1](x),
        func.vmap(lambda one: one)(x), func.hessian(lambda one: one)(x), func.jacfwd(lambda one: one)(x),
        jacobian, value,
    )  # fmt: skip


def leaves_that_are_results():
    x = leaf(3)
    loss = x.sum().detach()
    loss.requires_grad_()
    loss.backward()
    x.backward(torch.ones(3))
    return loss.grad, x.grad


def a_retained_gradient_of_a_tensor_that_the_pass_frees():
    x = leaf(3)
    y = x * 2
    y.retain_grad()
    z = y * x
    del y  # from here on only the node of `z` holds it
    z.sum().backward()
    return x.grad


def a_pass_that_begins_at_leaves_of_all_kinds():
    x, table = leaf(3), torch.eye(3).to_sparse().requires_grad_()
    torch.autograd.backward([x, table], [torch.ones(3), torch.eye(3).to_sparse()], inputs=[x, table])
    (same,) = torch.autograd.grad(x, x, torch.ones(3))
    return x.grad, table.grad.to_dense(), same
