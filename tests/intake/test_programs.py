"""Which program of a compiled service is built, and what lies next to it when it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.services import GO, MAIN_GO, drafted


@pytest.mark.parametrize(
    ("files", "built"),
    [
        ({"cmd/migrate/main.go": MAIN_GO, "cmd/server/main.go": MAIN_GO}, "./cmd/server"),
        ({"cmd/api/main.go": MAIN_GO, "cmd/worker/main.go": MAIN_GO + "r.Run()"}, "./cmd/worker"),
        ({"cmd/a/main.go": MAIN_GO, "cmd/x/main.go": MAIN_GO}, "./cmd/x"),
        ({"cmd/a/main.go": MAIN_GO, "main.go": MAIN_GO}, "."),
    ],
)
def test_of_several_programs_the_one_is_built_that_listens_or_is_called_so(
    tmp_path: Path, files: dict[str, str], built: str
) -> None:
    assert drafted(tmp_path, GO | files).variants["plain"].build[0][-1] == built
