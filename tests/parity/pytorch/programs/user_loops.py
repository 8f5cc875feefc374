"""Training as users write it, with what torch offers beside plain modules. Each returns what it computed."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def gradients_of(model: nn.Module) -> list[Any]:
    return [one.grad for one in model.parameters()]


def accumulation_with_clipping():
    model = nn.Sequential(nn.Linear(4, 6), nn.SiLU(), nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=4)
    norms = []
    for number in range(4):
        loss = model(torch.randn(5, 4)).square().mean() / 2
        loss.backward()
        if number % 2:
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.5))
            nn.utils.clip_grad_value_(model.parameters(), 0.1)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=False)
    return norms, list(model.parameters()), gradients_of(model)


def per_parameter_groups():
    model = nn.Sequential(nn.Linear(3, 3), nn.PReLU(), nn.Linear(3, 1))
    groups = [{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters(), "weight_decay": 0.1}]
    optimizer = torch.optim.RMSprop(groups, 0.01, centered=True)
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.huber_loss(model(torch.randn(4, 3)), torch.randn(4, 1)).backward()
        for one in model.parameters():
            if one.grad is not None:
                one.grad.data.add_(one.data, alpha=0.01)
        optimizer.step()
    return list(model.parameters())


def functional_calls():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
    weights = {name: one.detach().clone().requires_grad_() for name, one in model.named_parameters()}
    found = []
    for _ in range(2):  # a step of a meta-learner: the second derivative goes through the first update
        loss = torch.func.functional_call(model, weights, (torch.randn(5, 3),)).square().mean()
        slopes = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
        fast = {name: one - 0.1 * slope for (name, one), slope in zip(weights.items(), slopes, strict=True)}
        torch.func.functional_call(model, fast, (torch.randn(5, 3),)).square().mean().backward()
        found += [one.grad for one in weights.values()]
    return found, list(model.buffers())


def weight_and_spectral_norm():
    utils = nn.utils.parametrizations
    model = nn.Sequential(
        utils.weight_norm(nn.Linear(3, 4)), nn.Tanh(), utils.spectral_norm(nn.Linear(4, 4)),
        utils.orthogonal(nn.Linear(4, 4)),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).sum().backward()
        optimizer.step()
    nn.utils.parametrize.remove_parametrizations(model[0], "weight")
    model(torch.randn(5, 3)).square().sum().backward()
    return gradients_of(model), list(model.buffers())


def an_average_of_weights():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    teacher = copy.deepcopy(model).requires_grad_(False)
    swa = torch.optim.swa_utils.AveragedModel(model)
    ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.AdamW(model.parameters(), 0.1, amsgrad=True)
    batches = [torch.randn(4, 3) for _ in range(3)]
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        (model(batch) - teacher(batch)).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for mean, one in zip(teacher.parameters(), model.parameters(), strict=True):
                mean.lerp_(one, 0.1)
        swa.update_parameters(model)
        ema.update_parameters(model)
    torch.optim.swa_utils.update_bn(batches, swa)
    return [list(one.state_dict().values()) for one in (model, teacher, swa, ema)]


def packed_sequences():
    table, model = (
        nn.Embedding(9, 3, padding_idx=0),
        nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.2),
    )
    words = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [7, 0, 0, 0]])
    rnn = nn.utils.rnn
    packed = rnn.pack_padded_sequence(table(words), torch.tensor([4, 2, 1]), batch_first=True)
    out, (state, _) = model(packed)
    padded, lengths = rnn.pad_packed_sequence(out, batch_first=True)
    ((padded.sum(1) / lengths[:, None]).square().mean() + state[-1].sum()).backward()
    return table.weight.grad, gradients_of(model)


def cells_by_hand():
    cell, other = nn.GRUCell(3, 4), nn.LSTMCell(4, 2)
    hidden, pair = torch.zeros(2, 4), (torch.zeros(2, 2), torch.zeros(2, 2))
    losses = []
    for number in range(4):
        hidden = cell(torch.randn(2, 3), hidden)
        pair = other(hidden, pair)
        losses.append(pair[0].square().mean())
        if number == 1:  # truncated
            torch.stack(losses).sum().backward()
            losses, hidden, pair = [], hidden.detach(), tuple(one.detach() for one in pair)
    sum(losses).backward()
    return gradients_of(cell), gradients_of(other)


def bags_of_words():
    words, starts = torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 2, 2])
    found = []
    for mode in ("sum", "mean", "max"):
        bag = nn.EmbeddingBag(6, 3, mode=mode, sparse=mode != "max")
        weights = leaf(6) if mode == "sum" else None
        bag(words, starts, per_sample_weights=weights).sum().backward()
        found += [bag.weight.grad.to_dense(), weights.grad if weights is not None else None]
    table = nn.Embedding(6, 3, max_norm=0.5, scale_grad_by_freq=True)
    table(words).square().sum().backward()
    sparse = nn.Embedding(6, 3, sparse=True)
    optimizer = torch.optim.SparseAdam(sparse.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        sparse(words).square().sum().backward()
        optimizer.step()
    return found, table.weight, table.weight.grad, sparse.weight


def attention_in_all_its_ways():
    attention = nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.1, add_bias_kv=True)
    x, mask = leaf(2, 5, 8), torch.triu(torch.full((5, 5), float("-inf")), 1)
    out, weights = attention(x, x, x, attn_mask=mask)
    (out.sum() + weights.square().sum()).backward()
    hidden = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    out, _ = attention(x, x, x, need_weights=False, key_padding_mask=hidden)
    out.square().sum().backward()
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=False).eval()
    encoder = nn.TransformerEncoder(layer, 2).eval()
    with torch.no_grad():  # the fast path
        fast = layer(x) + encoder(x, src_key_padding_mask=hidden) + attention.eval()(x, x, x, need_weights=False)[0]
    layer(x).sum().backward()
    decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    decoder(x, fast).sum().backward()
    q, k, v = leaf(2, 2, 4, 8), leaf(2, 2, 4, 8), leaf(2, 2, 4, 8)
    nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).square().sum().backward()
    return x.grad, fast, gradients_of(attention), gradients_of(layer), q.grad, k.grad, v.grad


def pruned():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    prune.l1_unstructured(model[0], "weight", amount=0.5)
    prune.ln_structured(model[0], "weight", amount=0.25, n=2, dim=0)
    prune.random_unstructured(model[2], "bias", amount=1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
    prune.remove(model[0], "weight")
    model(torch.randn(3, 4)).sum().backward()
    return list(model.parameters()), gradients_of(model), list(model.buffers())


def closures_of_a_line_search():
    model = nn.Linear(3, 1)
    x, y = torch.randn(6, 3), torch.randn(6, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe", history_size=3)
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        if loss.requires_grad:
            loss.backward()
        losses.append(loss.item())
        return loss

    for _ in range(2):
        optimizer.step(closure)
    return list(model.parameters()), losses


def an_optimizer_in_the_backward():
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizers = {one: torch.optim.SGD([one], 0.1) for one in model.parameters()}

    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for one in model.parameters():
        one.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        model(torch.randn(4, 3)).square().sum().backward()
    return list(model.parameters()), gradients_of(model)


def hooks_that_replace_gradients():
    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return -ctx.factor * grad, None

    model, seen = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)), []
    model[1].register_full_backward_hook(lambda module, given, taken: tuple(one * 2 for one in given))
    model[2].register_full_backward_pre_hook(lambda module, taken: (taken[0].clamp(-0.1, 0.1),))
    model[0].weight.register_hook(lambda grad: grad.masked_fill(grad.abs() < 0.1, 0))
    x = leaf(4, 3)
    hidden = model[0](x)
    handle = hidden.register_hook(lambda grad: seen.append(grad) or grad.sign())
    torch.autograd.graph.register_multi_grad_hook([hidden, x], lambda grads: seen.append(len(grads)))
    out = model[2](model[1](hidden * 1))
    nn.functional.cross_entropy(Reversed.apply(out, 0.5), torch.tensor([0, 1, 1, 0])).backward()
    handle.remove()
    return gradients_of(model), x.grad, seen


def nested_checkpoints():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.3), nn.Tanh(), nn.Linear(3, 3))

    def inner(x):
        return model[1](model[0](x)).sin()

    def outer(x):
        return model[3](model[2](checkpoint(inner, x, use_reentrant=False)))

    x = leaf(4, 3)
    y = checkpoint(outer, x, use_reentrant=False)
    y = torch.utils.checkpoint.checkpoint_sequential(model, 2, y, use_reentrant=False)
    with torch.autograd.graph.saved_tensors_hooks(lambda one: one.double(), lambda one: one.float()):
        y = y * y.exp()
    y = checkpoint(lambda one: checkpoint(inner, one, use_reentrant=True) * 2, y, use_reentrant=True)
    y.sum().backward()
    return x.grad, gradients_of(model)


def an_ensemble():
    models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")

    def call(parameters, buffers, x):
        return torch.func.functional_call(base, (parameters, buffers), (x,))

    out = torch.func.vmap(call, (0, 0, None), randomness="different")(parameters, buffers, torch.randn(5, 3))
    out.square().mean().backward()
    return out, [one.grad for one in parameters.values()]


def scripted_and_eager():
    @torch.jit.script
    def activation(x: torch.Tensor, steep: float) -> torch.Tensor:
        return x * torch.sigmoid(steep * x)

    model, x = nn.Linear(3, 3), leaf(2, 3)
    for number in range(3):
        activation(model(x), 1.0 + number).sum().backward()
    return x.grad, gradients_of(model)


def a_validation_loop_in_between():
    model, found = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 2)), []
    optimizer = torch.optim.Adagrad(model.parameters(), 0.1)
    dataset = torch.utils.data.TensorDataset(torch.randn(8, 3), torch.arange(8) % 2)
    loader = torch.utils.data.DataLoader(dataset, 4, shuffle=True)
    best, kept = float("inf"), None
    for _ in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y, label_smoothing=0.1).backward()
            optimizer.step()
        model.eval()
        with torch.inference_mode():
            losses = [nn.functional.cross_entropy(model(x), y).item() for x, y in loader]
        found.append(sum(losses))
        if found[-1] < best:
            best, kept = found[-1], copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return found, list(model.parameters())


def an_actor_and_a_critic():
    actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
    states = torch.randn(5, 3)
    choice = torch.distributions.Categorical(logits=actor(states))
    actions = choice.sample()
    values = critic(states).squeeze(-1)
    gain = torch.linspace(0, 1, 5) - values.detach()
    loss = -(choice.log_prob(actions) * gain).mean() - 0.01 * choice.entropy().mean()
    (loss + nn.functional.smooth_l1_loss(values, torch.linspace(0, 1, 5))).backward()
    return gradients_of(actor), gradients_of(critic)
