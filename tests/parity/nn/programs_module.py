"""Programs about modules: registration, traversal, state, conversion, containers. `mt` is torch or microtape."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict


def network(mt):
    """A module with parts, a shared weight, buffers and None in every place."""
    nn = mt.nn

    class Block(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.linear = nn.Linear(size, size)
            self.norm = nn.BatchNorm1d(size)
            self.register_buffer("mask", mt.ones(size))
            self.register_buffer("scratch", mt.zeros(2), persistent=False)
            self.register_buffer("nothing", None)
            self.register_parameter("missing", None)
            self.skipped = None

        def forward(self, x):
            return self.norm(self.linear(x)) * self.mask

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(mt.ones(()))
            self.blocks = nn.ModuleList([Block(3), Block(3)])
            self.head = nn.Sequential(OrderedDict(relu=nn.ReLU(), out=nn.Linear(3, 3)))
            self.head.out.weight = self.blocks[0].linear.weight
            self.again = self.head
            self.add_module("hole", None)

        def forward(self, x):
            for block in self.blocks:
                x = block(x) + x
            return self.head(x) * self.scale

        def extra_repr(self):
            return "first\nsecond"

    mt.manual_seed(0)
    return Network()


def registers_what_is_assigned(mt, see):
    net = network(mt)
    see(repr(net))
    for duplicates in (True, False):
        see([name for name, _ in net.named_parameters(remove_duplicate=duplicates)])
        see([name for name, _ in net.named_buffers(remove_duplicate=duplicates)])
        see([name for name, _ in net.named_modules(remove_duplicate=duplicates)])
    see([name for name, _ in net.named_parameters("net", recurse=False)], [name for name, _ in net.named_children()])
    see(len(list(net.parameters())), len(list(net.buffers())), len(list(net.modules())), len(list(net.children())))
    see([type(one).__name__ for one in net.modules()])
    see(net.blocks[0].missing, net.blocks[0].nothing, "hole" in dir(net), "blocks" in dir(net), hasattr(net, "other"))
    net.scale = None
    see("scale" in net.state_dict(), net.scale)
    net.scale = mt.nn.Parameter(mt.zeros(2))
    net.blocks = mt.nn.Parameter(mt.zeros(2))
    see(list(net.state_dict()))
    del net.blocks, net.scale
    net.blocks = mt.nn.ReLU()
    del net.blocks
    see(list(net.state_dict()))
    with see.raising():
        del net.blocks
    with see.raising():
        print(net.blocks)


def refuses_wrong_registrations(mt, see):
    nn = mt.nn

    class Early(nn.Module):
        def __init__(self, value, name="x"):
            setattr(self, name, value)
            super().__init__()

    for value in (nn.Parameter(mt.ones(1)), nn.ReLU(), 3):
        with see.raising():
            see(Early(value).x == 3)
    with see.raising():
        nn.Module.register_buffer(nn.Module.__new__(nn.Module), "x", None)
    with see.raising():
        nn.Module.register_parameter(nn.Module.__new__(nn.Module), "x", None)
    net = network(mt)
    for name in ("a.b", "", 3, "scale", "forward"):
        for register in (net.register_buffer, net.register_parameter, net.add_module):
            with see.raising():
                register(name, None)
    for value in (3, "text", mt.ones(2), [1]):
        with see.raising():
            net.register_parameter("new", value)
        with see.raising():
            net.add_module("new", value)
        with see.raising():
            net.scale = value
        with see.raising():
            net.head = value
    for value in (3, "text", [1]):
        with see.raising(text=False):  # "(torch Tensor or None required)"
            net.register_buffer("new", value)
        with see.raising():
            net.blocks[0].mask = value
    net.blocks[0].mask = mt.zeros(3)
    see(net.blocks[0].mask)
    with see.raising():
        nn.Module(3)
    with see.raising():
        nn.Module(a=3)
    with see.raising():
        nn.Module()(3)
    with see.raising():
        nn.ModuleList()(3)


def finds_parts_by_path(mt, see):
    net = network(mt)
    see(repr(net.get_submodule("blocks.1.norm")), net.get_submodule("") is net)
    see(net.get_parameter("blocks.1.linear.bias"), net.get_buffer("blocks.0.mask"))
    for path in ("blocks.7", "blocks.0.linear.weight", "nothing", "blocks.0.forward"):
        with see.raising():
            net.get_submodule(path)
    for path in ("scale.x", "nothing", "blocks.0.mask", "blocks.0.skipped"):
        with see.raising():
            net.get_parameter(path)
    for path in ("scale", "blocks.0.other", "blocks.0.linear"):
        with see.raising():
            net.get_buffer(path)


def trains_and_evaluates(mt, see):
    net, ran = network(mt), []
    see(net.train(False) is net, [one.training for one in net.modules()], net.train().training, net.eval().training)
    with see.raising():
        net.train(1)
    see(net.apply(lambda one: ran.append(type(one).__name__)) is net, ran)
    x = mt.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    net.train()
    net(x).sum().backward()
    see.value(*[one.grad for one in net.parameters()])
    net.zero_grad(set_to_none=False)
    see.value(*[one.grad for one in net.parameters()])
    net.zero_grad()
    see([one.grad for one in net.parameters()])
    net.requires_grad_(False)
    see([one.requires_grad for one in net.parameters()], net(x).requires_grad)


def saves_and_loads_its_state(mt, see):
    net, other = network(mt), network(mt)
    saved = net.state_dict()
    see(list(saved), [one.requires_grad for one in saved.values()], type(saved).__mro__[-2].__name__)
    see(list(net.state_dict(prefix="net.")), [one.requires_grad for one in net.state_dict(keep_vars=True).values()])
    with mt.no_grad():
        net.scale.fill_(7.0)
        other.blocks[1].linear.bias.fill_(5.0)
    see.value(saved["scale"])
    loaded = other.load_state_dict(saved)
    see(str(loaded), repr(loaded), loaded.missing_keys, loaded.unexpected_keys)
    see.value(*other.state_dict().values())
    before = other.scale
    see(str(other.load_state_dict(dict(saved), assign=True)), before is other.scale, other.scale.requires_grad)
    del saved["scale"], saved["blocks.1.norm.num_batches_tracked"]
    saved["extra"], saved["head.more.weight"], saved["head.deep"] = mt.ones(1), mt.ones(2), mt.ones(3)
    saved["blocks.0.mask"], saved["blocks.0.linear.bias"] = mt.ones(4), mt.ones(1, 3)
    with see.raising():
        other.load_state_dict(saved)
    with see.raising():
        other.load_state_dict(saved, strict=False)
    saved["blocks.0.mask"], saved["blocks.0.linear.bias"] = mt.ones(3) * 2, mt.ones(3) * 3
    loaded = other.load_state_dict(saved, strict=False)
    see(loaded.missing_keys, loaded.unexpected_keys, str(loaded))
    see.value(other.blocks[0].linear.bias)
    with see.raising():
        other.load_state_dict([1])
    with see.raising():
        mt.nn.Linear(2, 2).load_state_dict({"weight": 3, "bias": mt.ones(2)})
    with see.raising():
        mt.nn.Linear(2, 2).load_state_dict({})
    old = {key: one for key, one in network(mt).state_dict().items() if "tracked" not in key}
    see(str(other.load_state_dict(OrderedDict(old))))


def converts_its_tensors(mt, see):
    net = network(mt)
    net(mt.ones(2, 3)).sum().backward()
    scale = net.scale
    for convert in (
        lambda: net.double(),
        lambda: net.float(),
        lambda: net.to(mt.float64),
        lambda: net.to(dtype=mt.float32),
        lambda: net.to("cpu"),
        lambda: net.to("cpu", mt.float64),
        lambda: net.to(mt.ones(1)),
        lambda: net.to(device=mt.device("cpu")),
        lambda: net.half(),
        lambda: net.cpu(),
    ):
        see(convert() is net, net.scale is scale)
        see([str(one.dtype).rpartition(".")[2] for one in net.state_dict().values()])
        see(str(net.scale.grad.dtype).rpartition(".")[2])
    with see.raising(text=False):
        net.to(mt.int64)


def copies_and_pickles(mt, see):
    net = network(mt)
    net(mt.ones(2, 3)).sum().backward()
    twin = copy.deepcopy(net)
    see(repr(twin) == repr(net), twin.head.out.weight is twin.blocks[0].linear.weight, twin.scale is net.scale)
    see(type(twin.scale).__name__, twin.scale.grad, twin.scale.requires_grad, list(twin.state_dict()))
    with mt.no_grad():
        net.scale.fill_(9.0)
    see.value(twin.scale, twin(mt.ones(2, 3)))
    parameter = pickle.loads(pickle.dumps(mt.nn.Parameter(mt.ones(2), requires_grad=False)))
    see(repr(parameter), parameter.requires_grad)
    layer = pickle.loads(pickle.dumps(mt.nn.Sequential(mt.nn.Linear(2, 2), mt.nn.LSTM(2, 2))))
    see(repr(layer), list(layer.state_dict()), layer(mt.ones(1, 3, 2))[0].shape == (1, 3, 2))


def parameters_are_leaves(mt, see):
    nn = mt.nn
    data = mt.tensor([1.0, 2.0])
    p = nn.Parameter(data)
    see(p, repr(p), isinstance(p, mt.Tensor), isinstance(data, nn.Parameter), type(p).__name__)
    with mt.no_grad():
        p.add_(1)
    see.value(data)
    for result in (p * 2, p.detach(), p.data, p[0], p.clone(), p.view(2, 1), -p, p.sum(), mt.stack([p, p])):
        see(type(result).__name__, result)
    (p * p).sum().backward()
    see(type(p.grad).__name__)
    see.value(p.grad)
    see(nn.Parameter(data, requires_grad=False), nn.Parameter().shape == (0,), nn.Parameter(mt.ones(2, 2).double()))
    see(nn.Parameter(p * 2), nn.Parameter(p) is p, p.requires_grad_(False) is p)
    with see.raising():
        nn.Parameter(mt.ones(2).long())
    see(nn.Parameter(mt.ones(2).long(), requires_grad=False))
    p += 1
    see(type(p).__name__)


def sequential_is_a_list(mt, see):
    nn = mt.nn
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    see(repr(net[0]), repr(net[-1]), repr(net[:2]), repr(net[1:]), len(net), [repr(one) for one in net])
    see(repr(net.append(nn.Tanh())), repr(net.insert(1, nn.ELU())), repr(net.extend([nn.ReLU()])))
    net[1] = nn.SELU()
    del net[2]
    see(repr(net), repr(net.pop(1)), repr(net), list(net.state_dict()))
    see(repr(net + nn.Sequential(nn.Tanh())), repr(nn.Sequential(nn.ReLU()) * 3))
    net += nn.Sequential(nn.GELU())
    del net[1:3]
    see(repr(net))
    for wrong in (
        lambda: net[7],
        lambda: net[-7],
        lambda: net["a"],
        lambda: net.insert(9, nn.ReLU()),
        lambda: net + 3,
        lambda: net.append(3),
        lambda: nn.Sequential(3),
    ):
        with see.raising():
            wrong()
    for factor in (0, 1.5):
        with see.raising(text=False):  # it names the module's class
            print(net * factor)
    see(repr(nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())).a))


def lists_and_dictionaries(mt, see):
    nn = mt.nn
    layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
    see(repr(layers), repr(layers[1:]), repr(layers[-1]), len(layers), list(layers.state_dict()))
    layers.append(nn.ReLU()).extend([nn.ReLU(), nn.Tanh()])
    layers.insert(0, nn.Tanh())
    layers[1] = nn.ELU()
    del layers[2]
    see(repr(layers), repr(layers + nn.ModuleList([nn.ReLU()])), repr(layers.pop(0)), list(layers.state_dict()))
    with see.raising():
        layers.extend(3)
    with see.raising():
        print(layers[10])
    named = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    named["c"] = nn.Tanh()
    named.update([("d", nn.ELU())])
    see(repr(named), list(named), list(named.keys()), len(named), "a" in named, "z" in named, list(named.state_dict()))
    see([(key, repr(value)) for key, value in named.items()], repr(named.pop("b")), repr(named["a"]))
    del named["a"]
    see(next(iter(named.values())) is named["c"])
    with see.raising():
        print(named["z"])
    with see.raising():
        named.update(3)
    with see.raising():
        named["x.y"] = nn.ReLU()
    named.clear()
    see(repr(named))
    weights = nn.ParameterList([mt.ones(2), nn.Parameter(mt.zeros(1, 2))])
    weights.append(mt.ones(1)).extend([mt.ones(3)])
    weights[0] = mt.ones(5)
    see(repr(weights), len(weights), list(weights.state_dict()), [type(one).__name__ for one in weights])
    see(repr(weights[1:3]), weights[-1], [name for name, _ in weights.named_parameters()])
    with see.raising():
        weights(3)
    with see.raising():
        print(weights[9])
    with see.raising():
        weights.extend(mt.ones(2))
    by_name = nn.ParameterDict({"b": mt.ones(2), "a": mt.zeros(1)})
    see(repr(by_name), list(by_name), list(by_name.state_dict()), "a" in by_name, by_name["b"])


def utilities(mt, see):
    net = network(mt)
    vector = mt.nn.utils.parameters_to_vector(net.parameters())
    see(vector)
    mt.nn.utils.vector_to_parameters(mt.arange(vector.numel()).float(), net.parameters())
    see.value(*net.parameters())
    with see.raising():
        mt.nn.utils.vector_to_parameters(3, net.parameters())
    net(mt.tensor([[1.0, 2.0, 3.0], [-4.0, 0.5, 7.0]])).square().sum().backward()
    see.value(mt.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
    mt.nn.utils.clip_grad_value_(net.parameters(), 0.01)
    see.value(*[one.grad for one in net.parameters()])


def recurrent_networks_check_their_input(mt, see):
    nn = mt.nn
    for kind in (nn.RNN, nn.LSTM, nn.GRU):
        net = kind(3, 4, num_layers=2, bidirectional=True)
        see(len(net.all_weights), net.flatten_parameters())
        state = mt.zeros(4, 2, 4)
        hx = (state, state) if kind is nn.LSTM else state
        small = (mt.zeros(4, 4),) * 2 if kind is nn.LSTM else mt.zeros(4, 4)
        wrong = (mt.zeros(1, 2, 4),) * 2 if kind is nn.LSTM else mt.zeros(1, 2, 4)
        net(mt.ones(5, 2, 3), hx)
        net(mt.ones(5, 3), small)
        for x, h in (
            (mt.ones(3), None),
            (mt.ones(1, 5, 2, 3), None),
            (mt.ones(5, 2, 4), None),
            (mt.ones(5, 2, 3).double(), None),
            (mt.ones(5, 2, 3), small),
            (mt.ones(5, 3), hx),
            (mt.ones(5, 2, 3), wrong),
        ):
            with see.raising():
                net(x, h)
        for options in ({"dropout": 2}, {"hidden_size": 0}, {"input_size": 1.5}, {"bias": 1}, {"num_layers": 0}):
            with see.raising():
                kind(**{"input_size": 3, "hidden_size": 4} | options)
        kind(3, 4, dropout=0.5)
    with see.raising():
        nn.RNN(3, 4, nonlinearity="sin")
    for cell in (nn.RNNCell(3, 4), nn.LSTMCell(3, 4), nn.GRUCell(3, 4)):
        with see.raising():
            cell(mt.ones(1, 2, 3))
        with see.raising():
            cell(mt.ones(2, 3), (mt.ones(1, 1, 4),) * 2 if type(cell) is nn.LSTMCell else mt.ones(1, 1, 4))
    with see.raising():
        nn.RNNCell(3, 4, nonlinearity="sin")(mt.ones(2, 3))


def layers_check_their_options(mt, see):
    nn = mt.nn
    see(nn.MSELoss()(input=mt.ones(2), target=mt.zeros(2)), nn.Linear(1, 1, bias=False)(input=mt.zeros(1, 1)))
    for wrong in (
        lambda: nn.Conv2d(3, 4, 3, groups=2),
        lambda: nn.Conv2d(4, 3, 3, groups=2),
        lambda: nn.Conv2d(4, 4, 3, groups=0),
        lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"),
        lambda: nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"),
        lambda: nn.BatchNorm1d(3)(mt.ones(2, 3, 4, 5)),
        lambda: nn.BatchNorm2d(3)(mt.ones(2, 3)),
        lambda: nn.BatchNorm1d(3)(mt.ones(1, 3)),
        lambda: nn.GroupNorm(2, 3),
        lambda: nn.Embedding(3, 2, padding_idx=3),
        lambda: nn.Embedding(3, 2, _weight=mt.ones(2, 2)),
        lambda: nn.Dropout(1.5),
        lambda: nn.Unflatten(1, 3),
        lambda: nn.Unflatten(1, (1.5, 2)),
        lambda: nn.Hardtanh(2.0, 1.0),
        lambda: nn.TripletMarginLoss(margin=-1),
        lambda: nn.Softmax2d()(mt.ones(2)),
        lambda: nn.Linear(3, 2)(mt.ones(2, 4)),
    ):
        with see.raising():
            wrong()


def training_moves_statistics_without_counting_writes(mt, see):
    norm = mt.nn.BatchNorm1d(2)
    x = mt.tensor([[1.0, 2.0], [3.0, -4.0]], requires_grad=True)
    norm.eval()
    evaluated = norm(x) ** 2
    norm.train()
    versions = [norm.running_mean._version, norm.running_var._version]
    norm(x)
    see([norm.running_mean._version - versions[0], norm.running_var._version - versions[1]])
    see.value(norm.running_mean, norm.running_var)
    evaluated.sum().backward()
    see.value(x.grad.sign())


PROGRAMS = [
    registers_what_is_assigned,
    refuses_wrong_registrations,
    finds_parts_by_path,
    trains_and_evaluates,
    saves_and_loads_its_state,
    converts_its_tensors,
    copies_and_pickles,
    parameters_are_leaves,
    sequential_is_a_list,
    lists_and_dictionaries,
    utilities,
    recurrent_networks_check_their_input,
    layers_check_their_options,
    training_moves_statistics_without_counting_writes,
]
