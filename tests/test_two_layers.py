"""docs/two_layers.py: a network that the library cannot load is asked by what it answers."""

from docs import two_layers


def test_two_layers_with_layernorm_are_trained_and_analysed(capsys):
    analysis = two_layers.main(150)
    text = capsys.readouterr().out
    assert "# embedding and logits: answers are ab mod 21 in" in text and "Not measured" in text
    validation = analysis.metrics.accuracy.validation
    assert validation is not None and validation > 0.9 and not analysis.left_out
    assert {"free-votes", "votes-share", "bias"} <= {*analysis.mechanism["id"]}
