"""List what weights are called elsewhere, and their axes there, and read a state dict by that
table.

Only names are looked at: a network that computes something else with weights of these shapes, such
as one without residual stream, has to be told apart by its answers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from strata.architecture import TABLE
from strata.inputs import InputError
from strata.run import Headline, validate

Arrays = dict[str, np.ndarray]
# How the sentences end that refuse a network: with what to type for one of any other shape.
ANY_SHAPE = (
    "for any network: strata.analyse(logits=net), net a function of a and b, "
    "or --logits L.npy --embedding E.npy"
)
OURS, LENS, PUBLISHED, PLAIN = (
    "strata",
    "TransformerLens",
    "the published format",
    "plain torch modules",
)


class Name(NamedTuple):
    """A ``Name`` says what a weight is called in TransformerLens and in torch's own layers, in
    which part of the network it is, and what else a module of it may be called there, without
    underscores."""

    path: str
    plain: str
    part: str
    words: str


WEIGHTS = {
    "W_E": Name("embed.W_E", "embed.weight", "", "embed embedding embeddings emb tokembed "
                "tokenembed tokenembedding tokemb embedtokens embedin wte tok token tokens"),
    "W_P": Name("pos_embed.W_pos", "pos_embed.weight", "", "posembed posembedding posemb "
                "positionembedding positionalembedding wpe embedpositions pos position positions"),
    "W_U": Name("unembed.W_U", "unembed.weight", "", "unembed unembedding head lmhead out output "
                "classifier decoder readout fc linear embedout"),
    "W_QKV": Name("", "attn.in_proj_weight", "attention", "inproj qkv wqkv qkvproj cattn"),
    "W_Q": Name("blocks.0.attn.W_Q", "attn.q_proj.weight", "attention", "q wq qproj query to-q"),
    "W_K": Name("blocks.0.attn.W_K", "attn.k_proj.weight", "attention", "k wk kproj key to-k"),
    "W_V": Name("blocks.0.attn.W_V", "attn.v_proj.weight", "attention", "v wv vproj value to-v"),
    "W_O": Name("blocks.0.attn.W_O", "attn.out_proj.weight", "attention",
                "outproj o wo oproj proj cproj to-out out output dense"),
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
TURNED = ("W_in", "W_out", "W_U")  # these act on rows here, and on columns in torch
BIASED = ("Q", "K", "V", "O", "in", "out", "U")
# Our names of the weights map to their paths in a model here or of TransformerLens.
PATHS = {"W_E": WEIGHTS["W_E"].path} | {
    f"{kind}_{x}": WEIGHTS[f"W_{x}"].path.replace("W_", f"{kind}_") for x in BIASED for kind in "Wb"
}
MODULES = {k: x.plain for k, x in WEIGHTS.items()} | {
    f"b_{k[2:]}": x.plain.replace("weight", "bias") for k, x in WEIGHTS.items()
}
BUFFER = re.compile(r"mask|IGNORE|(?:^|\.)attn\.bias$", re.IGNORECASE)
NORM = re.compile(r"(?:^|[._])(?:layer_?)?(?:ln|norm)(?:_?\w+)?\.|norm", re.IGNORECASE)
SECOND = re.compile(r"(?:blocks?|layers?|h)\.[1-9]\d*\.(?!weight|bias)")
# A cfg of TransformerLens that says anything else is that of another network.
CFG = {"n_layers": 1, "act_fn": "relu", "normalization_type": None, "attn_only": False}


def role_of(name: str) -> str | None:
    """Return the weight that a tensor of that name is, whatever stands before it; None for no
    weight.

    >>> role_of("a.self_attn.q_proj.weight"), role_of("fc1.bias"), role_of("out"), role_of("b.W_Q")
    ('W_Q', 'b_in', 'W_U', 'W_Q')
    """
    *_, part, module, kind = ("", "", *re.sub(r"[._](weight|bias)$", r".\1", name).split("."))
    if kind in PATHS or kind == "W_pos":
        return kind.replace("pos", "P")
    if kind not in ("weight", "bias"):
        part, module = module, kind
    # The k of to_k is no part of a word, unlike that of tok_emb.
    part, module = (x.lower().replace("to_", "to-").replace("_", "") for x in (part, module))
    for role, entry in WEIGHTS.items():
        if module in entry.words.split() and PARTS.get(part, entry.part) == entry.part:
            return role.replace("W_", "b_") if kind == "bias" else role
    return None


class StateDict:
    """A ``StateDict`` holds the tensors of a state dict by our names. ``values`` act on rows from
    the right, with heads side by side; ``names`` are those in the dict, and ``notes`` say what was
    done. Raises InputError for other tensors."""

    def __init__(
        self, state: Arrays, recorded: Mapping[str, Any], rename: Mapping[str, str] | None = None
    ):
        cfg = recorded.get("cfg")
        for key, value in CFG.items():
            if isinstance(cfg, Mapping) and cfg.get(key, value) != value:
                wrong = f"its cfg has {key} = {cfg[key]!r:.60}, must be {value!r}"
                raise InputError(f"{wrong}; {ANY_SHAPE}")
        self.notes: list[str] = []
        self.names = roles(state, rename or {})
        tensors = {role: state[name] for role, name in self.names.items()}
        if infinite := [self.names[k] for k, x in tensors.items() if not np.isfinite(x).all()]:
            raise InputError(f"not finite: {', '.join(infinite)}")
        if empty := [f"{self.names[k]} {x.shape}" for k, x in tensors.items() if not x.size]:
            raise InputError(
                f"without a number: {', '.join(empty)}: every axis must have one or more"
            )
        self.attends = bool({*tensors} & ATTENTION)
        queries = tensors.get("W_Q", np.empty(0))
        self.n_heads = len(queries) if queries.ndim == 3 else None
        self.kind = OURS if {*self.names.values()} <= {*PATHS} else LENS
        by_path = any(role_of(x) == x.rpartition(".")[2] for x in self.names.values())
        if not by_path and not self.n_heads:
            self.kind = PUBLISHED if "P" in (recorded.get("config") or ()) else PLAIN
        self.turned = self._turned(tensors)
        turned = {k: x.T if k in self.turned else x for k, x in tensors.items()}
        self.values = {k: merge_heads(k, x) for k, x in turned.items()}
        self._complete()

    @property
    def d_model(self) -> int:
        return self.values["W_E"].shape[1]

    def _turned(self, values: Arrays) -> set[str]:
        """Return the matrices that act on columns: those of torch's layers, except Conv1D of
        GPT-2."""
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
        """Add what a network has in another form. Raises InputError for what is missing; biases may
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
            names = ", ".join(theirs.get(x, x) for x in lacking)
            read = ", ".join(f"{name} (as {role})" for role, name in self.names.items())
            mine = f"rename={{'NAME': '{lacking[0]}'}} (--rename NAME={lacking[0]})"
            raise InputError(f"missing: {names}; read: {read}; if one has another name, {mine}; "
                             f"{ANY_SHAPE}")  # fmt: skip

    def _directly(self) -> None:
        """Complete an MLP whose last layer gives the logits: this layer is W_out, and W_U copies.
        So the width has to be n at least; columns of zeros are added to a narrower embedding."""
        values, d = self.values, self.d_model
        last, W_in = values.pop("W_out" if "W_out" in values else "W_U"), values["W_in"]
        n, bias = last.shape[1], values.pop("b_out", values.pop("b_U", np.zeros(1)))
        extra = max(n - d, 0)
        halves = [np.pad(x, ((0, extra), (0, 0))) for x in (W_in[:d], W_in[d:])]
        values["W_E"] = np.pad(values["W_E"], ((0, 0), (0, extra)))
        values |= {"W_in": np.concatenate(halves), "W_U": np.eye(d + extra, n)}
        values["W_out"] = np.pad(last, ((0, 0), (0, d + extra - n)))
        values["b_out"] = np.pad(bias * np.ones(n), (0, d + extra - n))
        added = f"; {extra} columns of zeros were added" * bool(extra)
        self.notes.append(f"Its last layer gives the logits{added}.")

    def weights(self, n: int | None, n_heads: int) -> Arrays:
        """Return the weights by our names, in float32. Raises InputError for shapes that do not
        fit."""
        values, d = self.values, self.d_model
        outputs, tokens = values["W_U"].shape[1], len(values["W_E"])
        if self.attends and outputs == tokens and n in (None, tokens - 1):
            values |= {k: values[k][..., :-1] for k in ("W_U", "b_U") if k in values}
            self.notes.append("It has a logit of =, which was dropped.")
        modulus: int = values["W_U"].shape[1] if n is None else n
        validate(Headline, {"n": modulus, "seed": 0}, "")
        if d != len(values["W_U"]) == tokens:
            E, shape = self.names["W_E"], values["W_E"].shape
            raise InputError(f"{E} is {shape}, must be {shape[::-1]}: turn it: state['{E}'].T")
        if d % n_heads:
            raise InputError(f"d_model = {d}: must be divisible by n_heads = {n_heads}")
        kind = TABLE["transformer" if self.attends else "mlp"]
        shapes = kind.sizes(modulus, d, n_heads, values["W_out"].shape[0])
        expected = {k: merge_heads(k, np.empty(size)).shape for k, size in shapes.items()}
        expected |= {"W_QKV": (d, 3 * d), "b_QKV": (3 * d,)}
        faults = []
        for k in [k for k in values if k in expected and values[k].shape != expected[k]]:
            shape, needed = values[k].shape, expected[k]
            if k in self.turned:
                shape, needed = shape[::-1], needed[::-1]
            faults.append(f"{self.names.get(k, k)} is {shape}, must be {needed}")
        if faults:
            sizes = f"(n = {modulus}, d_model = {d}, {n_heads} heads)"
            hint = "give n=N and n_heads=H (--n N --heads H)"
            if n not in (None, outputs):
                hint = f"there are logits of {outputs} answers: give n={outputs} (--n {outputs})"
            elif tokens > modulus + self.attends:
                hint = f"cut the embedding to the {modulus} tokens that are numbers"
                hint += " and =, as the last row" * self.attends
            raise InputError(f"{'; '.join(faults)} {sizes}; {hint}, or {ANY_SHAPE}")
        weights = {k: x for k, x in values.items() if k in shapes}
        for kind in "Wb":
            if f"{kind}_QKV" in values:
                parts = np.split(values[f"{kind}_QKV"], 3, axis=-1)
                weights |= {f"{kind}_{x}": y for x, y in zip("QKV", parts, strict=True)}
        weights = {k: split_heads(k, weights[k], size) if k in weights else np.zeros(size)
                 for k, size in shapes.items()}  # fmt: skip
        if "W_P" in values:
            weights["W_E"] = add_positions(weights["W_E"], values["W_P"], modulus)
        if self.attends and all(is_centred(weights[x]) for x in ("W_Q", "W_K", "W_V", "W_in")):
            folded = "its weights are as TransformerLens folds LayerNorm in, must be without"
            raise InputError(f"{folded}; {ANY_SHAPE}")
        return {k: np.ascontiguousarray(x, np.float32) for k, x in weights.items()}


def merge_heads(role: str, weight: np.ndarray) -> np.ndarray:
    """Put the heads of a weight side by side, where it has them apart."""
    if weight.ndim == 3 and role in ("W_Q", "W_K", "W_V"):
        return np.concatenate([*weight], axis=1)
    if weight.ndim == 3 and role == "W_O":
        return weight.reshape(-1, weight.shape[-1])
    return weight.ravel() if weight.ndim == 2 and role in ("b_Q", "b_K", "b_V") else weight


def split_heads(role: str, x: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """Cut a weight into its heads again."""
    if role in ("W_Q", "W_K", "W_V"):
        return np.stack(np.split(x, size[0], axis=1))
    return x.reshape(size)


def roles(state: Arrays, rename: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the tensor that is each weight. Raises InputError for a tensor that is no
    weight, and for two of one weight."""
    for name, role in rename.items():
        if name not in state:
            raise InputError(f"rename: {name}: no such tensor; there are {', '.join(state)}")
        if role not in PATHS and role not in MODULES:
            allowed = f"{', '.join(PATHS)}, W_P, W_QKV, b_QKV"
            raise InputError(f"rename: {name} = {role!r}: must be one of {allowed}")
    by_role: dict[str, list[str]] = {}
    unknown: list[str] = []
    for name in state:
        if name not in rename and BUFFER.search(name):
            continue
        role = rename.get(name) or (None if SECOND.search(name) else role_of(name))
        if role is None:
            unknown.append(name)
        else:
            by_role.setdefault(role, []).append(name)
    layers = [(name, *x.shape) for name, x in state.items() if x.ndim == 2]
    chained = len(layers) > 1 and all(x[1] == y[2] for x, y in pairwise(layers))
    if chained and layers[0][2] == 2 * (n := layers[-1][1]):
        hint = f"give embedding=state['{layers[0][0]}'].T[:{n}] with logits"
        raise InputError(f"{layers[0][0]} reads one-hot a and b: {hint}; {ANY_SHAPE}")
    if unknown:
        raise InputError(refusal(unknown, by_role, state))
    if clashes := [f"{' and '.join(x)} may all be {k}" for k, x in by_role.items() if len(x) > 1]:
        mine = max(by_role.get("W_U", [""]), key=lambda x: len({*state[x].shape}) == 1)
        hint = f"rename={{'{mine}': 'W_O'}} (--rename {mine}=W_O) if heads write by it; "
        hint *= len(by_role.get("W_U", [])) > 1 and "W_O" not in by_role
        must = "must be one of each, in one layer"
        raise InputError(f"{'; '.join(clashes)}: {must}; {hint}{ANY_SHAPE}")
    return {role: name for role, (name,) in by_role.items()}


def refusal(names: Sequence[str], roles: Iterable[str], state: Arrays) -> str:
    """Say why tensors are not those of this network, all of them by name, and what to do. roles:
    the weights that other tensors are."""
    norms = [x for x in names if NORM.search(x)]
    second = [x for x in names if SECOND.search(x) and x not in norms]
    others = [x for x in names if x not in norms and x not in second]
    embeddings = [x for x in others if "emb" in x.lower()]
    kinds = {"LayerNorm": norms, "a second layer": second, "of no name that is known": others}
    parts = [f"{', '.join(x)} ({kind})" for kind, x in kinds.items() if x]
    hint, used = "", {*roles}
    left = sorted({"W_E", "W_U", "W_in", "W_out"} - used)
    left = left or sorted(ATTENTION - used - {"W_QKV"}) * ("W_QKV" not in used)
    if left and others and not norms and not second and len(embeddings) < 2:
        mine, role = max(others, key=lambda x: x.endswith("weight")), left[0]
        if used & ATTENTION == {"W_O"} and len(state[mine]) == 3 * state[mine].shape[-1]:
            role = "W_QKV"
        hint = f"rename={{'{mine}': '{role}'}} (--rename {mine}={role}) says which weight one is; "
    return f"not weights of this network: {'; '.join(parts)}; {hint}{ANY_SHAPE}"


def add_positions(W_E: np.ndarray, W_P: np.ndarray, n: int) -> np.ndarray:
    """Add the embedding of the positions to that of the tokens. Raises InputError where a and b,
    which are read alike here, have different ones."""
    positions = W_P.reshape(-1, W_E.shape[1])[:3]
    if np.abs(positions[0] - positions[1]).max() > 1e-6 * np.abs(W_E).max():
        raise InputError(f"its positions of a and b differ, must be equal; {ANY_SHAPE}")
    return W_E + positions[np.where(np.arange(len(W_E)) < n, 0, len(positions) - 1)]


def is_centred(x: np.ndarray) -> bool:
    """Whether what a matrix reads has mean 0 over the residual stream, and is not all 0."""
    return bool(np.abs(x.mean(axis=-2)).max() < 1e-5 * np.abs(x).max())
