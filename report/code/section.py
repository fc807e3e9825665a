"""One section of the report."""

from dataclasses import dataclass

# The parts in their order, each with the page of the appendix that has it.
PARTS = {
    "Setup": "setup.html",
    "Embeddings": "embeddings.html",
    "Attention": "attention.html",
    "Neurons": "neurons.html",
    "Logits": "logits.html",
    "Training": "training.html",
    "Interventions": "interventions.html",
    "Strata or primes": "accounts.html",
    "The paper’s own weights": "published.html",
    "Over seeds": "seeds.html",
    "Every modulus": "moduli.html",
    "Claims": "claims.html",
}


@dataclass(frozen=True)
class Section:
    """A table or a figure, named as its file and, for a figure, its notebook.

    ``view`` is the function of site/ that draws it for any run. ``claims`` is a pattern: the rows
    of the table of claims that it finds stand under the section. ``template`` is the notebook of a
    figure that shares it with others.
    """

    name: str
    part: str
    label: str = ""  # a figure has label and title from its notebook where they are not here
    title: str = ""
    text: str = ""
    view: str = ""
    claims: str = ""
    template: str = ""

    @property
    def table(self) -> bool:
        """Whether it is one of tables/, not of figures/."""
        return bool(self.text)

    @property
    def notebook(self) -> str:
        """The notebook of a figure."""
        return f"notebooks/{self.template or self.name}.ipynb"
