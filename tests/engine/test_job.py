"""What the manifests say reaches the engine."""

from touchstone.engine.job import expectation
from touchstone.manifest.exchange import Expectation


def test_what_is_expected_of_the_head_is_handed_on() -> None:
    wanted = Expectation(body="pong", content_type="text/plain", headers={"ETag": '"[0-9a-f]+"'})
    job = expectation(wanted)
    assert job["content_type"] == "text/plain"
    assert job["headers"] == [("ETag", '"[0-9a-f]+"')]
    assert job["body"] == {"kind": "exact", "value": "pong"}


def test_what_is_not_expected_of_the_head_is_not_named() -> None:
    assert set(expectation(Expectation())) == {"status", "body"}
