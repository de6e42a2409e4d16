"""siege's summary as text (version 4.0) and as JSON (`--json-output`, and all output since version 4.1).

Source: its manual, and `main.c`; times are in seconds with two decimals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, PrintedText, field, required_group
from touchstone.audit.published import PublishedResult, count, number

_STEP_S = 0.01
_HEAD = re.compile(r"^\s*Transactions:\s+\d+ hits", re.MULTILINE)
_USERS = "siege computes its concurrency from the rate and the response time, so the law holds whatever was measured"
_NAMES = {
    "transactions": "Transactions",
    "elapsed_time": "Elapsed time",
    "response_time": "Response time",
    "transaction_rate": "Transaction rate",
    "failed_transactions": "Failed transactions",
    "longest_transaction": "Longest transaction",
    "shortest_transaction": "Shortest transaction",
}


def _recognises(document: object) -> bool:
    return isinstance(document, dict) and {"transactions", "transaction_rate", "elapsed_time"} <= document.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    return [_result(document, name)]


def _printed(text: str, name: str) -> PublishedResult:
    values = {key: float(required_group(field(label), text, f"{label}:")) for key, label in _NAMES.items()}
    return _result(values, name)


def _result(values: Mapping[str, Any], name: str) -> PublishedResult:
    """The one result. A transaction is a response below status 400; what failed is not in the rate."""
    return PublishedResult(
        entry=name,
        test="siege",
        tool="siege",
        rate=number(values["transaction_rate"]),
        duration_s=number(values["elapsed_time"]),
        answered=count(values["transactions"]),
        errors=count(values.get("failed_transactions")),
        mean_s=number(values.get("response_time")),
        min_s=number(values.get("shortest_transaction")),
        max_s=number(values.get("longest_transaction")),
        step_s=_STEP_S,
        mean_step_s=_STEP_S,
        lawless=_USERS,
        causes=(ONCE, UNCHECKED, HIDDEN_QUEUE),
    )


SHAPES = [JsonDocument("siege", _recognises, _read), PrintedText("siege", _HEAD, _printed)]
