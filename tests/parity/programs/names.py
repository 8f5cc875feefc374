"""The names that programs of courses use: constructors, keywords, dtypes, printing, the state of random numbers."""

from tests.parity.rows import shows


@shows("13 constructors")
def tensors_made_by_their_class(mt, see):
    see(
        mt.Tensor([1, 2, 3]),
        mt.Tensor([[1.5]]),
        mt.Tensor(2, 3).shape,
        mt.Tensor(mt.Size([2])).shape,
        mt.Tensor().shape,
    )
    see(mt.FloatTensor([1, 2]), mt.DoubleTensor([1]), mt.LongTensor([1, 2]), mt.IntTensor([3]), mt.ByteTensor([1]))
    see(mt.BoolTensor([True, False]), mt.ShortTensor([1]), mt.CharTensor([1]), mt.HalfTensor([0.5]))
    x = mt.ones(2)
    see(isinstance(x, mt.FloatTensor), isinstance(x, mt.LongTensor), isinstance(x.long(), mt.LongTensor))
    shared = mt.Tensor(x)
    shared[0] = 5.0
    see(x)
    with see.raising():
        mt.Tensor("a")


@shows("13 constructors")
def tensors_like_others(mt, see):
    x = mt.ones(2, dtype=mt.float64)
    see(x.new_zeros(2, 1), x.new_zeros(size=(2,)), x.new_ones((1,)), x.new_full((2,), 3), x.new_tensor([1, 2]))
    see(x.type_as(mt.arange(2)), x.type(mt.FloatTensor), x.type("torch.LongTensor"), x.type(mt.int32))
    see(mt.scalar_tensor(2.0), mt.asarray([1, 2]), mt.full(size=(2,), fill_value=1.5))
    with see.raising():
        x.type("Long")


@shows("13 keywords")
def sizes_and_axes_by_name(mt, see):
    x = mt.arange(6.0).reshape(2, 3)
    see(mt.zeros(size=(2, 1)), mt.ones(size=(2,)), mt.rand(size=(2, 3)).shape, mt.randn(size=(2,)).shape)
    see(mt.randint(5, size=(2,)).shape, mt.randint(high=5, size=(2,)).shape, mt.randint(low=1, high=2, size=(3,)))
    see(mt.softmax(x, axis=1), x.softmax(axis=0), mt.cat([x, x], axis=1), mt.stack([x, x], axis=2))
    see(
        x.sum(axis=0), x.mean(axis=1, keepdims=True), x.var(axis=0), x.max(axis=1), x.argmax(axis=1), x.unsqueeze(dim=0)
    )
    see(mt.logsumexp(x, axis=1, keepdims=True), mt.squeeze(input=x[:1]), mt.add(input=x, other=1))
    with see.raising():
        x.cumsum(axis=5)


@shows("13 dtypes")
def what_dtypes_say(mt, see):
    kinds = [mt.float32, mt.float64, mt.float16, mt.int64, mt.uint8, mt.bool, mt.complex64]
    see([(str(d), repr(d), d.is_floating_point, d.is_complex, d.is_signed, d.itemsize) for d in kinds])
    see([(mt.ones(1, dtype=d).dtype is d, mt.ones(1, dtype=d).type()) for d in kinds])
    see(mt.float is mt.float32, mt.long is mt.int64, mt.half == mt.float16, mt.float32 != mt.float64)
    see({mt.float32: "by dtype"}[mt.ones(1).dtype], mt.float32.to_complex(), mt.complex128.to_real())
    see(mt.promote_types(mt.int64, mt.float32), mt.result_type(mt.ones(1), 2), mt.result_type(mt.arange(2), 1.5))
    pairs = [(a, b) for a in kinds for b in kinds]
    see([mt.can_cast(a, b) for a, b in pairs], [mt.promote_types(a, b) for a, b in pairs])
    see(repr(mt.finfo(mt.float32)), repr(mt.finfo()), repr(mt.iinfo(mt.uint8)), mt.finfo(mt.float64).eps)
    see(mt.iinfo(mt.int32).max, mt.finfo(mt.float16).bits, mt.get_default_dtype())
    see(mt.pi, mt.e, mt.inf, mt.newaxis, mt.typename(mt.ones(1)), mt.ones(3).itemsize, mt.ones(3).nbytes)


@shows("13 dtypes")
def memory_read_as_another_dtype(mt, see):
    x = mt.arange(8.0).reshape(2, 4)
    see(x.view(mt.int32), x.view(dtype=mt.int32), x.view(mt.float64), x.view(mt.complex64), x.view(mt.int16).shape)
    see(x[0, 1].view(mt.int32), mt.tensor([0, 1], dtype=mt.uint8).view(mt.bool), x.view(mt.float32), x.view([-1]))
    bits = x.view(mt.int32)
    bits += 1
    see(x[0, 0] > 0, x._version, x.clone().requires_grad_().view(mt.float64).requires_grad)
    for array, dtype in ((x[:, :3], mt.float64), (x.t(), mt.float64), (x.t(), mt.int16), (x[0, 0], mt.int16)):
        with see.raising():
            array.view(dtype)


@shows("13 dtypes")
def larger_numbers_are_aligned_in_the_whole_memory(mt, see):
    x = mt.arange(24, dtype=mt.int16).reshape(4, 6)
    see(x[:, 2:4].view(mt.int32), x[1:3].view(mt.int8).shape, x[:, 1:3].clone().view(mt.int32), x[1:].view(mt.int32))
    for array, dtype in (
        (x[:, 1:3], mt.int32),
        (x[0, 1:5].detach(), mt.int64),
        (x.data[2, 3:5], mt.float32),
        (x[:, 1], mt.int32),
        (x[:, :4], mt.int64),
        (x.flatten()[1:][2:4].view(1, 2), mt.int32),
    ):
        with see.raising():
            array.view(dtype)


@shows("13 printing")
def options_of_printing(mt, see):
    x = mt.arange(30.0) * mt.arange(30.0) / 8
    try:
        for options in (
            {"precision": 2},
            {"sci_mode": True},
            {"sci_mode": False, "precision": 6},
            {"threshold": 5, "edgeitems": 2},
            {"linewidth": 40},
            {"profile": "full"},
            {"profile": "short"},
            {"profile": "default"},
        ):
            mt.set_printoptions(**options)
            see(repr(x), repr(x.reshape(5, 6)), repr(mt.tensor([1e-9, 1.0])), repr(mt.tensor(1.23456)))
    finally:
        mt.set_printoptions(profile="default")


@shows("13 random state")
def states_are_restored(mt, see):
    mt.manual_seed(3)
    mt.rand(2)
    state = mt.get_rng_state()
    first = mt.randn(3)
    mt.set_rng_state(state)
    see(first.equal(mt.randn(3)))
    with mt.random.fork_rng():
        inside = mt.rand(2)
    see(mt.rand(2).equal(inside))
    generator = mt.Generator().manual_seed(5)
    see(mt.rand(2, generator=generator), mt.randperm(4, generator=generator), mt.randint(9, (3,), generator=generator))
    before = generator.get_state()
    drawn = mt.empty(3).uniform_(generator=generator)
    generator.set_state(before)
    see(drawn.equal(mt.empty(3).uniform_(generator=generator)), generator.initial_seed(), str(generator.device))


@shows("13 settings")
def settings_are_accepted(mt, see):
    mt.set_default_device("cpu")
    mt.use_deterministic_algorithms(False)
    mt.set_float32_matmul_precision("highest")
    mt.cuda.manual_seed_all(1)
    mt.backends.cudnn.benchmark = False
    see(mt.backends.cudnn.deterministic, mt.backends.mps.is_available(), mt.accelerator.is_available())
    see(str(mt.get_default_device()), mt.cuda.device_count())
    with mt.device("cpu"):
        see(mt.ones(1))
    mt.set_default_device(None)


@shows("13 keywords")
def losses_as_they_were_written_before_2018(mt, see):
    x, y, classes = mt.tensor([[1.0, 2.0], [3.0, 5.0]]), mt.tensor([[0.0, 4.0], [1.0, 5.0]]), mt.tensor([1, 0])
    for old in ({"size_average": False}, {"reduce": False}, {"size_average": True, "reduce": True}, {"reduce": None}):
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"):
            see(getattr(mt.nn.functional, name)(x, y, **old))
        for name in ("cross_entropy", "nll_loss"):
            see(getattr(mt.nn.functional, name)(x, classes, **old))
    see(mt.nn.functional.cross_entropy(x, classes, ignore_index=mt.tensor(1)))
