"""Which loads can be put on all contenders at once."""

from __future__ import annotations

import resource

from touchstone.manifest.load import Load
from touchstone.phase.load.fitting import files_suffice


def test_the_connections_to_all_contenders_are_counted_together() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    load = Load.model_validate({"title": "A load", "requests": [{"target": "/"}], "connections": most // 4})
    assert files_suffice(load, 1)
    assert not files_suffice(load, 4)
