"""The columns of the tables on the embedding and of the literature's measures."""

from strata.tables.column import Column

EMBEDDING = {
    "effects_share": Column("share of W_E", "share"),
    "keep_skill": Column("keep", "share"),
    "keep_permuted": Column("permuted, highest", "share"),
    "keep_components": Column("components", "share"),
    "overlap": Column("overlap", "share"),
    "remove_skill": Column("remove", "share"),
    "remove_shrunk": Column("shrunk", "share"),
    "remove_permuted": Column("permuted, least", "share"),
    "one_own": Column("one removed, modulo it", "share"),
    "one_others": Column("modulo others", "share"),
    "within_least": Column("least kind", "share"),
    "within_control": Column("control", "share"),
    "within_exchanged": Column("exchange", "share"),
    "crossing_least": Column("crossing, least kind", "share"),
    "crossing_control": Column("crossing, control", "share"),
    "crossing_exchanged": Column("crossing, exchange", "share"),
    "symmetricity": Column("symmetricity", "index"),
    "irrelevance": Column("irrelevance", "index"),
    "simple_share": Column("simple neurons", "share"),
    "simple_skill": Column("skill, simple", "share"),
    "power_share": Column("of one Q", "share"),
    "power_skill": Column("skill, of one Q", "share"),
    "sum_share": Column("g(a) + g′(b)", "share"),
    "sum_skill": Column("skill, g(a) + g′(b)", "share"),
    "cosets": Column("cosets", "share"),
    "cosets_second": Column("second-best", "share"),
    "gini": Column("Gini", "index"),
}
