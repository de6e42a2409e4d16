"""Apache Otava, which finds change points in performance results: got into touchstone's cache, without its
dependencies.

Otava's package asks for clients of Slack, BigQuery, PostgreSQL and Grafana and for one release of numpy; its analysis
needs numpy and scipy, which touchstone has. So the package alone is fetched, and only its analysis is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from touchstone.failure import TouchstoneError
from touchstone.toolchain.packaged import PackagedTool

_PACKAGE = PackagedTool("otava", "pypi", "apache-otava", "0.8.0", "otava/analysis.py")
_LEAST = 4
"""With fewer values there is nothing before, or nothing after, to compare."""
_WINDOW = 50
"""Otava's own default."""


class OtavaMissingError(TouchstoneError):
    """Otava is not there."""


def fetch_otava() -> Path:
    """Get the package into touchstone's cache, and import its analysis.

    Raises PackagedToolError if its registry has it not, OtavaMissingError if it does not work here.
    """
    _PACKAGE.install()
    return Path(str(_analysis().__file__))


def change_points(values: Sequence[float], p_value: float, magnitude: float) -> list[int]:
    """Change points of a series by Otava's E-divisive means (Fleming et al., ICPE 2023).

    Args:
        values: in the order of time.
        p_value: the largest that a change point may have.
        magnitude: the least relative change that counts.

    Returns:
        For each the index of the first value after it.

    Raises:
        OtavaMissingError: Otava is not there, and the series is long enough to have a change point.

    """
    if len(values) < _LEAST:
        return []
    analysis = _analysis()
    found, _ = analysis.compute_change_points(
        list(values), window_len=_WINDOW, max_pvalue=p_value, min_magnitude=magnitude
    )
    return sorted(int(one.index) for one in found)


def _analysis() -> ModuleType:
    """Otava's analysis: an installed one, or the cache's."""
    home = str(_PACKAGE.home)
    sys.path.append(home)
    try:
        return import_module("otava.analysis")
    except ImportError as error:
        raise OtavaMissingError(
            f"change points need Apache Otava, which is not installed: {error}",
            fix="`touchstone toolchain otava` installs it; `--no-changes` leaves change points out",
        ) from error
    finally:
        sys.path.remove(home)
