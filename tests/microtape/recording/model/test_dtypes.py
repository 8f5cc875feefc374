import numpy as np
import pytest

from microtape.recording.model.dtypes import bits_of, kind_of


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float16", "float64", "complex64", "complex128"])
def test_a_dtype_of_numpy_is_what_numpy_says(name: str) -> None:
    assert kind_of(name) == np.dtype(name).kind
    assert name == "bool" or bits_of(name) == 8 * np.dtype(name).itemsize


@pytest.mark.parametrize(("name", "kind", "bits"), [("bfloat16", "f", 16), ("float8_e5m2", "f", 8), ("qint8", "V", 0)])
def test_a_dtype_that_numpy_lacks(name: str, kind: str, bits: int) -> None:
    assert (kind_of(name), bits_of(name)) == (kind, bits)


def test_no_dtype() -> None:
    assert kind_of("") == kind_of("float12345") == "V"
