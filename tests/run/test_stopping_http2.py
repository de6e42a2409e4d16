"""`touchstone run --phase stop` over HTTP/2: a refusal does not count as a loss."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.run.test_end_to_end import report_of
from tests.run.test_stopping import SCENARIO, SERVICE, VARIANT, codes_of, figures_of, planted_stack

OVER_HTTP_2 = SCENARIO.partition("[loads.stream]")[0].replace("ready = ", 'protocol = "h2c"\nready = ')
STOP = """
[stop]
load = "quick"
slow_load = "slow"
within_s = 5
"""


def test_what_is_declined_over_http2_is_refused_and_what_is_dropped_is_lost(tmp_path: Path) -> None:
    service = SERVICE.with_name("stopping_h2_service.py")
    # A slow request takes two seconds: it is in flight at the signal on a busy machine, too.
    variant = VARIANT.replace('"service.py", "{', f'"{service}", "{{').replace("STOP_COLD_AT", "STOP_SLOW_S")
    stack = planted_stack(tmp_path, OVER_HTTP_2 + STOP, variant, ("graceful", "disowns", "resets"))
    shutil.copy(service, stack / "service.py")
    code, report = report_of(tmp_path, "./ends", "--phase", "stop", "--rounds", "1")
    assert code == 0
    slow = {mode: figures_of(report, mode, "slow") for mode in ("graceful", "disowns", "resets")}
    # The load generator may be late on a busy machine.
    assert {found for found, _ in codes_of(report, "graceful")} <= {"stop-client-late"}
    assert (slow["graceful"]["stop_lost"], slow["graceful"]["stop_refused"]) == (0, 0)
    assert slow["disowns"]["stop_refused"] > 0
    assert ("requests-lost-at-stop", "slow") in codes_of(report, "resets")
    assert ("requests-lost-at-stop", "slow") not in codes_of(report, "disowns")
