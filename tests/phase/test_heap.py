"""What is read of runtimes' logs of their collections."""

from __future__ import annotations

from touchstone.phase.profile.heap import (
    Collection,
    bearable_rate,
    go_collections,
    heap_counts,
    hotspot_collections,
    mapped_data,
)
from touchstone.record.evidence.profile import ProfilePass

G1 = """[0.812s] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 88M->12M(256M) 3.251ms
[5.002s] GC(3) Pause Full (System.gc()) 40M->10M(64M) 12.100ms
[6.000s] GC(4) Concurrent Mark Cycle 5.000ms
[6.500s] GC(5) Pause Young (Normal) (G1 Evacuation Pause) 130M->11M(256M) 1.001ms
[7.002s] GC(6) Pause Full (System.gc()) 91M->10M(64M) 11.900ms
"""
ZGC = "[3.100s] GC(7) Garbage Collection (System.gc()) 58M(6%)->12M(1%) 20.100ms\n"
_TIMES = "0.01+0.4+0.00 ms clock, 0.02+0.1/0.3/0.2+0.01 ms cpu"
_REST = "0 MB stacks, 1 MB globals, 2 P"
GO = f"""listening
gc 9 @1.500s 1%: {_TIMES}, 80->81->8 MB, 81 MB goal, {_REST}
2026/11/22 a line of the service's own
gc 10 @2.000s 1%: {_TIMES}, 80->80->9 MB, 82 MB goal, {_REST}
gc 11 @2.500s 1%: {_TIMES}, 82->82->9 MB, 82 MB goal, {_REST}
gc 12 @2.600s 1%: {_TIMES}, 10->10->9 MB, 82 MB goal, {_REST} (forced)
"""
PASS = ProfilePass(seconds=4.0, requests=4_000)


def test_collections_of_hotspot_are_read_whatever_collects() -> None:
    assert hotspot_collections(G1)[1:] == [
        Collection(5.002, 40, 10, forced=True),
        Collection(6.5, 130, 11),
        Collection(7.002, 91, 10, forced=True),
    ]
    assert hotspot_collections(ZGC) == [Collection(3.1, 58, 12, forced=True)]


def test_collections_of_go_are_read_among_the_service_s_own_lines() -> None:
    assert go_collections(GO) == [
        Collection(1.5, 80, 8),
        Collection(2.0, 80, 9),
        Collection(2.5, 82, 9),
        Collection(2.6, 10, 9, forced=True),
    ]


def test_what_was_allocated_is_what_filled_the_heap_between_collections() -> None:
    counted = heap_counts(hotspot_collections(G1)[1:], PASS, 1000.0)
    assert counted.requests == 2_000, "those between the first collection and the last"
    assert counted.counts == {"collections": 1, "allocated": (120 + 80) * 2**20}
    counted = heap_counts(go_collections(GO)[:3], PASS, 1000.0)
    assert counted.requests == 1_000
    assert counted.counts == {"collections": 2, "allocated": (72 + 73) * 2**20}


def test_what_drowns_in_whole_mebibytes_is_left_out() -> None:
    small = [Collection(0.1 * at, 4, 1) for at in range(5)]
    assert heap_counts(small, PASS, 1000.0).counts == {"collections": 4}


def test_a_pass_without_two_collections_tells_their_number_alone() -> None:
    assert heap_counts([], PASS, 1000.0).counts == {"collections": 0}
    one = heap_counts([Collection(1.0, 80, 8)], PASS, 1000.0)
    assert (one.counts, one.requests) == ({"collections": 1}, 4_000)


def test_a_program_that_never_frees_is_asked_for_less_where_it_allocates_much() -> None:
    mib_a_request = [Collection(0.1 * at, 99, 1) for at in range(10)]
    assert bearable_rate(1000.0, 2.0, mib_a_request, 1_000) == 256.0
    assert bearable_rate(1000.0, 2.0, [Collection(1.0, 4, 1)], 1_000) == 1000.0
    assert bearable_rate(1000.0, 2.0, [], 1_000) == 1000.0


def test_the_stack_of_a_thread_is_none_of_what_requests_allocate() -> None:
    maps = """00400000-00684000 r-xp 00000000 fe:00 17 /srv/program
0098f000-0099f000 rw-p 00000000 00:00 0
7f940800d000-7f940802d000 rw-p 00000000 00:00 0
7f940b7ff000-7f940b800000 ---p 00000000 00:00 0
7f940b800000-7f940c000000 rw-p 00000000 00:00 0
7f940c000000-7f940c021000 rw-p 00000000 00:00 0
7f940c021000-7f9410000000 ---p 00000000 00:00 0
7f9410000000-7f9410021000 rw-p 00000000 00:00 0
"""
    assert mapped_data(maps) == 0x10000 + 0x20000 + 0x21000 + 0x21000
