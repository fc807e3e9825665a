"""A model that was trained elsewhere stands where a run of ours does."""

import numpy as np
import pytest
import torch
from planted import exact_transformer

import strata
from strata import store
from strata.inputs import InputError
from strata.measure import stored
from strata.measure.metrics import Metrics
from strata.run import Run
from studies.stages import import_run

RUN = Run(6, 3, "mine")


def import_model(path, out) -> Metrics:
    import_run.main(str(RUN), str(path), "0", *out)
    return store.read_model(out[-1], Metrics)


def test_files_are_those_of_a_run_and_say_where_it_is_from(tmp_path, monkeypatch):
    out = [str(tmp_path / name) for name in ("train", "activations", "metrics")]
    monkeypatch.chdir(import_run.__file__.rpartition("studies")[0])
    folder = tmp_path / "mine"
    folder.mkdir()
    torch.save({k: torch.from_numpy(x) for k, x in exact_transformer(6).items()}, folder / "w.pt")
    bare = import_model(folder / "w.pt", out)
    assert bare.run == str(RUN) and bare.accuracy.all == 1 and bare.pairs is None
    weights = store.read_weights(f"{out[0]}/weights.safetensors", RUN)
    np.testing.assert_array_equal(weights["W_in"], exact_transformer(6)["W_in"])
    assert not len(store.read_history(f"{out[0]}/history.parquet"))
    assert store.read_json(f"{out[0]}/environment.json")["file"] == "w.pt"
    assert (stored.read_all_pairs(out[1], 6, weights).prediction[7:9] == [1, 2]).all()
    assert strata.from_weights(f"{out[0]}/weights.safetensors").run == RUN
    (folder / "split.csv").write_text("a,b,split\n1,2,train\n2,2,validation\n")
    split = import_model(folder, out)
    assert split.pairs and split.pairs.train == 1 and split.accuracy.validation == 1
    (folder / "other.pt").touch()
    with pytest.raises(InputError, match="must have one file of weights"):
        import_model(folder, out)
