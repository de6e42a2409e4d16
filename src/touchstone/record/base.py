"""What all records share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Record(BaseModel):
    """A part of a result. Unknown keys are kept out on writing and ignored on reading a newer minor version."""

    # Types that stand within others need no validator of their own, and one document uses few of all.
    model_config = ConfigDict(extra="ignore", defer_build=True, populate_by_name=True, ser_json_inf_nan="null")


class EngineRecord(Record):
    """A part of a result. The engine's null for a missing measurement becomes the part's empty default."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        # Most parts have no null; a copy of each would cost a tenth of the reading.
        if not isinstance(data, dict) or None not in data.values():
            return data
        return {key: value for key, value in data.items() if value is not None}
