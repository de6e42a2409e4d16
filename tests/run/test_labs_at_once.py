"""Two labs on one machine share the cache, and neither takes or empties what the other has half made."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.command import COMMAND
from tests.run.demo import SCENARIO, add_stack
from tests.run.test_end_to_end import environment
from touchstone.record.store import load_run


def test_two_labs_that_want_the_same_build_make_it_once(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO)
    add_stack(folder, "built", build='[["python3", "-c", "import time; time.sleep(1)"]]')
    outs = [tmp_path / "one", tmp_path / "two"]
    labs = [
        subprocess.Popen(
            [*COMMAND, "run", str(folder), "--quick", "--phase", "verify", "--out", str(out)],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for out in outs
    ]
    assert [lab.wait(120) for lab in labs] == [0, 0]
    builds = [sample.build for out in outs for sample in load_run(out).samples if sample.build is not None]
    assert sorted(build.cached for build in builds) == [False, True]
