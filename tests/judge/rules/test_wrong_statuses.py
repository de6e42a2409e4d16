from touchstone.judge.judgement import Severity

from ..sound import codes, ended, fired, first_load, loads, result_of, sound_run


def test_unexpected_statuses_are_named() -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    ended(result_of(first_load(run)), wrong_status=counts.sent - 1)
    counts.status = {"200": 1, "500": counts.sent - 1}
    (finding,) = fired(run, "wrong-statuses")
    assert finding.severity is Severity.INVALID
    assert "199,404 with 500" in finding.statement


def test_a_status_that_the_contract_allows_is_right() -> None:
    run = sound_run()
    for sample in loads(run):
        counts = result_of(sample).counts
        counts.status = {"200": counts.ok // 2, "429": counts.ok - counts.ok // 2}
    assert codes(run) == set()


def test_unexpected_statuses_of_grpc_calls_are_named() -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    ended(result_of(first_load(run)), grpc_status=counts.sent - 1)
    counts.status = {"OK": 1, "INTERNAL": counts.sent - 1}
    (finding,) = fired(run, "wrong-statuses")
    assert "with INTERNAL, 1 with OK" in finding.statement


def test_calls_behind_a_proxy_that_fails_are_named_next_to_those_that_the_service_refuses() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    ended(result, grpc_status=3, wrong_status=7)
    result.counts.status = {"502": 7, "INTERNAL": 3, "OK": result.counts.ok}
    statements = [finding.statement for finding in fired(run, "wrong-statuses")]
    assert [statement.split()[0] for statement in statements] == ["7", "3"]
