"""Writes a program statement by statement, each chosen from the state that the previous ones have led to on torch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tests.parity.random.program import THREAD, Block, Program, Statement
from tests.parity.random.session import Session, in_thread

T = TypeVar("T")
SHAPES = [(2,), (2, 2), (3,), (2, 3), ()]
MOST_TENSORS = 14


class Writer:
    """The state of a program that is being written, and what the topics need to add statements to it."""

    def __init__(self, seed: int, torch: Any) -> None:
        self.random = random.Random(seed)
        self.session = Session(torch)
        self.blocks: list[list[Statement]] = [[]]
        self.headers: list[str] = []
        self.shape = self.choice(SHAPES)
        self.one_leaf = self.chance(0.3)
        self.body: Callable[[int], None] = lambda count: None  # writes this many statements; set by topics
        self._count = 0

    @property
    def program(self) -> Program:
        """What has been written."""
        return tuple(self.blocks[0])

    # Chance

    def chance(self, p: float) -> bool:
        """True with this probability."""
        return self.random.random() < p

    def choice(self, some: Sequence[T]) -> T:
        """One of them."""
        return self.random.choice(some)

    def weighted(self, *pairs: tuple[int, T]) -> T:
        """One of them, by weight."""
        return self.random.choices([one for _, one in pairs], [weight for weight, _ in pairs])[0]

    # Names

    def new(self, letter: str = "x") -> str:
        """A name that the program does not have yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def value(self, name: str) -> Any:
        """What the name stands for now, on torch."""
        return self.session.names[name]

    def names(self, wanted: Callable[[Any], bool] | None = None) -> list[str]:
        """The names of the tensors, or of those that fit; the latest last."""
        return [name for name, tensor in self.session.tensors() if wanted is None or fits(tensor, wanted)]

    def tensor(self, wanted: Callable[[Any], bool] | None = None) -> str:
        """The name of a tensor that fits, more often a late one; of any tensor if none fits."""
        some = self.names(wanted) or self.names()
        return some[max(self.random.randrange(len(some)), self.random.randrange(len(some)))]

    def alike(self, name: str) -> list[str]:
        """The tensors of the same shape and dtype as this one."""
        tensor = self.value(name)
        return self.names(lambda one: one.shape == tensor.shape and one.dtype == tensor.dtype)

    def differentiable(self) -> str:
        """Mostly a tensor that requires grad."""
        return self.tensor(requires_grad) if not self.chance(0.07) else self.tensor()

    def is_leaf(self, name: str) -> bool:
        """Whether this is a leaf that requires grad: its hooks run in another order than torch's."""
        tensor = self.value(name)
        return fits(tensor, lambda one: one.is_leaf and one.requires_grad)

    # Writing

    def do(self, source: str) -> None:
        """Add a statement, and run it."""
        self.blocks[-1].append(source)
        self.session.do(source)

    def within(self, header: str, body: Callable[[], None]) -> None:
        """Add a block, and write its body inside."""
        self.headers.append(header)
        self.blocks.append([])
        with self.session.inside(header) as entered:
            if entered and header == THREAD:
                in_thread(body)
            elif entered:
                body()
        self.headers.pop()
        written = tuple(self.blocks.pop())
        self.blocks[-1].append(Block(header, written))

    def is_inside(self, *texts: str) -> bool:
        """Whether one of the blocks around has one of these texts in its header."""
        return any(text in header for header in self.headers for text in texts)

    # Expressions

    def numbers(self, shape: tuple[int, ...]) -> str:
        """A nested list of small numbers."""
        if not shape:
            return repr(self.random.randrange(-8, 9) / 4)
        return f"[{', '.join(self.numbers(shape[1:]) for _ in range(shape[0]))}]"

    def fresh(self, shape: tuple[int, ...] | None = None, **options: Any) -> str:
        """An expression for a new tensor."""
        shape = self.shape if shape is None else shape
        written = "".join(f", {key}={value}" for key, value in options.items())
        return f"mt.tensor({self.numbers(shape)}, dtype=mt.float64{written})"

    def like(self, name: str) -> str:
        """An expression for a gradient or a tangent of this tensor."""
        tensor = self.value(name)
        shape, torch = tuple(tensor.shape), self.session.mt
        if self.chance(0.04):
            shape = (3, *shape)
        if tensor.dtype != torch.float64:
            return f"mt.ones({shape}, dtype=mt.{str(tensor.dtype).rpartition('.')[2]})"
        return self.fresh(shape) if self.chance(0.6) and tensor.numel() < 8 else f"mt.ones({shape}, dtype=mt.float64)"

    def other_for(self, target: str) -> str:
        """A tensor to write into `target`: torch does not define writes to memory that the operation also reads.

        The very same tensor may be both, but its tangent, and what hooks save of it, are not right in torch.
        """
        other = self.tensor()
        alike = self.share_memory(target, other)
        if other == target:
            alike = self.is_inside("dual_level", "saved_tensors_hooks", "save_on_cpu")
        return f"{other}.detach().clone()" if alike else other

    def share_memory(self, a: str, b: str) -> bool:
        """Whether these tensors have memory in common."""
        return np.may_share_memory(*[self.value(one).detach().numpy(force=True) for one in (a, b)])


def requires_grad(tensor: Any) -> bool:
    """Whether the tensor requires grad."""
    return bool(tensor.requires_grad)


def fits(tensor: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether a tensor is wanted; never if it is a view whose history may not be regenerated."""
    try:
        return bool(wanted(tensor))
    except RuntimeError:
        return False
