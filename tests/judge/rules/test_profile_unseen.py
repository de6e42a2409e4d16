from ..profiles import evidence, profile_run
from ..sound import fired

WRITES = ["server", "main.Server.answer", "sun.nio.ch.SocketDispatcher.write0", "[not seen by JFR]"]
READS = ["server", "main.Server.answer"]
SPENT = [(WRITES, 3.0), (READS, 9.0)]
REASON = "JFR sees Java alone. It was taken because of async-profiler: needs it; run this"


def test_what_a_coarse_profiler_did_not_see_has_its_share_and_its_reason() -> None:
    recorded = evidence(SPENT).model_copy(update={"unseen": REASON, "tables": ["jvm"]})
    (finding,) = fired(profile_run({"java/jvm": [recorded] * 3}), "profile-unseen")
    assert finding.statement.startswith("25 % of the CPU time was not attributed.")
    assert "run this" in finding.statement
    assert not fired(profile_run({"java/jvm": [recorded] * 3}), "profile-unmatched")


def test_a_profiler_that_sees_all_is_not_spoken_of() -> None:
    assert not fired(profile_run({"java/jvm": [evidence(SPENT)] * 3}), "profile-unseen")
