"""Draw the diagram of a model, with places in units of the diagram."""

from collections.abc import Mapping, Sequence

from matplotlib.patches import FancyBboxPatch

from strata.plots.base import FAINT, GREY, Axes, Number
from strata.task import Task

TOKENS = (6.6, 4.6, 2.3)  # height of a, b and `=`


def draw(ax: Axes, task: Task, d_model: int, n_heads: int, d_head: int, d_mlp: int) -> None:
    """Draw the transformer of a run, left to right, and the role the paper proposes for each
    part."""
    _draw_input(ax, ("$a$", "$b$", "="), f"{task.order + 1} × {d_model}")
    heads = f"{n_heads} attention heads\n\n$W_Q$, $W_K$, $W_V$:  {d_model} × {d_head}"
    box(ax, (7.4, 4.4, 6, 4), f"{heads}\n$W_O$:  {d_head} × {d_model}", "#FBE3B5")
    _draw_neurons(ax, 16, f"{d_model} × {d_mlp}", f"{d_mlp} × {d_model}")
    _draw_output(ax, task, d_model)
    for y in (7.3, 5.3):
        arrow(ax, (5.6, y), (7.4, y))
    for x in (8.4, 16.9):
        arrow(ax, (x, 3), (x, 4.4))
    for start, corner in ((13.4, 14.2), (20.6, 21.4)):
        _draw_addition(ax, start, corner)
    for start, end, stream in ((5.6, 13.85, 0), (14.55, 21.05, 1), (21.75, 22.8, 2)):
        arrow(ax, (start, 3), (end, 3))
        ax.text(start + 0.15, 3.2, f"$x^{stream}$", fontsize=8)
    arrow(ax, (25.7, 3), (26.7, 3))
    moves = "moves the operands into\nthe subspace of a class"
    _write_roles(
        ax, task, {4: "sorts residues\nby class", 10.4: moves, 18.3: "composes the product"}
    )


def _draw_addition(ax: Axes, start: Number, corner: Number) -> None:
    """Draw how a part adds what it writes, from its right side down to the residual stream."""
    ax.plot([start, corner], [6.4, 6.4], color="black", linewidth=0.8)
    arrow(ax, (corner, 6.4), (corner, 3.35))
    ax.text(corner, 3, "+", ha="center", va="center_baseline")
    ax.plot(corner, 3, "o", color="none", markeredgecolor="black", markersize=9)


def draw_mlp(ax: Axes, task: Task, d_model: int, d_mlp: int) -> None:
    """Draw the MLP-only model of a run, which reads the embeddings of a and b side by side."""
    _draw_input(ax, ("$a$", "$b$"), f"{task.order} × {d_model}")
    _draw_neurons(ax, 12, f"{2 * d_model} × {d_mlp}", f"{d_mlp} × {d_model}")
    _draw_output(ax, task, d_model)
    for y in (7.3, 5.3):
        arrow(ax, (5.6, y), (12, y))
    ax.plot([16.6, 19.7, 19.7], [6.4, 6.4, 3], color="black", linewidth=0.8)
    for start, end in ((19.7, 22.8), (25.7, 26.7)):
        arrow(ax, (start, 3), (end, 3))
    _write_roles(ax, task, {4: "sorts residues\nby class", 14.3: "composes the product"})


def _draw_input(ax: Axes, tokens: Sequence[str], shape: str) -> None:
    ax.set(xlim=(-0.2, 29.8), ylim=(-0.7, 8.6), aspect="equal")
    ax.set_axis_off()
    for y, token in zip(TOKENS, tokens, strict=False):
        box(ax, (0, y, 1.4, 1.4), token, FAINT)
        arrow(ax, (1.4, y + 0.7), (2.4, y + 0.7))
    low = TOKENS[len(tokens) - 1] - 0.4
    box(ax, (2.4, low, 3.2, 8.4 - low), f"embed\n$W_E$\n\n{shape}", "#CFE5F5")


def _draw_neurons(ax: Axes, x: Number, W_in: str, W_out: str) -> None:
    text = f"MLP, ReLU\n\n$W_{{in}}$:  {W_in}\n$W_{{out}}$:  {W_out}"
    box(ax, (x, 4.4, 4.6, 4), text, "#C9EBDD")


def _draw_output(ax: Axes, task: Task, d_model: int) -> None:
    n, answer = task.order, f"$ab$ mod {task.modulus}" if task.modulus else "$ab$"
    box(ax, (22.8, 1.7, 2.9, 2.6), f"unembed\n$W_U$\n{d_model} × {n}", "#F3D9E8")
    box(ax, (26.7, 1.7, 2.9, 2.6), f"{n} logits,\nlargest at\n{answer}", FAINT)


def _write_roles(ax: Axes, task: Task, roles: Mapping[Number, str]) -> None:
    regular = all(J.regular for J in task.classes)  # else some c has no c♯
    argument = "ab\\,c^\\sharp" if regular else "u(ab)\\,u(c)^{-1}"
    scores = {25.8: f"scores c by $\\chi({argument})$"}
    for x, role in {**roles, **scores}.items():
        ax.text(x, 0.9, role, ha="center", va="top", fontsize=8, style="italic", color="#444444")
    ax.text(-0.2, 0.9, "the paper", va="top", fontsize=8, color=GREY)


def box(ax: Axes, bounds: tuple[Number, Number, Number, Number], text: str, color: str) -> None:
    """Draw a rounded box at place = (x, y, width, height) with its text inside."""
    x, y, width, height = bounds
    shape = FancyBboxPatch((x, y), width, height, "round,pad=0,rounding_size=0.25")
    ax.add_patch(shape).set(facecolor=color, edgecolor=GREY, linewidth=0.6)
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8)


def arrow(ax: Axes, start: tuple[Number, Number], end: tuple[Number, Number]) -> None:
    """Draw an arrow from start to end."""
    look = {"arrowstyle": "-|>", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
    ax.annotate("", end, start, arrowprops=look | {"facecolor": "black"})
