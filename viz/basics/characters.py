"""Makes text of unknown origin safe for a picture: visible characters only, valid XML, a limited length."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = {"Cc", "Cs", "Co", "Zl", "Zp"}  # control, lone surrogates, private use, line and paragraph separators
# They reorder or hide the text around them, so that one name would look like another.
_MISLEADING = set("\u061c\u200b\u200e\u200f\u2060\ufeff\u00ad") | {
    chr(code) for first, last in ((0x202A, 0x202E), (0x2066, 0x2069)) for code in range(first, last + 1)
}


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")
_MARK = "\u200e"  # LEFT-TO-RIGHT MARK, an invisible character


def visible(text: str, limit: int) -> str:
    r"""The text with control characters written out (`\x1b`, `\u202e`), cut to `limit` characters with an ellipsis.

    The result contains no line break, is valid XML once escaped, and can be encoded as UTF-8.
    """
    shown = text[: limit + 1]
    if not shown.isprintable():
        shown = "".join(map(_written_out, shown))
    return shown if len(shown) <= limit else shown[: max(limit - 1, 0)] + "…"


def left_to_right(text: str) -> str:
    """The text with marks around its right-to-left parts, so that they do not reorder the text beside them."""
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return text
    return _MARK + _RIGHT_TO_LEFT.sub(lambda run: run[0] + _MARK, text)


def to_ascii(text: str) -> str:
    """The text in plain ASCII: signs that pictures use become look-alikes, other characters become escapes."""
    return text.translate(_LOOK_ALIKES).encode("ascii", "backslashreplace").decode("ascii")


def _written_out(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    never_a_character = ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    if never_a_character or character in _MISLEADING or unicodedata.category(character) in _INVISIBLE:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


_LOOK_ALIKES = str.maketrans(
    {
        "×": "x", "·": "*", "±": "+-", "…": "...", "−": "-", "–": "-", "∂": "d", "Σ": "sum ", "√": "sqrt ",
        "²": "^2", "³": "^3", "ˣ": "^x", "ᵀ": "^T", "⁻": "^-", "¹": "1", "∞": "inf", "≠": "!=", "≤": "<=", "≥": ">=",
        "→": "->", "←": "<-", "▶": ">", "✓": "*", "✗": "!", "○": "o", "✂": "8<", "◐": "~",
        "┷": "+", "↑": "Up", "↓": "Down", "◀": "<", "▲": "^", "▼": "v", "●": "o", "╱": "/", "╲": "\\",
        "─": "-", "│": "|",
        "⁰": "^0", "⁴": "^4", "⁸": "^8", "ⁿ": "^n", "ᵐ": "^m", "é": "e",
        "ʸ": "^y", "ᶻ": "^z", "ᵖ": "^p", "ᵗ": "^t", "ᵇ": "^b", "ᴴ": "^H", "½": "1/2", "′": "'", "⊗": "(x)",
        "ᵢ": "_i", "ⱼ": "_j", "₀": "_0", "₁": "_1", "₂": "_2", "₊": "+", "₋": "-", "\u0304": "~", "ḡ": "g~",
        "α": "alpha", "β": "beta", "δ": "delta", "π": "pi", "σ": "sigma", "φ": "phi", "Φ": "Phi", "Π": "product ",
        "\u0302": "^", "∗": "conv", "ε": "eps", "μ": "mu", "λ": "lambda", "ᐟ": "/", "ᵃ": "^a",
        "∫": "integral ", "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "∈": " in ",
        "▁": "_", "▂": ".", "▃": "-", "▄": ":", "▅": "=", "▆": "+", "▇": "*", "█": "#",
    }
    | dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+")
)  # fmt: skip
