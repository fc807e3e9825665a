"""Define colours that mean one thing, on pages and in printed figures, light and dark.

A prime has its colour everywhere, and nothing else has it. A verdict has one of three: dark, pale
or red; red also marks what is wrong. Classes, which need markers beside them, have other colours;
operands are shapes.
"""

# Each role has a colour on light ground and one on dark ground.
PRIMES = {
    2: ("#7d4fa8", "#c4a0ea"), 3: ("#0a6bb0", "#62b3f2"), 5: ("#b5480a", "#f39a5d"),
    7: ("#766300", "#d8c14a"), 11: ("#12805c", "#4fcf9f"), 13: ("#a33d86", "#ee9fd4"),
}  # fmt: skip
HOLDS, UNDECIDED, FAILS = ("#0c1020", "#f2f3f5"), ("#c3c8cf", "#4d545c"), ("#c4143f", "#ff8a80")
VERDICTS = (HOLDS, UNDECIDED, FAILS)
CLASSES = (
    "#3A3AEA", "#A3B800", "#6B3F1D", "#B8A1D9", "#000000", "#8C8C8C", "#191966", "#CCCC8E",
)  # fmt: skip
# On a dark page this style exchanges what matplotlib draws in black and in white.
DARK = """<style>@media (prefers-color-scheme: dark) {
svg { fill: #e6e8ea } [style*="fill: #ffffff"] { fill: #15171a !important }
[style*="fill: #000000"] { fill: #e6e8ea !important }
[style*="stroke: #000000"] { stroke: #e6e8ea !important }
[style*="stroke: #ffffff"] { stroke: #15171a !important } }</style>
"""


def prime(p: int) -> str:
    """Return the colour of a prime on light ground; one that has none has that of 3.

    >>> prime(113) == prime(3) != prime(11)
    True
    """
    return PRIMES.get(p, PRIMES[3])[0]


def css() -> str:
    """Return the colours as variables of a page: --p2 …, --holds, --undecided, --wrong."""
    roles = {f"p{p}": colors for p, colors in PRIMES.items()}
    roles |= {"holds": HOLDS, "undecided": UNDECIDED, "wrong": FAILS}
    light, dark = (
        "".join(f"--{name}: {colors[i]}; " for name, colors in roles.items()) for i in range(2)
    )
    return f":root {{ {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}"
