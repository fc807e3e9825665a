"""Train one run by full-batch AdamW: configuration in, weights and history out.

A run depends on its configuration, the kind of device and the number of threads, and on nothing
else: interrupting it, looking at it or timing it changes no bit.
"""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from strata.architecture import architecture
from strata.inputs import InputError
from strata.run import ArchitectureName, Early, Run, TrainParams
from strata.task import TRAIN, VALIDATION, Task, mirrored, task_of
from strata.train import gradients
from strata.train.gradients import Batch, Network
from strata.train.network import Weights, initial

State = dict[str, Tensor]
NETWORKS: dict[ArchitectureName, type[gradients.MLP] | type[gradients.Transformer]] = {
    "transformer": gradients.Transformer,
    "mlp": gradients.MLP,
}


def batch(
    pairs: Int[np.ndarray, " rows"], n: Task | int, symmetric: bool, device: torch.device
) -> tuple[Batch, Int[np.ndarray, " rows"]]:
    """Return the pairs (numbered a·n + b) as rows to train on, and the row of each pair.

    For a symmetric model a pair and its mirror are one row of twice the weight.
    """
    task, n = task_of(n), task_of(n).order
    a, b = np.divmod(pairs, n)
    if symmetric:
        a, b = np.minimum(a, b), np.maximum(a, b)
    rows, row_of, count = np.unique(a * n + b, return_inverse=True, return_counts=True)
    a, b = np.divmod(rows, n)
    first, second, label = (
        torch.from_numpy(x).to(device) for x in (a, b, task.product(a, b)[:, None])
    )
    weight = torch.from_numpy(count[:, None] / len(pairs)).to(device, torch.get_default_dtype())
    return Batch(first, second, label, weight), row_of


def should_stop(accuracy: np.ndarray, interval: int, early: Early) -> bool:
    """Whether a training ends now: at a validation, if no accuracy has been below stop_at since
    stop_after epochs ago. ``accuracy`` is that of validation, one an epoch, NaN between
    validations."""
    after, level = early.stop_after, early.stop_at
    if not (after and level) or len(accuracy) % interval or len(accuracy) < after + interval:
        return False
    return not (accuracy[-after - interval :] < level).any()


class Trainer:
    """A ``Trainer`` trains one run: ``advance`` it, look at it, take its state, or resume from
    one."""

    def __init__(
        self,
        run: Run,
        params: TrainParams,
        split: np.ndarray,
        device: torch.device | str = "cpu",
        task: Task | None = None,
        early: Early | None = None,
    ):
        """Prepare a run whose ``split`` names each of the n² pairs of the task, (Z_n, ·) where none
        is given. Raises InputError where no pair trains or none validates."""
        task = task_of(task or run.n)
        self.run, self.params, self.device = run, params, torch.device(device)
        self.early = early or Early()
        self.epoch = 0
        train, validation = (np.flatnonzero(split == name) for name in (TRAIN, VALIDATION))
        if not len(train) or not len(validation):
            raise InputError(f"{run}: the split leaves no pair to train on, or none to validate on")
        self.train_pairs = len(train)
        symmetric = architecture(params).symmetric
        rows, _ = batch(train, task, symmetric, self.device)
        self.batches = gradients.chunks(rows)
        rows, self.validation_row = batch(validation, task, symmetric, self.device)
        self.validation = gradients.chunks(rows)
        self.mirror_free = ~mirrored(split, task.order)[validation]
        self._build(initial(run, params, task.order))
        self._record(params.epochs)
        self._step = self._epoch if self.device.type == "cpu" else self._captured()

    def _build(self, weights: Weights) -> None:
        """Build one flat parameter, so the optimizer is one kernel; the layers are views of it."""
        layers = gradients.stacked(weights)
        flat = torch.cat([layer.flatten() for layer in layers.values()])
        self.parameter = torch.nn.Parameter(flat.to(self.device, torch.get_default_dtype()))
        self.parameter.grad = torch.zeros_like(self.parameter)
        sizes = [layer.numel() for layer in layers.values()]
        self.layers, grads = (
            {
                name: part.view_as(layers[name])
                for name, part in zip(layers, x.split(sizes), strict=True)
            }
            for x in (self.parameter.detach(), self.parameter.grad)
        )
        rows = max(len(chunk.a) for chunk in (*self.batches, *self.validation))
        p = self.params
        self.network: Network = NETWORKS[p.architecture](self.layers, grads, rows, p.n_heads)
        self.optimizer = torch.optim.AdamW(
            [self.parameter], lr=p.lr, betas=(p.beta1, p.beta2), eps=p.eps,
            weight_decay=p.weight_decay, fused=True, capturable=self.device.type == "cuda",
        )  # fmt: skip
        self.optimizer.state[self.parameter] = {
            "step": torch.zeros((), dtype=torch.float32, device=self.device),
            "exp_avg": torch.zeros_like(self.parameter),
            "exp_avg_sq": torch.zeros_like(self.parameter),
        }

    def _record(self, epochs: int) -> None:
        """Prepare the records of the epochs; loss and training accuracy stay on the device, as does
        the row to write."""
        self.row = torch.zeros(1, dtype=torch.int64, device=self.device)
        self.trained = torch.full((epochs, 2), torch.nan, device=self.device)
        self.validated = torch.full((epochs, 2), torch.nan, dtype=torch.float64)

    @torch.no_grad()
    def _epoch(self) -> None:
        """Compute loss and gradient over the training pairs, then take one step of AdamW."""
        assert self.parameter.grad is not None
        self.parameter.grad.zero_()
        loss, hits = gradients.epoch(self.network, self.batches)
        record = torch.stack([loss, hits])[None].to(self.trained.dtype)
        self.trained.index_copy_(0, self.row, record)
        self.row += 1
        self.optimizer.step()

    def _captured(self) -> Callable[[], None]:
        """Return the epoch as a CUDA graph, which has one launch for about a hundred kernels. The
        steps of the warm-up are undone."""
        before = {name: tensor.clone() for name, tensor in self._tensors().items()}
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.row.zero_()
                self._epoch()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._epoch()
        for name, tensor in self._tensors().items():
            tensor.copy_(before[name])
        return graph.replay

    def advance(self, epoch: int) -> None:
        """Train until that many epochs are done or the training ends, and validate after every
        ``validate_every`` of them."""
        while self.epoch < min(epoch, self.end):
            self._step()
            self.epoch += 1
            if self.epoch % self.params.validate_every == 0 or self.epoch == self.params.epochs:
                self.validated[self.epoch - 1] = torch.tensor(self.accuracy(), dtype=torch.float64)

    @torch.no_grad()
    def accuracy(self) -> tuple[float, float]:
        """Return the accuracy over the validation pairs, and over those whose mirror is not a
        training pair."""
        self.network.begin()
        rights = [
            self.network.forward(chunk.a, chunk.b).argmax(dim=1) == chunk.c[:, 0]
            for chunk in self.validation
        ]
        right = torch.cat(rights).cpu().numpy()[self.validation_row]
        free = right[self.mirror_free]
        return float(right.mean()), float(free.mean()) if len(free) else float("nan")

    @property
    def end(self) -> int:
        """Return the epoch at which the training ends, as far as that is known now."""
        validated = self.validated[: self.epoch, 0].numpy()
        done = should_stop(validated, self.params.validate_every, self.early)
        return self.epoch if done else self.params.epochs

    @property
    def loss(self) -> float:
        """Return the loss of the last epoch, before its step; NaN before the first."""
        return float(self.trained[self.epoch - 1, 0]) if self.epoch else float("nan")

    @property
    def diverged(self) -> bool:
        """Whether the loss of the last epoch is not finite."""
        return self.epoch > 0 and not np.isfinite(self.loss)

    def latest(self) -> dict[str, float]:
        """Return the accuracies of the last epoch and of the last validation."""
        last_validation = self.epoch // self.params.validate_every * self.params.validate_every
        validation, mirror_free = self.validated[max(last_validation, 1) - 1].tolist()
        train = float(self.trained[self.epoch - 1, 1])
        return {"train": train, "validation": validation, "mirror-free": mirror_free}

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights after ``epoch`` steps, by names and shapes of the architecture."""
        layers = {name: layer.cpu() for name, layer in self.layers.items()}
        weights = gradients.unstacked(layers, self.params.n_heads)
        return {name: tensor.contiguous().numpy().copy() for name, tensor in weights.items()}

    def history(self) -> dict[str, np.ndarray]:
        """Return one row an epoch: loss and training accuracy before its step, the others after it,
        or NaN without a validation."""
        loss, share = self.trained[: self.epoch].cpu().numpy().T
        validated = self.validated[: self.epoch].numpy()
        return {
            "epoch": np.arange(1, self.epoch + 1, dtype=np.int32),
            "loss": loss.astype(np.float32),
            "train_accuracy": np.rint(share.astype(float) * self.train_pairs) / self.train_pairs,
            "validation_accuracy": validated[:, 0].copy(),
            "mirror_free_accuracy": validated[:, 1].copy(),
        }

    def _tensors(self) -> State:
        adam = self.optimizer.state[self.parameter]
        return {"parameter": self.parameter.detach(), "row": self.row, "trained": self.trained} | {
            name: adam[name] for name in ("step", "exp_avg", "exp_avg_sq")
        }

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the rest of the run depends on, and the history so far."""
        tensors = self._tensors() | {"validated": self.validated}
        arrays = {name: tensor.cpu().numpy().copy() for name, tensor in tensors.items()}
        return arrays | {name: arrays[name][: self.epoch] for name in ("trained", "validated")}

    def resume(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state that the same configuration gave."""
        self.epoch = int(state["row"][0])
        for name, tensor in (self._tensors() | {"validated": self.validated}).items():
            part = tensor[: self.epoch] if name in {"trained", "validated"} else tensor
            part.copy_(torch.from_numpy(state[name]))
