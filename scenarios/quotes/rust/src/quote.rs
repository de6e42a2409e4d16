//! The quotes themselves: the same answer for every way that leads to it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_core::Stream;

use crate::rpc::pb::Quote;

const MOST: i32 = 1000;

/// Quotes that are asked for in a stream.
#[derive(Clone, Copy)]
pub struct Wanted {
    count: i32,
    interval: Duration,
}

impl Wanted {
    /// 1 to 1000 quotes, 0 to 1000 milliseconds apart; nothing if it is not that.
    pub fn new(count: i32, interval_ms: i32) -> Option<Self> {
        let fits = (1..=MOST).contains(&count) && (0..=MOST).contains(&interval_ms);
        fits.then(|| Self {
            count,
            interval: Duration::from_millis(interval_ms as u64),
        })
    }
}

/// Whether a text is a symbol: a capital letter, and up to seven capital letters and digits.
pub fn is_symbol(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    text.len() <= 8
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(plain)
}

/// The quote of a symbol with a number, as of now.
pub fn quote(symbol: &str, number: i32) -> Quote {
    let sum: i32 = symbol.bytes().map(i32::from).sum();
    let bid = 10_000 + (sum * 7 + number) % 5_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Quote {
        symbol: symbol.to_owned(),
        number,
        bid,
        ask: bid + 5,
        stamp: now.map_or(0, |since| since.as_micros() as i64),
    }
}

/// The quotes of a symbol, one after the other; nothing is held back or made ahead.
pub fn quotes(symbol: String, wanted: Wanted) -> impl Stream<Item = Quote> {
    async_stream::stream! {
        for number in 1..=wanted.count {
            if number > 1 && !wanted.interval.is_zero() {
                tokio::time::sleep(wanted.interval).await;
            }
            yield quote(&symbol, number);
        }
    }
}
