"""Ink that can be read: how much two colours differ in lightness, by the rule of WCAG 2."""

from __future__ import annotations

BLACK, WHITE = "#000000", "#ffffff"
#: The least contrast of small text that most people can read (WCAG 2, level AA).
READABLE = 4.5


def luminance(colour: str) -> float:
    """Relative luminance of a colour that is written ``#rrggbb``: 0 is black, 1 is white.

    >>> luminance("#000000"), round(luminance("#ffffff"), 6)
    (0.0, 1.0)
    """
    parts = [value / 255 for value in bytes.fromhex(colour.removeprefix("#"))]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 6)
    21.0
    """
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour; on every colour one of them is `READABLE`.

    >>> ink_on("#92203a"), ink_on("#93a8bd")
    ('#ffffff', '#000000')
    """
    return max((BLACK, WHITE), key=lambda ink: contrast(ink, colour))
