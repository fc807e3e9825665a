"""What weights are called elsewhere, and their axes there: one table, and a state dict read by it.

Names are all that is looked at: a network that computes something else with weights of these
shapes, such as one without residual stream, has to be told apart by its answers.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from strata.architecture import TABLE
from strata.inputs import InputError
from strata.run import Headline, validated

Arrays = dict[str, np.ndarray]
WHERE = "docs/models.md describes the formats"
OURS, LENS, PUBLISHED, PLAIN = (
    "strata",
    "TransformerLens",
    "the published format",
    "plain torch modules",
)


class Name(NamedTuple):
    """A weight in TransformerLens and in torch's own layers; the part of the network that it is in;
    what else a module of it may be called there, without underscores."""

    path: str
    plain: str
    part: str
    words: str


WEIGHTS = {
    "W_E": Name("embed.W_E", "embed.weight", "", "embed embedding embeddings emb tokembed "
                "tokenembed tokenembedding tokemb embedtokens embedin wte"),
    "W_P": Name("pos_embed.W_pos", "pos_embed.weight", "", "posembed posembedding posemb "
                "positionembedding positionalembedding wpe embedpositions"),
    "W_U": Name("unembed.W_U", "unembed.weight", "", "unembed unembedding head lmhead out output "
                "classifier decoder readout fc linear embedout"),
    "W_QKV": Name("", "attn.in_proj_weight", "attention", "inproj qkv wqkv qkvproj cattn"),
    "W_Q": Name("blocks.0.attn.W_Q", "attn.q_proj.weight", "attention", "q wq qproj query toq"),
    "W_K": Name("blocks.0.attn.W_K", "attn.k_proj.weight", "attention", "k wk kproj key tok"),
    "W_V": Name("blocks.0.attn.W_V", "attn.v_proj.weight", "attention", "v wv vproj value tov"),
    "W_O": Name("blocks.0.attn.W_O", "attn.out_proj.weight", "attention",
                "outproj o wo oproj proj cproj toout out output dense"),
    "W_in": Name("blocks.0.mlp.W_in", "mlp.0.weight", "mlp",
                 "0 fc1 linear1 lin1 w1 fcin in win up upproj cfc"),
    "W_out": Name("blocks.0.mlp.W_out", "mlp.2.weight", "mlp",
                  "2 3 fc2 linear2 lin2 w2 fcout out wout down downproj cproj"),
}  # fmt: skip
PARTS: dict[str, str] = dict.fromkeys(
    ("attn", "attention", "selfattn", "selfattention", "mha"), "attention"
)
PARTS |= dict.fromkeys(("mlp", "ff", "ffn", "feedforward"), "mlp")
ATTENTION = {"W_QKV", "W_Q", "W_K", "W_V", "W_O"}
TURNED = ("W_in", "W_out", "W_U")  # acts on rows from the right here, in torch on columns
BIASED = ("Q", "K", "V", "O", "in", "out", "U")
# Our names of the weights, and where a model here or of TransformerLens has them.
PATHS = {"W_E": WEIGHTS["W_E"].path} | {
    f"{kind}_{x}": WEIGHTS[f"W_{x}"].path.replace("W_", f"{kind}_") for x in BIASED for kind in "Wb"
}
MODULES = {k: x.plain for k, x in WEIGHTS.items()} | {
    f"b_{k[2:]}": x.plain.replace("weight", "bias") for k, x in WEIGHTS.items()
}
BUFFER = re.compile(r"mask|IGNORE|(?:^|\.)attn\.bias$", re.IGNORECASE)
NORM = re.compile(r"(?:^|[._])(?:layer_?)?(?:ln|norm)(?:_?\w+)?\.|norm", re.IGNORECASE)
SECOND = re.compile(r"(?:blocks?|layers?|h)\.[1-9]\d*\.(?!weight|bias)")
# What TransformerLens says of a network that is not this one.
CFG = {"n_layers": 1, "act_fn": "relu", "normalization_type": None, "attn_only": False}


def role_of(name: str) -> str | None:
    """The weight that a tensor of that name is, whatever stands before it.

    >>> role_of("a.self_attn.q_proj.weight"), role_of("fc1.bias"), role_of("out"), role_of("b.W_Q")
    ('W_Q', 'b_in', 'W_U', 'W_Q')
    """
    *_, part, own, kind = ("", "", *re.sub(r"[._](weight|bias)$", r".\1", name).split("."))
    if kind in PATHS or kind == "W_pos":
        return kind.replace("pos", "P")
    if kind not in ("weight", "bias"):
        part, own = own, kind
    part, own = (x.lower().replace("_", "") for x in (part, own))
    for role, known in WEIGHTS.items():
        if own in known.words.split() and PARTS.get(part, known.part) == known.part:
            return role.replace("W_", "b_") if kind == "bias" else role
    return None


class Found:
    """The tensors of a state dict by our names: ``values`` act on rows from the right, with heads
    side by side; ``names`` are those there, ``notes`` say what was done. Raises InputError for
    others."""

    def __init__(
        self, named: Arrays, recorded: Mapping[str, Any], rename: Mapping[str, str] | None = None
    ):
        told = recorded.get("cfg")
        for key, must in CFG.items():
            if isinstance(told, Mapping) and told.get(key, must) != must:
                raise InputError(f"its cfg has {key} = {told[key]!r:.60}, must be {must!r}")
        self.notes: list[str] = []
        self.names = roles(named, rename or {})
        found = {role: named[name] for role, name in self.names.items()}
        if infinite := [self.names[k] for k, x in found.items() if not np.isfinite(x).all()]:
            raise InputError(f"not finite: {', '.join(infinite)}")
        self.attends = bool({*found} & ATTENTION)
        queries = found.get("W_Q", np.empty(0))
        self.n_heads = len(queries) if queries.ndim == 3 else None
        self.kind = OURS if {*self.names.values()} <= {*PATHS} else LENS
        by_path = any(role_of(x) == x.rpartition(".")[2] for x in self.names.values())
        if not by_path and not self.n_heads:
            self.kind = PUBLISHED if "P" in (recorded.get("config") or ()) else PLAIN
        self.turned = self._turned(found)
        self.values = {k: flat(k, x.T if k in self.turned else x) for k, x in found.items()}
        self._complete()

    @property
    def d_model(self) -> int:
        return self.values["W_E"].shape[1]

    def _turned(self, values: Arrays) -> set[str]:
        """The matrices that act on columns: those of torch's layers, but Conv1D of GPT-2."""
        if self.kind not in (PLAIN, PUBLISHED):
            return set()
        turned = {k for k in values if k[:2] == "W_" and k not in ("W_E", "W_P")}
        conv = {k for k in turned if re.search(r"c_(?:attn|proj|fc)\.", self.names[k])}
        none = np.empty(0)
        first, W_E = values.get("W_QKV", values.get("W_in", none)), values.get("W_E", none)
        if conv and first.shape[:1] == W_E.shape[-1:] != first.shape[1:]:
            self.notes.append("Its layers are Conv1D, as those of GPT-2: taken as they are there.")
            return turned - conv
        return turned

    def _complete(self) -> None:
        """Add what a network has in another way. Raises InputError for what is missing; biases may
        be."""
        theirs = MODULES if self.kind in (PLAIN, PUBLISHED) else PATHS if self.kind == LENS else {}
        attention = ["W_Q", "W_K", "W_V", "W_O"] * self.attends
        if theirs is MODULES and not {*self.values} & {*attention[:3]}:
            attention = ["W_O", "W_QKV"] * self.attends
        need = ["W_E", *attention, "W_in", "W_out", "W_U"]
        for x in {*need} & {*self.values}:
            if self.values[x].ndim != 2:
                raise InputError(f"{self.names[x]} is {self.values[x].shape}, must have two axes")
        lacking = [x for x in need if x not in self.values]
        if lacking == ["W_U"] and self.attends:
            self.values["W_U"] = self.values["W_E"].T
            self.notes.append("It has no unembedding: the embedding is taken for it, tied.")
        elif lacking in (["W_out"], ["W_U"]) and not self.attends:
            self._directly()
        elif lacking:
            raise InputError(f"missing: {', '.join(theirs.get(x, x) for x in lacking)}; {WHERE}")

    def _directly(self) -> None:
        """An MLP whose last layer gives the logits: it is W_out, and W_U copies. So the width has
        to be n at least; columns of zeros are added to a narrower embedding."""
        values, d = self.values, self.d_model
        last, W_in = values.pop("W_out" if "W_out" in values else "W_U"), values["W_in"]
        n, bias = last.shape[1], values.pop("b_out", values.pop("b_U", np.zeros(1)))
        more = max(n - d, 0)
        halves = [np.pad(x, ((0, more), (0, 0))) for x in (W_in[:d], W_in[d:])]
        values["W_E"] = np.pad(values["W_E"], ((0, 0), (0, more)))
        values |= {"W_in": np.concatenate(halves), "W_U": np.eye(d + more, n)}
        values["W_out"] = np.pad(last, ((0, 0), (0, d + more - n)))
        values["b_out"] = np.pad(bias * np.ones(n), (0, d + more - n))
        added = f"; {more} columns of zeros were added" * bool(more)
        self.notes.append(f"Its last layer gives the logits{added}.")

    def weights(self, n: int | None, n_heads: int) -> Arrays:
        """The weights by our names, float32. Raises InputError for shapes that do not fit."""
        values, d = self.values, self.d_model
        outputs, tokens = values["W_U"].shape[1], len(values["W_E"])
        if self.attends and outputs == tokens and n in (None, tokens - 1):
            values |= {k: values[k][..., :-1] for k in ("W_U", "b_U") if k in values}
            self.notes.append("It has a logit of =, which was dropped.")
        modulus: int = values["W_U"].shape[1] if n is None else n
        validated(Headline, {"n": modulus, "seed": 0}, "")
        if d % n_heads:
            raise InputError(f"d_model = {d}: must be divisible by n_heads = {n_heads}")
        kind = TABLE["transformer" if self.attends else "mlp"]
        shapes = kind.sizes(modulus, d, n_heads, values["W_out"].shape[0])
        must = {k: flat(k, np.empty(size)).shape for k, size in shapes.items()}
        must |= {"W_QKV": (d, 3 * d), "b_QKV": (3 * d,)}
        wrong = []
        for k in [k for k in values if k in must and values[k].shape != must[k]]:
            is_, be = (x[::-1] if k in self.turned else x for x in (values[k].shape, must[k]))
            wrong.append(f"{self.names.get(k, k)} is {is_}, must be {be}")
        if wrong:
            raise InputError(f"{'; '.join(wrong)} (n = {modulus}, d_model = {d}, {n_heads} heads)")
        found = {k: x for k, x in values.items() if k in shapes}
        for kind in "Wb":
            if f"{kind}_QKV" in values:
                parts = np.split(values[f"{kind}_QKV"], 3, axis=-1)
                found |= {f"{kind}_{x}": y for x, y in zip("QKV", parts, strict=True)}
        found = {k: cut(k, found[k], size) if k in found else np.zeros(size)
                 for k, size in shapes.items()}  # fmt: skip
        if "W_P" in values:
            found["W_E"] = placed(found["W_E"], values["W_P"], modulus)
        if self.attends and all(centred(found[x]) for x in ("W_Q", "W_K", "W_V", "W_in")):
            raise InputError("its weights are as TransformerLens folds LayerNorm in: it has none")
        return {k: np.ascontiguousarray(x, np.float32) for k, x in found.items()}


def flat(role: str, weight: np.ndarray) -> np.ndarray:
    """The heads of a weight side by side, where it has them apart."""
    if weight.ndim == 3 and role in ("W_Q", "W_K", "W_V"):
        return np.concatenate([*weight], axis=1)
    if weight.ndim == 3 and role == "W_O":
        return weight.reshape(-1, weight.shape[-1])
    return weight.ravel() if weight.ndim == 2 and role in ("b_Q", "b_K", "b_V") else weight


def cut(role: str, x: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """The same with its heads apart."""
    if role in ("W_Q", "W_K", "W_V"):
        return np.stack(np.split(x, size[0], axis=1))
    return x.reshape(size)


def roles(named: Arrays, rename: Mapping[str, str]) -> dict[str, str]:
    """The name of the tensor that is each weight. Raises InputError for one that is none, and for
    two of one weight."""
    for name, role in rename.items():
        if name not in named:
            raise InputError(f"rename: {name}: no such tensor; there are {', '.join(named)}")
        if role not in PATHS and role not in MODULES:
            raise InputError(f"rename: {name} = {role!r}: must be one of {', '.join(PATHS)}")
    found: dict[str, str] = {}
    for name in named:
        if name not in rename and BUFFER.search(name):
            continue
        role = rename.get(name) or (None if SECOND.search(name) else role_of(name))
        if role is None:
            raise InputError(unknown(name))
        if role in found:
            both = f"{found[role]} and {name} may both be {role}"
            raise InputError(f"{both}: one layer, and one of each, is taken; {WHERE}")
        found[role] = name
    return found


def unknown(name: str) -> str:
    """Why a tensor is not one of this network."""
    if NORM.search(name):
        return f"{name}: LayerNorm, which this network has not"
    if SECOND.search(name):
        return f"{name}: a second layer; this network has one layer"
    how = "rename says which weight it is, as {'mine': 'W_E'}"
    return f"{name}: not a weight of this network, or of an unusual name; {how}; {WHERE}"


def placed(W_E: np.ndarray, W_P: np.ndarray, n: int) -> np.ndarray:
    """The embedding with that of the positions added. Raises InputError where a and b, which are
    read alike here, have different ones."""
    at = W_P.reshape(-1, W_E.shape[1])[:3]
    if np.abs(at[0] - at[1]).max() > 1e-6 * np.abs(W_E).max():
        raise InputError("its positions of a and b differ: this network has no positions")
    return W_E + at[np.where(np.arange(len(W_E)) < n, 0, len(at) - 1)]


def centred(x: np.ndarray) -> bool:
    """Whether what a matrix reads has mean 0 over the residual stream, and is not all 0."""
    return bool(np.abs(x.mean(axis=-2)).max() < 1e-5 * np.abs(x).max())
