"""The votes of the primes of two networks, and what classes say instead, as a page draws them.

In: runs and the weights of each, of a square-free n. Out: JSON, for each run the votes that fit the
logits of all products, and those that fit all but one class; the account that sorts first; and the
share that each explains.
"""

from strata import store
from strata.patch.patching import forward_pass
from strata.run import Run, command
from studies.mechanism.code import picture
from studies.mechanism.code.profile import profile


def main(out: str, *models: str) -> None:
    drawings = []
    for name, weights in zip(models[::2], models[1::2], strict=True):
        run = Run.parse(name)
        y = profile(forward_pass(store.read_weights(weights, run), run.n))
        drawings.append({"run": name, "n": run.n} | picture.drawing(y))
    store.write_json(out, drawings, indent=None)


if __name__ == "__main__":
    command(main)
