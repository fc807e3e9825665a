"""A small project made by hand, and how the pages of the report over it are read."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import small
from matplotlib.figure import Figure
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait
from shipped import ROOT, STORES

from ops import files
from ops.provenance import md5
from ops.shipped import Outs, content
from strata import store
from strata.monoid import classes, prime_powers
from strata.run import Run

RUN, TORSOR, MLP = "n165-s1", "n12-s1", "mlp-n6-s1"  # shipped; not square-free; MLP-only
PICTURE = "studies/mechanism/data/picture.json"
FIGURES = {
    "fig03-attn-scores", "fig05-training", "fig09-class-spectra", "fig10-embed-pca",
    "fig11-neurons", "fig14-attn-seeds",
}  # fmt: skip


# ---- the project -----------------------------------------------------------------------------


def write_runs(folder: Path) -> None:
    """Write the shipped run from the remote, and two of random weights."""
    outs = Outs(files.locked_stages(ROOT)).by_path
    for path in (x for x in outs if Path(x).parent.name == RUN or Path(x).stem == RUN):
        if path.startswith(("data/train/", "data/metrics/")):
            data = content(outs[path].md5, STORES)
            store.write_bytes(folder / path, data)
    settings = store.read_tensors(folder / f"data/train/{RUN}/weights.safetensors")[1]
    for name in (TORSOR, MLP):
        run, history = Run.parse(name), small.history_of([0.5, 1.0])
        weights, run_folder = small.weights_of(run), folder / "data" / "train" / name
        metrics = small.measured(run, weights, small.split_of(run.n), history)
        store.write_json(folder / f"data/metrics/{name}.json", metrics.model_dump(mode="json"))
        header = {"run": name, "train": small.kind_of(run, small.TRAIN).model_dump()}
        data = store.tensors_bytes(weights, settings | header)
        store.write_bytes(run_folder / "weights.safetensors", data)
        columns = {str(x): history[x].to_numpy() for x in history}
        store.write_history(run_folder / "history.parquet", columns)
        shutil.copy(folder / f"data/train/{RUN}/environment.json", run_folder)


def write_checkpoints(folder: Path) -> None:
    """Write what the embedding of the shipped run may be at two checkpoints, and measures."""
    rng = np.random.default_rng(0)
    sizes = {f"J{J.d}": len(J) - 1 for J in classes(165) if len(J) > 1}
    sizes |= {"PC1": 165, "PC2": 165, "PC3": 165, "share": 3}
    rows = []
    for epoch in (0, 25000):
        rows += [(epoch, kind, k, rng.random()) for kind in sizes for k in range(sizes[kind])]
    frozen = folder / "studies" / "dynamics" / "frozen"
    for name in ("measures", "spectra"):
        (frozen / name).mkdir(parents=True)
    names = ["epoch", "of", "place", "value"]
    pd.DataFrame(rows, columns=names).to_parquet(frozen / "spectra" / f"{RUN}.parquet")
    right = [(epoch, "mirror_free_accuracy", "", 0.25) for epoch in (0, 25000)]
    right += [(epoch, "fve", "J3", epoch / 1e5) for epoch in (0, 25000)]
    measured = pd.DataFrame(right, columns=["epoch", "measure", "of", "value"])
    measured.to_parquet(frozen / "measures" / f"{RUN}.parquet")


def write_figure(stem: Path) -> None:
    """Write a figure, and the page of its notebook."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    fig = Figure(figsize=(7, 3))
    fig.subplots().plot([0, 1])
    for ending in (".png", ".pdf", ".svg"):
        fig.savefig(stem.with_name(stem.name + ending))
    alt = f"A line of {stem.name} that rises from 0 to 1, from left to right."
    printed = '<div class="output_subarea output_stdout output_text"><pre>J_1: 4 of 7\n</pre></div>'
    page = f'<body>{printed}<p><img alt="{alt}"></p></body>'
    head = f"<title>{stem.name}</title>\n<style>\n.highlight {{ color: #000 }}</style>"
    stem.with_name(f"{stem.name}.html").write_text(f"{head}\n{page}", "utf-8")


def write_table(stem: Path, csv: str) -> None:
    """Write a table with its caption, as a page shows it."""
    names, *rows = (line.split(",") for line in csv.splitlines())
    page_table = {"caption": f"The table {stem.name}.", "headings": names, "names": names}
    page_table |= {"align": ["l"] + ["r"] * (len(names) - 1), "rows": rows}
    store.write_text(f"{stem}.csv", csv)
    store.write_json(f"{stem}.json", page_table)
    store.write_text(f"{stem}.md", f"The table {stem.name}.\n\n| |\n")


def stage_of(names: list[str], kind: str, endings: tuple[str, ...], code: list[str]) -> dict:
    """Return a stage that makes these figures or tables from the metrics of the headline."""
    outs = [f"{kind}/{name}{ending}" for name in names for ending in endings]
    deps = [f"data/code/{name}.txt" for name in code]
    return {"cmd": f"make {' '.join(names)}", "params": ["n"], "deps": deps, "outs": outs}


def picture_of(run: str) -> dict:
    """Return random votes; classes say nothing."""
    n, rng = Run.parse(run).n, np.random.default_rng(0)
    class_names = [str(J.d) for J in classes(n) if len(J) > 1]
    fits = {d: [rng.normal(size=(p, n)).tolist() for p in prime_powers(n)]
            for d in ("all", *class_names)}  # fmt: skip
    of_class = {str(J.d): {"class": [0.0] * n, "quotient": [1.0] * J.m} for J in classes(n)}
    shares = {"votes": 0.9, "classes": 0.1}
    return {"run": run, "n": n, "fits": fits, "classes": of_class, "shares": shares, "N": [1] * n}


def project(folder: Path) -> None:
    """Write the paper's pipeline with some figures and a table, and a study whose folder of
    figures, and of tables, is an output."""
    for name in ("notebooks", "report/site"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("CITATION.cff", "params.yaml", "paper/printed_values.json", "paper/tables.yaml"):
        store.write_bytes(folder / name, (ROOT / name).read_bytes())
    write_runs(folder)
    write_checkpoints(folder)
    for name in FIGURES:
        write_figure(folder / "figures" / name)
    rows = "1,8,79,0.96,0.1,0.97,0.16\n3,7,39,0.94,0.2,0.98,0.3\n"
    names = "d,key,total,fve,fve_uniform,atomic_share,atomic_uniform"
    write_table(folder / "tables" / "key-freqs", f"{names}\n{rows}")
    single = sorted(FIGURES - {"fig14-attn-seeds"})
    endings = (".pdf", ".png", ".svg", ".html")
    shared = stage_of(["${key}"], "figures", endings, ["fig14-attn-seeds"])
    stages = {
        "figures": stage_of(single, "figures", endings, single),
        "seeds": {"foreach": {"fig14-attn-seeds": 113}, "do": shared},
        "tables": stage_of(["key-freqs"], "tables", (".csv", ".md"), ["tables"]),
    }
    store.write_json(folder / "dvc.yaml", {"stages": stages})

    study = folder / "studies" / "waves"
    for name in ("logits", "progress-order"):
        write_figure(study / "figures" / name)
    rows = "".join(f"165,3,wave,share,0.5,0.4,0.6,0.4 0.{k}\n" for k in range(14))
    write_table(study / "tables" / "waves", f"n,d,measure,unit,mean,low,high,values\n{rows}")
    for path in (ROOT / "notebooks").glob("fig0*.ipynb"):  # of the study: a figure in each
        names = {"fig01": "logits", "fig02": "progress-order"}
        if name := names.get(path.stem[:5]):
            notebook = path.read_text("utf-8").replace("# Figure ", "# Of ", 1)
            store.write_text(study / "notebooks" / f"{name}.ipynb", notebook)
    store.write_text(
        study / "README.md", "# Do waves stand?\n\nThey do: [docs](../../docs/one.md).\n"
    )
    waves = {
        "cmd": "make",
        "deps": [f"data/code/{x}.txt" for x in ("logits", "progress-order")],
        "outs": ["figures", "tables"],
        "params": ["accounts"],
    }
    store.write_text(study / "params.yaml", "accounts: {levels: {tau_primes: 0.8}}\n")
    store.write_json(study / "dvc.yaml", {"stages": {"waves": waves}})
    store.write_json(folder / PICTURE, [picture_of(RUN), picture_of(MLP)])
    code = "long " * 99
    links = "[here](#a-part), [two](two.md), ![seen](../figures/fig05-training.png), [gone](x.py)"
    store.write_text(folder / "docs" / "one.md", f"# One\n\n## A part\n\n{links}\n\n    {code}\n")
    store.write_text(folder / "docs" / "two.md", "# Two\n\n| of J_3 |\n|--|\n| 1,000 |\n")
    paths = [x for x in folder.rglob("data/*/**/*") if x.is_file()]
    outs = [{"path": x.relative_to(folder).as_posix(), "md5": md5(x)} for x in paths]
    store.write_json(folder / "dvc.lock", {"stages": {"all": {"outs": outs}}})


def data_of(site: Path, run: str) -> dict:
    """Return what the page of a run holds."""
    text = (site / "runs" / f"{run}.js").read_text("utf-8")
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


def weights_of(site: Path, run: str) -> dict[str, np.ndarray]:
    """Return the weights of a run."""
    return store.read_weights(site.parent / "data" / "train" / run / "weights.safetensors")


# ---- the reader ------------------------------------------------------------------------------


class Reader:
    """The report in the browser, as someone reads it."""

    def __init__(self, chrome: webdriver.Chrome, site: Path):
        self.chrome, self.site = chrome, site

    def open(self, page: str, width: int = 1280, dark: bool = False) -> "Reader":
        """Open a page with its hash, and wait until it is drawn. Without a page, the hash is one
        of the appendix of figures."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=800,
                 deviceScaleFactor=1, mobile=width < 500)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.chrome.get("about:blank")
        with suppress(WebDriverException):  # the first time; Chrome keeps only fifty steps
            self.cdp("Page.resetNavigationHistory")
        path, sharp, fragment = page.partition("#")
        address = (self.site / (path or "appendix/figures.html")).as_uri()
        self.chrome.get(f"{address}{sharp}{fragment}")
        # The front page loads its network once the pointer moves.
        self.js("dispatchEvent(new Event('pointermove'))")
        scripts = "script[src*=main], script[src*=dials]"
        self.until(
            "const x = document.documentElement.dataset, drawn = x.drawn ?? '';"
            "return x.run && !drawn.endsWith('first') || !document.querySelector(arguments[0])",
            scripts,
        )
        return self

    def cdp(self, command: str, **values: object) -> dict:
        return self.chrome.execute_cdp_cmd(command, values)

    def js(self, script: str, *values: object):
        return self.chrome.execute_script(script, *values)

    def until(self, script: str, *values: object):
        return WebDriverWait(self.chrome, 120).until(lambda _: self.js(script, *values))

    def one(self, selector: str):
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def every(self, selector: str):
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def see(self, name: str, run: str = RUN) -> str:
        """Scroll to a section, wait until its panel shows that run, and return its text."""
        # Scroll again and again: panels drawn above the section can push it out of sight.
        box = "document.querySelector(`#${arguments[0]} .view`)"
        scroll = f"{box}.scrollIntoView({{behavior: 'instant', block: 'center'}})"
        self.until(f"{scroll}; return {box}.dataset.drawn === arguments[1]", name, run)
        return self.one(f"#{name} .readout").text

    def choose(self, selector: str, value: str) -> None:
        Select(self.one(selector)).select_by_value(value)

    def marks(self, name: str) -> set[str]:
        """Return the names that a panel gives to the places of a, b and ab."""
        return {part for x in self.every(f"#{name} .here") for part in x.text.split(", ")}

    def errors(self) -> list[str]:
        log = self.chrome.get_log("browser")  # pyright: ignore
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]
