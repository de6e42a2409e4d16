"""What all records share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A part of a result. Unknown keys are kept out on writing and ignored on reading a newer minor version."""

    model_config = ConfigDict(
        extra="ignore", use_attribute_docstrings=True, populate_by_name=True, ser_json_inf_nan="null"
    )
