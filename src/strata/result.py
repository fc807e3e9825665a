"""Define what all results in JSON files have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from strata.inputs import fault


class Result(BaseModel):
    """A ``Result`` is a part of a JSON file that a stage writes: frozen, no key unknown, every
    number finite."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def parse(model: Any, content: bytes, origin: str) -> Any:
    """Parse JSON as a model, or as a list of models. Raises InputError with one line that names the
    origin, the key, its value in short, and what it should be."""
    try:
        return TypeAdapter(model).validate_json(content, strict=True)
    except ValidationError as error:
        raise fault(error, origin) from None
