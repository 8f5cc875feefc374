"""The faults that a wrong engine can have. `lessons.checking.wrong_engines` builds the wrong engines."""

FAULTS: dict[str, str] = {
    "overwrite": "It overwrites: when a second gradient arrives, the first is lost.",
    "overwrite_grad": "It overwrites .grad: the gradient that an earlier backward left there is lost.",
    "no_reverse_order": (
        "It does not rewind the tape: a row runs as soon as one gradient has arrived, and later ones are lost."
    ),
    "no_unbroadcast": (
        "It does not sum over stretched dimensions: the gradient has the shape of the result, not of the operand."
    ),
    "no_version_check": "It does not check versions: overwritten numbers are used as if nothing had happened.",
}
"""Name -> the sentence that is shown when a learner has found the fault."""
