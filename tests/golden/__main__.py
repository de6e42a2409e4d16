"""`python -m tests.golden`: rewrite the expected output and README. `python -m tests.golden pack RUN`: add a run."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden import readme
from tests.golden.golden import RUNS, pack, write_expected

match sys.argv[1:]:
    case ["pack", *folders] if folders and all(Path(folder).is_dir() for folder in folders):
        for folder in folders:
            print(pack(Path(folder)))
    case []:
        for name in RUNS:
            write_expected(name)
            print(f"expected/{name}")
        print(readme.write())
    case _:
        sys.exit(__doc__)
