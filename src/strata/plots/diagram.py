"""The diagram of the transformer: where each part stands, in units of its own."""

from strata.monoid import classes
from strata.plots.base import FAINT, Axes, arrow, box


def draw(ax: Axes, n: int, d_model: int, n_heads: int, d_head: int, d_mlp: int) -> None:
    """The transformer of a run, left to right, and the role the paper proposes for each part."""
    ax.set(xlim=(-0.2, 29.8), ylim=(-0.4, 8.6), aspect="equal")
    ax.set_axis_off()
    for y, token in ((6.6, "$a$"), (4.6, "$b$"), (2.3, "=")):
        box(ax, (0, y, 1.4, 1.4), token, FAINT)
        arrow(ax, (1.4, y + 0.7), (2.4, y + 0.7))
    box(ax, (2.4, 1.9, 3.2, 6.5), f"embed\n$W_E$\n\n{n + 1} × {d_model}", "#CFE5F5")
    heads = f"{n_heads} attention heads\n\n$W_Q$, $W_K$, $W_V$:  {d_model} × {d_head}"
    box(ax, (7.4, 4.4, 6, 4), f"{heads}\n$W_O$:  {d_head} × {d_model}", "#FBE3B5")
    mlp = f"MLP, ReLU\n\n$W_{{in}}$:  {d_model} × {d_mlp}\n$W_{{out}}$:  {d_mlp} × {d_model}"
    box(ax, (16, 4.4, 4.6, 4), mlp, "#C9EBDD")
    box(ax, (22.8, 1.7, 2.9, 2.6), f"unembed\n$W_U$\n{d_model} × {n}", "#F3D9E8")
    box(ax, (26.7, 1.7, 2.9, 2.6), f"{n} logits,\nlargest at\n$ab$ mod {n}", FAINT)
    for y in (7.3, 5.3):
        arrow(ax, (5.6, y), (7.4, y))
    for x in (8.4, 16.9):
        arrow(ax, (x, 3), (x, 4.4))
    for start, corner in ((13.4, 14.2), (20.6, 21.4)):
        ax.plot([start, corner], [6.4, 6.4], color="black", linewidth=0.8)
        arrow(ax, (corner, 6.4), (corner, 3.35))
        ax.text(corner, 3, "+", ha="center", va="center_baseline")
        ax.plot(corner, 3, "o", color="none", markeredgecolor="black", markersize=9)
    for start, end, stream in ((5.6, 13.85, 0), (14.55, 21.05, 1), (21.75, 22.8, 2)):
        arrow(ax, (start, 3), (end, 3))
        ax.text(start + 0.15, 3.2, f"$x^{stream}$", fontsize=7)
    arrow(ax, (25.7, 3), (26.7, 3))
    roles = ("sorts residues\nby class", "moves the operands into\nthe subspace of a class")
    regular = all(J.regular for J in classes(n))  # else c♯ is not there for every c
    argument = "ab\\,c^\\sharp" if regular else "u(ab)\\,u(c)^{-1}"
    roles += ("composes the product", f"scores c by $\\chi({argument})$")
    for x, role in zip((4, 10.4, 18.3, 25.8), roles, strict=True):
        ax.text(x, 0.9, role, ha="center", va="top", fontsize=7, style="italic", color="#444444")
