"""Models from elsewhere: whatever the names of their weights, the network is theirs."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from plain import Net
from planted import exact_transformer
from safetensors.torch import save_file
from small import TRAIN, weights_of
from torch import Tensor, nn

import strata
from strata import store
from strata.api import foreign, lens
from strata.api.model import model_of
from strata.api.names import PATHS
from strata.inputs import InputError
from strata.run import Run

RUN = Run(12, 1)
State = dict[str, Tensor]


class SideBySide(nn.Module):
    """The MLP-only model as plain torch modules."""

    def __init__(self, n: int, d: int, d_mlp: int):
        super().__init__()
        self.embedding, self.fc1 = nn.Embedding(n, d), nn.Linear(2 * d, d_mlp)
        self.fc2, self.head = nn.Linear(d_mlp, d), nn.Linear(d, n)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = torch.cat([self.embedding(a), self.embedding(b)], dim=1)
        return self.head(self.fc2(torch.relu(self.fc1(x))))


def rename(state: State, **names: str) -> State:
    """Replace parts of the names of a state."""
    state_by_name = {}
    for name, x in state.items():
        for old, new in names.items():
            name = name.replace(old, new)
        state_by_name[name] = x
    return state_by_name


def split_projections(state: State) -> State:
    """Put queries, keys and values in layers of their own, inside a block of a wrapped model."""
    parts_by_name = {k: x for k, x in state.items() if "in_proj" not in k}
    for kind in ("weight", "bias"):
        if f"attn.in_proj_{kind}" in state:
            parts = zip("qkv", state[f"attn.in_proj_{kind}"].chunk(3), strict=True)
            parts_by_name |= {f"attn.{x}_proj.{kind}": part for x, part in parts}
    inner = {k: x for k, x in parts_by_name.items() if k.startswith(("attn", "mlp"))}
    outer = {k: x for k, x in parts_by_name.items() if k not in inner}
    inner = {f"model.blocks.0.{k}": x for k, x in inner.items()}
    return inner | {f"model.{k}": x for k, x in outer.items()}


def gpt2(state: State) -> State:
    """Return the layers as Conv1D, which GPT-2 has, under the names of GPT-2."""
    names = {"unembed": "lm_head", "embed": "wte", "attn.in_proj_": "h.0.attn.c_attn."}
    names |= {
        "attn.out_proj": "h.0.attn.c_proj",
        "mlp.0": "h.0.mlp.c_fc",
        "mlp.2": "h.0.mlp.c_proj",
    }
    transposed = {
        k: x.mT if x.ndim == 2 and ".c_" in k else x for k, x in rename(state, **names).items()
    }
    return transposed | {"h.0.attn.bias": torch.ones(1, 1, 3, 3)}


LAYOUTS: dict[str, Callable[[State], State]] = {
    "torch": dict,
    "inside": lambda x: {
        f"some.net.{k}": v for k, v in rename(x, unembed="head", embed="embed_tokens").items()
    },
    "Conv1D": gpt2,
    "others": lambda x: rename(x, unembed="lm_head", attn="self_attn", mlp="ffn", embed="tok"),
    "cut": split_projections,
    "a mask": lambda x: x | {"causal_mask": torch.ones(3, 3, dtype=torch.bool)},
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_plain_modules_compute_here_what_they_compute_there(layout, bias):
    n, heads = 15, 3
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        net = Net(n, 12, heads, 20, bias)
        for x in net.attn.parameters():  # torch's biases of attention begin as zeros
            nn.init.normal_(x, std=0.3)
        model = strata.from_weights(LAYOUTS[layout](net.state_dict()), n, n_heads=heads)
        a, b = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T
        torch.testing.assert_close(model(a, b), net(a, b), atol=1e-5, rtol=0)
    assert model.source and model.source.format == "plain torch modules"


def test_the_mlp_only_model_is_known_by_its_width():
    with torch.no_grad():
        net, a = SideBySide(9, 4, 6), torch.arange(9)
        model = strata.from_weights(net)
        torch.testing.assert_close(model(a, a.flip(0)), net(a, a.flip(0)))
    assert isinstance(model, strata.MLP) and model.n == 9


@pytest.mark.parametrize(("d", "last"), [(4, "fc2"), (12, "head")])
def test_the_last_layer_of_an_mlp_may_give_the_logits(d, last):
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        state = SideBySide(9, d, 6).state_dict()
        state = {k: x for k, x in state.items() if k.startswith(("emb", "fc1"))}
        final, a = nn.Linear(6, 9), torch.arange(9)
        state |= {f"{last}.{k}": x for k, x in final.state_dict().items()}
        model = strata.from_weights(state)
        x = torch.cat([state["embedding.weight"][a], state["embedding.weight"][a.flip(0)]], dim=1)
        hidden = torch.relu(x @ state["fc1.weight"].T + state["fc1.bias"])
        torch.testing.assert_close(model(a, a.flip(0)), final(hidden))
    assert model.source and "gives the logits" in model.source.notes[0]


def test_a_logit_of_equals_is_dropped_and_a_tied_unembedding_is_the_embedding():
    with torch.no_grad():
        net = Net(12, 8, 2, 6, True)
        net.unembed = nn.Linear(8, 13)
        wide = strata.from_weights(net, n_heads=2)
        a = torch.arange(12)
        torch.testing.assert_close(wide(a, 5), net(a, torch.full_like(a, 5))[:, :12])
        net.unembed = nn.Linear(8, 13, bias=False)
        net.unembed.weight = net.embed.weight
        state = {k: x for k, x in net.state_dict().items() if k != "unembed.weight"}
        tied = strata.from_weights(state, n_heads=2)
        torch.testing.assert_close(tied(a, 5), net(a, torch.full_like(a, 5))[:, :12])
    notes = [x.source.notes for x in (wide, tied) if x.source]
    assert ["a logit of =" in " ".join(x) for x in notes] == [True, True] and "tied" in notes[1][0]


class Curved(SideBySide):
    """It has weights of the same names, and another network."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = torch.cat([self.embedding(a), self.embedding(b)], dim=1)
        return self.head(self.fc2(torch.tanh(self.fc1(x))))


class OfTokens(SideBySide):
    """It is the same network, and reads a row of tokens for each pair."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(*tokens.T)


def test_a_module_is_measured_by_its_own_logits_where_its_weights_were_read_as_another_network():
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        nets = [kind(9, 4, 6) for kind in (SideBySide, OfTokens, Curved)]
        nets.insert(0, SideBySide(9, 4, 6).bfloat16())
        analyses = [strata.analyse(x) for x in nets]
        a, b = torch.cartesian_prod(torch.arange(9), torch.arange(9)).T
        right = nets[-1](a, b).argmax(dim=1).numpy().reshape(9, 9)
        np.testing.assert_array_equal(analyses[-1].table, right)
    for analysis in analyses[:-1]:
        assert isinstance(analysis.model, strata.MLP) and analysis.model.source
        assert "the same logits" in analysis.model.source.notes[-1]
    assert not isinstance(analyses[-1].model, strata.MLP) and analyses[-1].model.source
    assert "own logits are measured" in analyses[-1].model.source.notes[-1]
    source = strata.from_weights(nets[1].state_dict()).source
    assert source and "cannot show" in source.notes[-1]


class Pair(SideBySide):
    """It may be called with tokens or, as it is here, with a and b, and returns a tuple."""

    def forward(self, a: Tensor, b: Any = None) -> Any:
        return Curved.forward(cast(Curved, self), a, b), "cache"


class Normed(Net):
    """Its weights cannot be read; it reads tokens, and has logits at each position or at one."""

    def __init__(self, position: Any):
        super().__init__(9, 8, 2, 6, True)
        self.norm, self.position = nn.LayerNorm(8), position

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        x = self.norm(x + self.attn(x, x, x)[0])
        return self.unembed(x + self.mlp(x))[:, self.position]


class Uncallable(SideBySide):
    """Nobody knows what it is called with."""

    def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return super().forward(a, b) + c


class Other(SideBySide):
    """It returns something else, which is made of its logits."""

    def __init__(self, make: Callable[[Tensor], Any]):
        super().__init__(9, 4, 6)
        self.make = make

    def forward(self, a: Tensor, b: Tensor) -> Any:
        return self.make(super().forward(a, b))


@pytest.mark.parametrize(
    ("net", "call"),
    [
        (lambda: Pair(9, 4, 6), lambda net, a, b: net(a, b)[0]),
        (lambda: Normed(-1), lambda net, a, b: net(torch.stack([a, b, 0 * a + 9], dim=1))),
        (lambda: Normed(slice(3)), lambda net, a, b: net(torch.stack([a, b, 0 * a + 9], 1))[:, -1]),
    ],
)
def test_a_module_is_called_as_its_forward_can_be(net, call):
    torch.manual_seed(0)
    with torch.no_grad():
        module, (a, b) = net(), torch.cartesian_prod(torch.arange(9), torch.arange(9)).T
        right = call(module, a, b).argmax(dim=1).numpy().reshape(9, 9)
        for analysis in (strata.analyse(module), strata.analyse(logits=module)):
            np.testing.assert_array_equal(analysis.table, right)
    note = str(strata.analyse(module))
    assert re.search("not weights .+LayerNorm.+own logits of 9 answers|other logits than", note)


def test_a_module_that_cannot_be_called_is_refused():
    with pytest.raises(InputError, match=r"Uncallable: .+'c'.+; give logits=FUNCTION .+state_dict"):
        strata.analyse(Uncallable(9, 4, 6))
    wide = Normed(-1)
    wide.unembed = nn.Linear(8, 10)
    with pytest.raises(InputError, match="10 logits, n may be one less: give n=N"):
        strata.analyse(wide)
    assert strata.analyse(wide, n=9).n == 9
    for make, reason in (
        (lambda x: {"logits": x}, r"it returns a dict, must be \(pairs, n\)"),
        (lambda x: (x[None, None], x), r"it returns \(1, 1, 3, 9\)"),
        (lambda x: x + torch.randn(x.shape), "a pair alone has other logits"),
        (lambda x: x[:, :8], "it has 8 logits, n = 9"),
    ):
        with pytest.raises(InputError, match=reason):
            strata.analyse(Other(make), n=9)


def test_a_module_says_how_many_heads_it_has_and_arrays_are_weights():
    net = Net(12, 8, 2, 6, True)
    arrays = {k: x.numpy() for k, x in net.state_dict().items()}
    for model in (strata.from_weights(net), strata.from_weights(arrays, n_heads=2)):
        assert model.n_heads == 2
        np.testing.assert_array_equal(model.weights()["W_E"], arrays["embed.weight"])


def test_the_number_of_heads_is_the_one_with_which_a_forward_gives_the_logits(monkeypatch):
    monkeypatch.setattr(foreign, "HEADS", ())
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = strata.analyse(Net(12, 8, 4, 6, True)).model
    assert isinstance(model, strata.Transformer) and model.n_heads == 4
    assert model.source and "the same logits" in model.source.notes[-1]


def test_names_of_ones_own_are_taken_by_rename():
    names = {"embed.weight": "mine", "mlp.0.bias": "yours"}
    state = {names.get(k, k): x for k, x in plain().items()}
    model = strata.from_weights(state, n_heads=2, rename={"mine": "W_E", "yours": "b_in"})
    np.testing.assert_array_equal(model.weights()["W_E"], state["mine"])


def test_the_number_of_heads_is_the_one_with_which_the_answers_are_an_operation():
    # The first of two heads is that of the exact model, the second looks at = and writes nothing.
    exact = exact_transformer(6)
    d = exact["W_E"].shape[1]
    wide = {k: np.pad(exact[k], ((0, 0), (0, d))) for k in ("W_E", "W_out")}
    wide |= {k: np.pad(exact[k], ((0, d), (0, 0))) for k in ("W_in", "W_U")}
    wide["W_E"][6, d] = 1  # =
    score = np.zeros((2 * d, 2 * d))
    score[d, d] = 9
    value = np.diag(np.arange(2 * d) < d).astype(float)
    state = {"embed.weight": wide["W_E"], "unembed.weight": wide["W_U"].T,
             "mlp.0.weight": wide["W_in"].T, "mlp.0.bias": exact["b_in"],
             "mlp.2.weight": wide["W_out"].T,
             "attn.in_proj_weight": np.concatenate([score, score, 3 * value]),
             "attn.out_proj.weight": value}  # fmt: skip
    model = strata.from_weights({k: torch.tensor(x, dtype=torch.float32) for k, x in state.items()})
    assert isinstance(model, strata.Transformer) and len(model.W_Q) == 2 and model.accuracy() == 1
    assert model.source and "2 heads were taken" in model.source.notes[0]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("'gone.pt'", "gone.pt: No such file or directory"),
        ("{}, n='21'", "n = '21': must be a whole number, 2 or more"),
    ],
)
def test_what_is_missing_or_no_number_is_said_before_torch_is_loaded(words, line):
    code = f"import sys, strata\ntry: strata.from_weights({words})\n"
    code += "except strata.InputError as error: print(error, 'torch' in sys.modules)"
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert process.stdout == f"{line} False\n"


@pytest.fixture
def weights_file(tmp_path) -> Path:
    """Write a weights file of ours."""
    about = {"run": str(RUN), "train": TRAIN.model_dump()}
    store.write_bytes(tmp_path / "x.safetensors", store.tensors_bytes(weights_of(RUN), about))
    return tmp_path / "x.safetensors"


def test_ours_and_those_of_transformerlens_are_known_by_their_names(weights_file):
    expected = model_of(RUN, weights_of(RUN))
    bare = {name: torch.from_numpy(x) for name, x in expected.weights().items()}
    paths = expected.state_dict() | {"pos_embed.W_pos": torch.zeros(3, 12)}
    paths |= {"blocks.0.attn.mask": torch.ones(3, 3), "blocks.0.attn.IGNORE": torch.tensor(-1.0)}
    by_format = {
        "strata": [strata.from_weights(weights_file), strata.from_weights(bare)],
        "TransformerLens": [strata.from_weights(paths), strata.from_weights(expected)],
    }
    for kind, models in by_format.items():
        for model in models:
            assert model.source and model.source.format == kind
            for name, x in expected.weights().items():
                np.testing.assert_array_equal(model.weights()[name], x)
    assert strata.from_weights(weights_file).run == RUN


def test_weights_that_transformerlens_processed_answer_the_same(weights_file):
    model = strata.from_weights(weights_file)
    state = dict(model.state_dict())
    state["unembed.W_U"] = state["unembed.W_U"] - state["unembed.W_U"].mean(dim=1, keepdim=True)
    state["unembed.b_U"] = state["unembed.b_U"] - state["unembed.b_U"].mean()
    position = torch.randn(1, 12)
    state["pos_embed.W_pos"] = torch.cat([position, position, 2 * position])
    state["embed.W_E"] = state["embed.W_E"] - torch.cat([position.expand(12, -1), 2 * position])
    processed = strata.from_weights(state)
    logits, before = processed([1, 2, 3], 5), model([1, 2, 3], 5)
    before = before - before.mean(dim=1, keepdim=True)
    torch.testing.assert_close(logits, before, atol=1e-5, rtol=0)


def test_a_file_without_metadata_one_of_others_and_one_of_export_are_read(tmp_path, weights_file):
    model, path = strata.from_weights(weights_file), tmp_path / "y.safetensors"
    for metadata in (None, {"format": "pt"}):
        save_file(dict(model.state_dict()), path, metadata)
        assert strata.from_weights(path).n == 12
    exported = {"run": "n12-s1", "cfg": lens.config(model)}
    store.write_bytes(path, store.tensors_bytes(lens.tensors(model), exported))
    assert strata.from_weights(path).n == 12
    save_file(dict(model.state_dict()), path, {"strata": json.dumps([1])})
    with pytest.raises(InputError, match="not a whole file of safetensors"):
        strata.from_weights(path)


def plain() -> State:
    return Net(12, 8, 2, 6, True).state_dict()


def split_plain() -> State:
    return split_projections(plain())


def lensed() -> State:
    return dict(model_of(RUN, weights_of(RUN)).state_dict())


def centred() -> State:
    """Return a state with LayerNorm folded in."""
    state, read = lensed(), (PATHS[x] for x in ("W_Q", "W_K", "W_V", "W_in"))
    return state | {x: state[x] - state[x].mean(dim=-2, keepdim=True) for x in read}


def nested(*parts: Tensor) -> Tensor:
    """Join tensors of several lengths into one."""
    return torch.nested.nested_tensor([*parts], layout=torch.jagged)


FOUR_BITS = torch.zeros(12, 12, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
LATER, GATE, W_U = "blocks.1.mlp.0.weight", "g\x1b[2Jate\n", PATHS["W_U"]
TWO, NAN = {"n_heads": 2}, torch.full((6,), math.nan)
# A state, tensors in the place of its own or beside them (None: without), options.
BAD: dict[str, tuple[Callable[[], Any], dict[str, Tensor | None], dict[str, Any]]] = {
    "n = 5000: Input should be less than or equal to 4096": (
        lambda: Net(5000, 1, 1, 1, False).state_dict(), {}, {"n_heads": 1}),
    "give n_heads": (plain, {}, {}),
    "rename: mine: no such tensor; there are embed": (plain, {}, {"rename": {"mine": "W_E"}}),
    "rename: embed.weight = 'E': must be one of W_E": (
        plain, {}, {"rename": {"embed.weight": "E"}}),
    r"unembed.weight is \(12, 8\), must be \(11, 8\).+give n=12 \(--n 12\)": (
        plain, {}, TWO | {"n": 11}),
    "cut the embedding to the 12 tokens that are numbers and =": (
        plain, {"embed.weight": torch.ones(15, 8)}, TWO | {"n": 12}),
    "d_model = 8: must be divisible by n_heads = 3": (plain, {}, {"n_heads": 3}),
    r"missing: mlp\.0\.weight, unembed\.weight; read: .+ \(as W_out\).+ for any network: strata": (
        plain, {"mlp.0.weight": None, "unembed.weight": None}, TWO),
    r"missing: embed\.W_E, blocks\.0\.attn\.W_O; read: .+ for any": (
        lensed, {"embed.W_E": None, "blocks.0.attn.W_O": None}, {}),
    rf"{LATER} \(a second layer\)": (plain, {LATER: torch.ones(6, 8)}, TWO),
    r"blocks\.1\.mlp\.b_in \(a second layer\)": (lensed, {"blocks.1.mlp.b_in": torch.ones(20)}, {}),
    r"ln1\.weight, ln1\.bias \(LayerNorm\); place .+ --logits L\.npy --embedding E\.npy": (
        plain, dict.fromkeys(("ln1.weight", "ln1.bias", "place"), torch.ones(8)), TWO),
    "as TransformerLens folds LayerNorm in": (centred, {}, {}),
    "cfg has n_layers = 2, must be 1": (
        lambda: {"state_dict": plain(), "cfg": {"n_layers": 2}}, {}, {}),
    r"not finite: mlp\.0\.bias": (plain, {"mlp.0.bias": NAN}, TWO),
    r"without a number: blocks\.0\.attn\.W_Q \(0, 12, 4\)": (
        lensed, {PATHS["W_Q"]: torch.ones(0, 12, 4)}, {}),
    "positions of a and b differ": (lensed, {"pos_embed.W_pos": 1e-4 * torch.eye(3, 12)}, {}),
    r"W_U is torch\.float32, torch\.strided: must be of floating point, and dense": (
        lensed, {W_U: torch.ones(12, 12, device="meta")}, {}),
    r"W_U is torch\.float4_e2m1fn_x2: cannot be read as float32": (lensed, {W_U: FOUR_BITS}, {}),
    r"W_U is torch\.float32, torch\.(strided|jagged): must be": (
        lensed, {W_U: nested(torch.ones(2), torch.ones(3))}, {}),
    r"g\?\[2Jate\? \(of no name": (plain, {GATE: torch.ones(8)}, TWO),
    r"known\); for any network": (plain, {"gate": torch.ones(8)}, TWO),
    r"0\.weight reads one-hot a and b: give embedding=state\['0\.weight'\]\.T\[:9\] with logits": (
        lambda: nn.Sequential(nn.Linear(18, 6), nn.ReLU(), nn.Linear(6, 9)).state_dict(), {}, {}),
    r"embed.weight is \(8, 13\), must be \(13, 8\): turn it: .+\.T": (
        plain, {"embed.weight": torch.ones(8, 13)}, TWO),
    r"mixer \(of no name .+ \(--rename mixer=W_QKV": (
        plain, {"attn.in_proj_weight": None, "mixer": torch.ones(24, 8)}, TWO),
    r"may all be W_U: .+ \(--rename out\.weight=W_O": (
        plain, {"attn.out_proj.weight": None, "out.weight": torch.ones(8, 8)}, TWO),
    r"rename=\{.gate.: .W_K.\} \(--rename gate=W_K\)": (
        split_plain, {"gate": torch.ones(8), "model.blocks.0.attn.k_proj.weight": None}, TWO),
}  # fmt: skip


@pytest.mark.parametrize("line", BAD)
def test_what_is_no_such_network_is_refused_in_one_line(line):
    state, changes, options = BAD[line]
    tensors = {k: x for k, x in (state() | changes).items() if x is not None}
    with pytest.raises(InputError, match=rf"\A.*{line}.*\Z"):
        strata.from_weights(tensors, **options)


def test_what_is_no_file_of_weights_is_refused_with_what_to_type(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    torch.save({}, tmp_path / "y.pt")
    with pytest.raises(InputError, match=r"x\.npy: an array.+logits='.+--logits "):
        strata.from_weights(tmp_path / "x.npy")
    with pytest.raises(InputError, match=r"n154: no such file; strata\.runs\(\)"):
        strata.from_weights("n154")
    with pytest.raises(InputError, match=r"is a folder.+ y\.pt"):
        strata.from_weights(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{", b"x" * 99])
def test_a_damaged_file_is_refused_by_its_name(content, tmp_path):
    path = tmp_path / "w.pt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"w\.pt: "):
        strata.from_weights(path)
