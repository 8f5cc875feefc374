"""There is one device, the CPU; a program that asks for another gets an error."""

import pytest

import microtape as mt


def test_the_usual_first_lines_of_a_program_run():
    device = mt.device("cuda" if mt.cuda.is_available() else "cpu")
    x = mt.ones(2, device=device, requires_grad=True)
    assert x.to(device) is x
    assert x.cpu() is x
    assert (x.device, x.is_cuda, mt.cuda.device_count()) == (device, False, 0)
    assert (str(device), repr(device), device.type, device.index) == ("cpu", "device(type='cpu')", "cpu", None)


def test_another_device_has_a_name_and_nothing_is_there():
    device = mt.device("cuda:1")
    assert (str(device), repr(device), device.type, device.index) == (
        "cuda:1",
        "device(type='cuda', index=1)",
        "cuda",
        1,
    )
    assert device == mt.device("cuda", 1) == mt.device(device) != mt.device("cpu")
    for move in (
        lambda x: x.to(device),
        lambda x: x.to("cuda:1"),
        lambda x: x.cuda(1),
        lambda x: x.new_ones(1, device=device),
    ):
        with pytest.raises(RuntimeError, match="there is no device but the cpu here, got "):
            move(mt.ones(2))
    with pytest.raises(RuntimeError, match="there is no device but the cpu here, got 'cuda:1'"):
        mt.zeros(2, device=device)


@pytest.mark.parametrize("text", ["gpu", "cuda:", "cuda:one", ""])
def test_what_is_no_device_is_refused(text):
    with pytest.raises(RuntimeError, match="Invalid device string"):
        mt.device(text)
