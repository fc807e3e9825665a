"""Claims over seeds stand beside those of published weights."""

import pandas as pd
from drawing import PARAMS, ROOT
from handmade import changed, run_metrics

from strata import store
from strata.measure.metrics import Metrics
from strata.tables import published
from strata.tables.printed import Printed
from studies.seeds.code import over_seeds

PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)


def test_ours_stands_beside_only_where_it_is_the_same_run():
    params, metrics = PARAMS, run_metrics()
    names = ["published", "ours"]

    def claims(beside: Metrics, name: str = "claims") -> pd.DataFrame:
        over, classes = (x.frame for x in over_seeds.of_seeds([beside], PRINTED, params))
        made = published.of_published(metrics, beside, over, classes, PRINTED, params)
        return next(table.frame for table in made if table.name == name).set_index("claim")

    first, *others = metrics.classes
    ours = changed(
        metrics,
        accuracy=changed(metrics.accuracy, all=0.75),
        classes=(changed(first, fve=0.25), *others),
    )
    row = claims(ours, "classes-verdict").loc["J1: energy at key frequencies"]
    assert row[names].tolist() == [first.fve, 0.25]
    row = claims(ours).loc["accuracy on all pairs"]
    assert row[names].tolist() == [metrics.accuracy.all, 0.75]
    other = claims(changed(ours, seed=2))
    assert names[0] in other and names[1] not in other
