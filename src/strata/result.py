"""What all results in JSON files have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from strata.run import InputError


class Result(BaseModel):
    """A part of a JSON file that a stage writes: frozen, no key unknown, every number finite."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def parsed(model: Any, content: bytes, origin: str) -> Any:
    """JSON as a model, or as a list of these. Raises InputError with one line that names origin,
    key, value where that is short, and what it should be."""
    try:
        return TypeAdapter(model).validate_json(content, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    fault = min(faults, key=lambda x: x["type"] != "extra_forbidden")
    if fault["type"] == "json_invalid":
        raise InputError(f"{origin}: {fault['msg'].replace('Invalid', 'not valid', 1)}")
    key = ".".join(map(str, fault["loc"])) or "the whole"
    value = "" if fault["type"] == "missing" else f" = {fault['input']!r}"
    value = value if len(value) <= 60 else ""
    raise InputError(f"{origin}: {key}{value}: {fault['msg']}; run its stage again")
