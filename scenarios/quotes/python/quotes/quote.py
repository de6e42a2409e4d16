"""The quotes themselves: the same answer for every way that leads to it."""

import asyncio
import re
import time
from collections.abc import AsyncIterator

from quotes.quotes_pb2 import Quote

MOST = 1000
_SYMBOL = re.compile(r"[A-Z][A-Z0-9]{0,7}")


def is_symbol(text: str) -> bool:
    """Whether a text is a capital letter, and up to seven capital letters and digits."""
    return _SYMBOL.fullmatch(text) is not None


def quote(symbol: str, number: int) -> Quote:
    """The quote of a symbol with a number, as of now."""
    bid = 10_000 + (sum(symbol.encode()) * 7 + number) % 5_000
    return Quote(symbol=symbol, number=number, bid=bid, ask=bid + 5, stamp=time.time_ns() // 1000)


def fits(count: int, interval_ms: int) -> bool:
    """Whether 1 to 1000 quotes are asked for, 0 to 1000 milliseconds apart."""
    return 1 <= count <= MOST and 0 <= interval_ms <= MOST


async def quotes(symbol: str, count: int, interval_ms: int) -> AsyncIterator[Quote]:
    """The quotes of a symbol, one after the other."""
    for number in range(1, count + 1):
        if number > 1 and interval_ms:
            await asyncio.sleep(interval_ms / 1000)
        yield quote(symbol, number)
