from pathlib import Path

import pytest

from touchstone.toolchain.otava import fetch_otava


@pytest.fixture(scope="session", autouse=True)
def otava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Apache Otava itself, got as a user gets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHSTONE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return fetch_otava()
