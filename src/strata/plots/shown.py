"""Show a figure as an image in a notebook, without a file."""

from io import BytesIO

from IPython.display import Image
from matplotlib.figure import Figure


def as_image(fig: Figure) -> Image:
    """Return what the notebook displays, with the same bytes for the same figure."""
    buffer = BytesIO()
    fig.savefig(buffer, dpi=160, format="png")
    return Image(buffer.getvalue(), retina=True)
