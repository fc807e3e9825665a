"""What a long stage shows: a bar on a terminal, a line now and then elsewhere."""

import sys
import time

from tqdm import tqdm


class Progress:
    """Epochs done of ``total``; on a terminal with a bar, else with a line every ``seconds``."""

    def __init__(self, name: str, total: int, start: int, seconds: float = 30):
        self.name, self.total, self.start, self.seconds = name, total, start, seconds
        self.began = self.told = time.monotonic()
        terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=total, initial=start, desc=name, unit="epoch", disable=not terminal,
            dynamic_ncols=True
        )  # fmt: skip

    def show(self, epoch: int, loss: float, accuracies: dict[str, float]) -> None:
        """Report where the run is: epoch, loss and the latest accuracies."""
        facts = {"loss": f"{loss:.3g}"} | {name: f"{x:.3f}" for name, x in accuracies.items()}
        if not self.bar.disable:
            self.bar.set_postfix(facts, refresh=False)
            self.bar.update(epoch - self.bar.n)
        elif time.monotonic() - self.told >= self.seconds or epoch == self.total:
            self.told = time.monotonic()
            left = (self.told - self.began) / max(epoch - self.start, 1) * (self.total - epoch)
            told = "  ".join(f"{name} {value}" for name, value in facts.items())
            print(
                f"{self.name}  epoch {epoch}/{self.total}  {told}  {left / 60:.1f} min left",
                flush=True,
            )

    def close(self) -> None:
        """Leave the terminal clean."""
        self.bar.close()
