"""Tables of a run made up here: what stands in them, what stands beside it, how it is written."""

import csv
import io
import re
from typing import Any

import pandas as pd
import pytest
from handmade import changed, run_metrics
from small import ALL, PRINTED

from strata import monoid
from strata.measure.metrics import ClassMetrics, Metrics
from strata.params import Params, TablesParams
from strata.tables import format, headline
from strata.tables.claims import text_claims
from strata.tables.table import Column, Table

TABLES = TablesParams(square_free_up_to=1000)


def run_params(metrics: Metrics, **thresholds: Any) -> Params:
    levels = ALL.metrics.model_copy(update=thresholds)
    fields = {"n": metrics.n, "seed": metrics.seed, "metrics": levels, "tables": TABLES}
    return ALL.model_copy(update=fields)


def all_tables(metrics: Metrics) -> dict[str, Table]:
    return {t.name: t for t in headline.tables(metrics, PRINTED, run_params(metrics))}


def claims(metrics: Metrics, **thresholds: Any) -> pd.DataFrame:
    return text_claims(metrics, PRINTED, run_params(metrics, **thresholds)).set_index("id")


def without_paper(frame: pd.DataFrame) -> bool:
    return not any("paper" in name or "difference" in name for name in frame)


def test_moduli_are_those_of_table_1():
    frame = headline.moduli(165, PRINTED.table_moduli).set_index("n")
    printed = {n: tuple(row.model_dump().values()) for n, row in PRINTED.table_moduli.items()}
    assert dict(zip(frame.index, frame.itertuples(index=False, name=None), strict=True)) == printed


def test_every_printed_key_frequency_stands_beside_ours():
    frame = headline.key_freqs(run_metrics(), PRINTED).set_index("d")
    printed = PRINTED.table_key_frequencies
    for d, row in printed.items():
        ours = frame.loc[d].to_dict()
        assert (ours["paper_key"], ours["total"]) == (row.key, row.total)
        assert ours["key_difference"] == ours["key"] - row.key
        assert ours["paper_fve"] == pytest.approx(row.fve_percent / 100, abs=1e-12)
        assert ours["fve_difference"] == ours["fve"] - ours["paper_fve"]
    others = frame.drop(index=list(printed))
    assert list(others.index) == [33, 55]
    columns = ["paper_key", "key_difference", "paper_fve", "fve_difference"]
    assert others[columns].isna().to_numpy().all()


def test_every_printed_character_fit_stands_beside_ours():
    frame = headline.character_fit(run_metrics(), PRINTED).set_index("d")
    printed = PRINTED.table_character_fit
    assert sorted(frame.index) == sorted(printed)
    for d, row in printed.items():
        ours = frame.loc[d].to_dict()
        assert ours["pair"] == "{} x {}".format(*row.pairs)
        assert ours["paper_r2"] == pytest.approx(row.r2_percent / 100, abs=1e-12)
        assert ours["r2_difference"] == ours["r2"] - ours["paper_r2"]


def test_a_fit_of_other_operands_is_not_held_against_the_paper():
    first, *others = run_metrics().classes
    assert first.character_fit
    first = changed(first, character_fit=changed(first.character_fit, pair=(1, 3)))
    frame = headline.character_fit(run_metrics(classes=(first, *others)), PRINTED)
    assert frame["paper_r2"].isna().tolist() == [True] + [False] * 6


@pytest.mark.parametrize(
    "changes",
    [
        {"n": 154},
        {"seed": 2},
        {"architecture": "mlp", "heads": ()},
        {"task": "(Z_165, ·) without zeros"},
    ],
)
def test_the_paper_stands_beside_its_own_run_alone(changes: dict[str, Any]):
    metrics = run_metrics(**changes)
    assert without_paper(headline.key_freqs(metrics, PRINTED))
    assert without_paper(headline.character_fit(metrics, PRINTED))
    compared = claims(metrics)["paper"].dropna()
    assert list(compared.index) == ["square-free"]


def test_jclasses_of_165_are_the_paper_s():
    frame = headline.jclasses(165).set_index("d")
    printed = PRINTED.table_j_classes
    assert list(frame.index) == list(printed)
    ours_by_class = frame.to_dict("index")
    for d, row in printed.items():
        ours = ours_by_class[d]
        assert (ours["size"], ours["idempotent"]) == (row.size, row.idempotent)
        assert ours["group"] == (" x ".join(f"Z{q}" for q in row.group) or "trivial")
        assert ours["generators"] == ", ".join(map(str, row.generators))
    assert all(frame["regular"])


def test_non_regular_classes_show_the_group_that_acts_on_them():
    frame = headline.jclasses(8).set_index("d")
    assert frame["group"].tolist() == ["Z2 x Z2", "Z2", "trivial", "trivial"]
    assert frame["generators"].tolist() == ["7, 5", "3", "", ""]
    assert frame["idempotent"].isna().tolist() == [False, True, True, False]
    assert headline.jclasses(49)["group"].tolist() == ["Z42", "Z6", "trivial"]
    of_180 = headline.jclasses(180).set_index("d")
    assert of_180.loc[2, ["regular", "m", "group"]].tolist() == [False, 90, "Z6 x Z4"]


def test_classes_that_are_not_regular_are_marked_as_such_and_where_all_are_none_is():
    regular = {J.d: J.regular for J in monoid.classes(180)}
    marked, plain = all_tables(run_metrics(180)), all_tables(run_metrics(165))
    for name in ("key-freqs", "character-fit", "jclasses"):
        frame = marked[name].frame.set_index("d")
        assert frame["regular"].to_dict() == {d: regular[d] for d in frame.index}
        assert False in frame["regular"].to_list()
        assert name == "jclasses" or "regular" not in plain[name].frame


def test_claims_hold_every_number_of_the_text():
    frame = claims(run_metrics())
    printed = {
        "accuracy-all": (1.0, 0.9999),
        "wrong": (0, 3),
        "components-classes": (0.2, 10 / 128),
        "head-0-components": (4, 5),
        "head-0-top": (0.999, 0.9996),
        "head-0-J1-read": (8, 8),
        "head-0-J3-read": (7, 8),
        "square-free": (6 / 3.141592653589793**2, 0.608),
    }
    assert set(frame["paper"].dropna().index) == set(printed)
    for claim, (paper, ours) in printed.items():
        row = frame.loc[claim]
        assert row[["paper", "ours"]].tolist() == pytest.approx([paper, ours])
        assert row["difference"] == row["ours"] - row["paper"]
    assert frame.loc[["first-validation", "stays-validation"], "ours"].tolist() == [6500, 6700]
    assert frame.loc["shown-11", "ours"] == 11 / 165
    assert frame.index.is_unique


def test_a_claim_at_another_threshold_is_not_held_against_the_paper():
    frame = claims(run_metrics(), variance=0.9, aligned_cosine=0.7, top_singular=4)
    assert list(frame["paper"].dropna().index) == ["accuracy-all", "wrong", "square-free"]
    assert "head-0-J1-read" in frame.index


def test_a_diverged_run_still_has_its_tables():
    classes = tuple(
        ClassMetrics(d=J.d, m=J.m, size=len(J), regular=J.regular, orders=J.orders)
        for J in monoid.classes(165)
    )
    lost = {"classes": classes, "pca": None, "token_order": None, "neurons": None, "heads": ()}
    for table in all_tables(run_metrics(**lost)).values():
        assert format.markdown(table)
        assert format.latex(table)


def test_summary_holds_what_the_run_has():
    summary = headline.summary(run_metrics())
    assert summary["accuracy"] == {"all": 0.9999, "validation": 0.999, "mirror_free": 0.998}
    assert summary["first_099"] == {"train": 300, "validation": 6500, "mirror_free": 7000}
    assert summary["epoch_099"] == {"train": 400, "validation": 6700, "train_relapses": 3}
    assert set(summary["fve"]) == set(summary["r2"]) == {f"J{d}" for d in (1, 3, 5, 11, 15, 33, 55)}
    assert (summary["pca_components"], summary["ov_head0_components"]) == (9, 5)
    assert "ov_head0_components" not in headline.summary(run_metrics(architecture="mlp", heads=()))


def test_shown_tables_say_bounds_units_and_what_is_missing():
    table = all_tables(run_metrics())["claims"]
    printed = format.rounded(table).set_index(table.frame["id"]).drop(columns="claim")
    assert printed.loc["head-0-top"].tolist() == ["5.2", "> 99.9 %", "> 99.9 %", "+0.1"]
    assert printed.loc["stays-mirror-free"].tolist() == ["beyond the paper", "—", "—", "—"]
    classes = format.rounded(all_tables(run_metrics(12))["jclasses"]).set_index("class")
    assert classes.loc["J₂", "idempotent"] == "none"


def test_a_cell_that_cannot_have_a_number_has_a_dash_and_one_that_lacks_it_has_its_word():
    never = Column("first", "count", "r", "never", lambda row: row["kind"] == "mlp")
    frame = pd.DataFrame({"kind": ["transformer", "transformer", "mlp"], "first": [90, None, None]})
    assert format.rounded(Table("x", "", frame, {"first": never}))["first"].tolist() == [
        "90", "never", "—",
    ]  # fmt: skip


def test_a_column_across_becomes_headings_and_rows_that_lack_a_cell_have_a_dash():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "n": [15, 7, 7], "held": [1, 2, 3]})
    columns = {
        "a": Column("a", align="l"), "n": Column("", lambda row: f"n = {row['n']}"),
        "held": Column("held", "count"),
    }  # fmt: skip
    table = Table("t", "c", frame, columns, ("n", "held"))
    printed = format.rounded(table)
    assert list(printed) == ["a", "n = 15", "n = 7"]
    assert printed.to_numpy().tolist() == [["x", "1", "2"], ["y", "—", "3"]]
    assert format.for_page(table)["align"] == ["l", "r", "r"]


@pytest.mark.parametrize("n", [2, 180])
def test_csv_gives_back_every_digit(n: int):
    for table in all_tables(run_metrics(n)).values():
        rows = list(csv.reader(io.StringIO(format.csv(table))))
        assert rows[0] == list(table.frame)
        for row, exact in zip(rows[1:], table.frame.itertuples(index=False), strict=True):
            for text, value in zip(row, exact, strict=True):
                assert text == ("" if pd.isna(value) else str(value))


# The commands of LaTeX and of the two packages that the pages name.
LATEX = {"begin", "end", "centering", "small", "caption", "label", "linewidth", "mathbb"}
LATEX |= {"toprule", "midrule", "bottomrule", "omega", "pi", "times", "cdot", "geq", "dots"}


@pytest.mark.parametrize("n", [2, 165, 180])
def test_latex_is_balanced_ascii_with_booktabs_rules(n: int):
    for table in all_tables(run_metrics(n)).values():
        text = format.latex(table)
        assert text.isascii() and format.tabular(table) in text
        assert text.count("{") == text.count("}")
        assert text.count("$") % 2 == 0
        assert {*re.findall(r"\\([a-z]+)", text)} <= LATEX
        assert re.findall(r"\\(\w+)rule", text) == ["top", "mid", "bottom"]
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len(rows) == len(table.frame) + 1
        columns = len(format.rounded(table).columns)
        assert {row.count(" & ") for row in rows} == {columns - 1}


def test_tables_of_two_runs_have_labels_of_their_own(tmp_path):
    for n in (165, 180):
        format.write(all_tables(run_metrics(n)).values(), tmp_path / str(n))
    files = sorted(tmp_path.glob("*/*.tex"))
    labels = re.findall(r"\\label\{(.+?)\}", "".join(x.read_text() for x in files))
    assert len({*labels}) == len(labels) == len(files) / 2 and "tab:n165-s1-key-freqs" in labels


@pytest.mark.parametrize("n", [2, 180])
def test_markdown_has_a_line_for_each_row(n: int):
    for table in all_tables(run_metrics(n)).values():
        caption, blank, head, rule, *rows = format.markdown(table).splitlines()
        assert (caption, blank) == (format.caption(table), "")
        assert caption.startswith(table.caption)
        assert ("Nothing" in caption) == table.frame.empty
        assert len(rows) == len(table.frame)
        assert {line.count("|") for line in (head, rule, *rows)} == {head.count("|")}
