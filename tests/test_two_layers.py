"""docs/two_layers.py: a network that the library cannot load is asked by what it answers."""

from docs import two_layers


def test_two_layers_with_layernorm_are_trained_and_analysed(capsys):
    found = two_layers.main(150)
    said = capsys.readouterr().out
    assert "# embedding and logits: answers are ab mod 21 in" in said and "Not measured" in said
    validation = found.metrics.accuracy.validation
    assert validation is not None and validation > 0.9 and not found.elsewhere
    assert {"accounts", "votes-share", "bias"} <= {*found.mechanism["id"]}
