"""Servers that answer wrongly, or break their connections."""

from tests.faults.catalogue.kinds import FILLED, PACKED, PACKED_WORK, work
from tests.faults.setup import Setup, knobs

ERRORS = "errors-above-allowance"
BROKEN = "connections-broken"
FAILED = ("wrong-statuses", ERRORS)
WRONG = ("wrong-bodies", ERRORS)

ANY_STATUS = work({"status": [200, 429], "pattern": r"done \d+|no"})

ANSWERS: tuple[Setup, ...] = (
    Setup(
        "wrong-byte",
        "one byte of every tenth body is wrong; its length is right",
        WRONG,
        servers=knobs(wrong_body_every=10),
    ),
    Setup("rare-wrong-byte", "one byte of every 1,500th body is wrong", WRONG, servers=knobs(wrong_body_every=1500)),
    Setup("blank-body", "every 50th answer is 200 with an empty body", WRONG, servers=knobs(blank_body_every=50)),
    Setup(
        "stale-body",
        "after 500 requests every answer is that of an earlier request",
        WRONG,
        servers=knobs(stale_body=500),
    ),
    Setup(
        "error-page", "every third answer is 200 with a stack trace of 3 KB", WRONG, servers=knobs(error_page_every=3)
    ),
    Setup(
        "padded-body",
        "every body has two bytes more than it should",
        ("contract-broken",),
        servers=knobs(pad_bytes=2),
    ),
    Setup("some-500", "one request in a hundred gets 500", FAILED, servers=knobs(status_every=100, status=500)),
    Setup(
        "all-500",
        "all requests get 500, the contract's aside",
        ("contract-broken",),
        servers=knobs(status_from=1, status=500),
    ),
    Setup(
        "nearly-all-500", "all requests but the first ten get 500", FAILED, servers=knobs(status_from=10, status=500)
    ),
    Setup(
        "503-after-a-while", "from the 800th request on all get 503", FAILED, servers=knobs(status_from=800, status=503)
    ),
    Setup(
        "429-not-allowed",
        "half of the requests get 429, which the load does not allow",
        FAILED,
        servers=knobs(status_every=2, status=429),
    ),
    Setup(
        "302-instead",
        "every fifth request is sent elsewhere with 302",
        FAILED,
        servers=knobs(status_every=5, status=302),
    ),
    Setup(
        "truncated",
        "every 40th body is cut in the middle, and the connection closed",
        (BROKEN, ERRORS),
        servers=knobs(truncate_every=40),
    ),
    Setup(
        "length-too-short",
        "every 40th Content-Length is three bytes too short",
        (ERRORS,),
        servers=knobs(length_short_every=40),
    ),
    Setup("sent-twice", "every 40th answer is sent two times", (ERRORS,), servers=knobs(twice_every=40)),
    Setup("not-http", "every 100th answer is not HTTP", (BROKEN, ERRORS), servers=knobs(garbage_every=100)),
    Setup(
        "field-without-colon",
        "every 100th answer has a field line without a colon",
        (BROKEN, ERRORS),
        servers=knobs(no_colon_every=100),
    ),
    # A client may send such a request once more, and it is answered then: the cost is another connection.
    Setup(
        "reset",
        "every 60th request is answered by a reset",
        (BROKEN, "connections-per-request"),
        servers=knobs(reset_every=60),
    ),
    Setup(
        "closed-unanswered",
        "every 60th request is answered by closing",
        (BROKEN, "connections-per-request"),
        servers=knobs(close_every=60),
    ),
    Setup(
        "closes-each",
        "closes the connection after each answer, and says so",
        ("connections-per-request",),
        servers=knobs(say_close_every=1),
    ),
    Setup(
        "closes-quietly",
        "closes the connection after each answer, and does not say so",
        ("connections-per-request",),
        servers=knobs(close_after_answer=1),
    ),
    Setup(
        "closes-often",
        "closes the connection after every 30th answer",
        ("connections-per-request",),
        servers=knobs(say_close_every=30),
    ),
    Setup(
        "mute",
        "one request in 500 is never answered",
        ("timeouts", ERRORS),
        servers=knobs(mute_every=500),
        never=("needs-rest",),
    ),
    Setup(
        "mute-connections",
        "only the first eight connections are ever answered",
        ("timeouts", ERRORS),
        servers=knobs(mute_beyond=8),
    ),
    Setup(
        "connection-limit",
        "holds eight connections and resets all further ones",
        ("connections-not-held", BROKEN),
        servers=knobs(most_connections=8),
    ),
    Setup(
        "deaf",
        "closes its listener after 20 connections, and every 200th of those that it has",
        (f"{BROKEN}|nothing-answered",),
        servers=knobs(deaf_after=24, say_close_every=200),
    ),
    Setup(
        "slow-drip",
        "every 300th answer comes byte by byte, and takes longer than the timeout",
        ("timeouts", ERRORS),
        servers=knobs(drip_every=300, body_bytes=400),
        load=work(FILLED),
    ),
    Setup(
        "wrong-when-unpacked",
        "compressed answers that are wrong when they are unpacked",
        ("contract-broken",),
        servers=knobs(gzip=1, wrong_body_every=1),
        contract=PACKED,
        load=PACKED_WORK,
    ),
    Setup(
        "packed-wrong-bytes",
        "every 100th compressed answer has no content",
        WRONG,
        servers=knobs(gzip=1, blank_body_every=100),
        load=PACKED_WORK,
    ),
    Setup(
        "content-instead-of-none",
        "one request in 50 is answered with 500 and a body, where 304 is expected",
        FAILED,
        servers=knobs(status_from=1, status=304, fault=1, fault_ppm=20_000),
        load=work({"status": 304}),
    ),
    Setup("answers-anything", "an unknown path gets 200", ("contract-broken",), servers=knobs(unknown_is_200=1)),
    Setup("any-method", "POST is taken for GET", ("contract-broken",), servers=knobs(any_method=1)),
    Setup(
        "wrong-content-type",
        "text is said to be application/octet-stream",
        ("contract-broken",),
        servers=knobs(octet_stream=1),
    ),
    Setup(
        "sometimes-another-type",
        "one answer in a thousand is said to be HTML, and the load does not state the type",
        ("media-type-varies",),
        servers=knobs(other_type_every=1000),
    ),
    Setup(
        "forgets-under-load",
        "unknown paths get 404 before the load and 200 after it",
        ("contract-broken-after-load",),
        servers=knobs(forget_after=300),
    ),
    Setup(
        "refuses-half",
        "two contenders; one answers half of the requests with a 429 that the load allows",
        ("unequal-statuses",),
        servers=(*knobs(), *knobs(status_every=2, status=429)),
        load=ANY_STATUS,
    ),
    Setup(
        "fails-while-warming-up",
        "one request in five gets 500 in the first second, and none after it",
        ("warm-up-failed",),
        servers=knobs(fault=1, fault_ppm=200_000, fault_to_ms=1000, work_us=60),
    ),
    Setup(
        "longer-heads",
        "two contenders; the answers of one have 2 KB of header fields more",
        ("unequal-heads",),
        servers=(*knobs(), *knobs(header_bytes=2048)),
    ),
    Setup(
        "longer-bodies",
        "two contenders; the bodies of one are 60 bytes longer, and the pattern allows it",
        ("unequal-bodies",),
        servers=(*knobs(), *knobs(pad_bytes=60)),
        load=work(FILLED),
    ),
)
