"""How a part declares its keys, and what is made from that."""

from types import SimpleNamespace

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.key_declarations import answers, answers_of, attach, bindings, help_rows, key, keys_of
from tui.stepper.parts.part import Part
from tui.widgets.prompt import Purpose

TURN = "turn it left or right"
NAME = Purpose("name", "any name")


class Wheel(Part):
    at = 0

    @key("l", "turn left", -1, help=TURN)
    @key("r,right", "turn right", 1, help=TURN, footer=2)
    def turn(self, by):
        self.at += by

    @key("s", "stop", footer=1)
    def stop(self):
        self.at = 0

    @answers(NAME, "n", "name it", help="give it a name")
    def rename(self, text):
        self.name = text

    def spin(self):
        raise AssertionError("no key does this")


def test_an_action_is_named_after_its_method_and_arguments():
    assert [(one.action, one.keys) for one in keys_of(Wheel)] == [
        ("turn(-1)", "l"), ("turn(1)", "r,right"), ("stop", "s"), ("ask('name')", "n"),
    ]  # fmt: skip


def test_the_footer_has_its_keys_in_its_order():
    made = bindings(keys_of(Wheel))
    assert [one.action for one in made if one.show] == ["stop", "turn(1)"]
    assert {one.description for one in made} == {"turn left", "turn right", "stop", "name it"}


def test_keys_with_the_same_help_share_a_line():
    assert help_rows(keys_of(Wheel)) == [(("turn(-1)", "turn(1)"), TURN), (("ask('name')",), "give it a name")]


def test_a_widget_gets_the_actions_of_keys_alone():
    wheel, widget = Wheel(FakeStepper(handmade.diamond())), SimpleNamespace()
    attach(widget, wheel)
    widget.action_turn(1)
    assert wheel.at == 1
    assert set(vars(widget)) == {"action_turn", "action_stop"}


def test_the_part_that_declares_a_purpose_answers_it():
    wheel = Wheel(FakeStepper(handmade.diamond()))
    (answer,) = answers_of(wheel)
    answer.method("big")
    assert (answer.purpose, wheel.name) == (NAME, "big")


def test_a_subclass_has_the_same_keys():
    assert list(keys_of(type("Gear", (Wheel,), {}))) == list(keys_of(Wheel))
