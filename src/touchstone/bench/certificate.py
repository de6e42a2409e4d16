"""The certificate of a run: what services, and the null server, show where TLS is spoken."""

from __future__ import annotations

import shlex
import subprocess

from touchstone.bench.base import Bench, Certificate
from touchstone.engine.client import EngineError
from touchstone.engine.locate import engine_path
from touchstone.manifest.spoken import SpokenProtocol

_NAMES = ("localhost", "127.0.0.1", "::1")


def certificate_for(bench: Bench, spoken: SpokenProtocol) -> Certificate | None:
    """The run's certificate, made when it is first needed; None where no TLS is spoken. Raises EngineError."""
    if not spoken.tls:
        return None
    folder = bench.scratch / "tls"
    found = Certificate(folder / "cert.pem", folder / "key.pem")
    if not found.key.exists():
        folder.mkdir(parents=True, exist_ok=True)
        names = dict.fromkeys((*_NAMES, bench.generators.host))
        command = [str(engine_path()), "certificate", f"--cert={found.cert}", f"--key={found.key}", *names]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise EngineError(
                made.stderr.strip() or "the engine made no certificate", fix=f"run it by hand: {shlex.join(command)}"
            )
    return found
