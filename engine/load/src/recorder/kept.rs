//! The stamps of the slowest requests, and of some drawn at random from all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Nanos;
use crate::connection::InFlight;
use crate::job::Tail;
use crate::random::Random;

/// One request's times: whole microseconds since the first intended send.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
pub struct Stamps {
    /// When it was due.
    pub due: i64,
    /// When it was sent.
    pub sent: i64,
    /// When the first part of the response came.
    pub first: i64,
    /// When its last part came.
    pub last: i64,
    /// How late it was sent although a place was free: the generator's doing, and no part of the latency. µs.
    pub late: i64,
    /// How long the connection took to open, if it was opened for this request. µs.
    pub opening: i64,
    /// The client's local port.
    pub port: u16,
    /// Its index in the mix.
    pub request: u16,
}

impl Stamps {
    /// Its latency, in microseconds.
    #[must_use]
    pub const fn latency(&self) -> i64 {
        self.last - self.due - self.late
    }

    const fn since(self, origin: Nanos) -> Self {
        let zero = origin.0 as i64;
        Self {
            due: (self.due - zero).div_euclid(1000),
            sent: (self.sent - zero).div_euclid(1000),
            first: (self.first - zero).div_euclid(1000),
            last: (self.last - zero).div_euclid(1000),
            late: self.late / 1000,
            opening: self.opening / 1000,
            ..self
        }
    }
}

/// What is kept, in nanoseconds of the engine's clock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    /// The last response that came in parts: which one, and how long after its first part the rest came.
    #[serde(skip)]
    rest: ((u64, Nanos), Nanos),
    slowest: BinaryHeap<Reverse<(i64, Stamps)>>,
    sampled: Vec<Stamps>,
    most: (usize, usize),
    seen: u64,
    #[serde(skip, default = "unseeded")]
    random: Random,
    /// By connection: its local port, and how long it took to open if its first request waited for it.
    #[serde(skip)]
    connections: Vec<(u16, Nanos)>,
}

const fn unseeded() -> Random {
    Random::new(0)
}

impl Kept {
    /// Nothing yet.
    #[must_use]
    pub fn new(tail: &Tail, seed: u64) -> Self {
        Self {
            rest: Default::default(),
            slowest: BinaryHeap::new(),
            sampled: Vec::new(),
            most: (tail.slowest as usize, tail.sampled as usize),
            seen: 0,
            random: Random::new(seed ^ 0x7461_696c),
            connections: Vec::new(),
        }
    }

    /// A connection was opened from a local port, and took so long for a request that waits for it.
    pub fn opened(&mut self, slot: u32, port: u16, took: Nanos) {
        let place = slot as usize;
        if place >= self.connections.len() {
            self.connections.resize(place + 1, Default::default());
        }
        self.connections[place] = (port, took);
    }

    /// A response came in parts, the rest so long after the first. It may turn out to be wrong, or not to be counted.
    pub fn came_in_parts(&mut self, request: InFlight, rest: Nanos) {
        self.rest = (which(request), rest);
    }

    /// A right response came. One comparison for most of them.
    #[inline]
    pub fn take(&mut self, slot: u32, request: InFlight, now: Nanos) {
        let (of, rest) = self.rest;
        let rest = if of == which(request) {
            rest
        } else {
            Nanos::ZERO
        };
        let Some((port, opening)) = self.connections.get_mut(slot as usize) else {
            return;
        };
        let stamps = Stamps {
            due: request.intended.0 as i64,
            sent: request.sent.0 as i64,
            first: now.saturating_sub(rest).0 as i64,
            last: now.0 as i64,
            late: i64::from(request.late),
            opening: std::mem::take(opening).0 as i64,
            port: *port,
            request: request.kind,
        };
        let latency = request.latency(now).0 as i64;
        self.seen += 1;
        if self.slowest.len() < self.most.0 {
            self.slowest.push(Reverse((latency, stamps)));
        } else if let Some(mut least) = self.slowest.peek_mut()
            && least.0.0 < latency
        {
            *least = Reverse((latency, stamps));
        }
        // Vitter's algorithm R: each request is kept with the same probability.
        if self.sampled.len() < self.most.1 {
            self.sampled.push(stamps);
        } else {
            let place = (self.random.next() % self.seen) as usize;
            if let Some(kept) = self.sampled.get_mut(place) {
                *kept = stamps;
            }
        }
    }

    /// The slowest, in times since `origin`.
    pub fn slowest(&self, origin: Nanos) -> impl Iterator<Item = Stamps> + '_ {
        self.slowest.iter().map(move |one| one.0.1.since(origin))
    }

    /// Those drawn at random, in times since `origin`.
    pub fn sampled(&self, origin: Nanos) -> impl Iterator<Item = Stamps> + '_ {
        self.sampled.iter().map(move |one| one.since(origin))
    }
}

/// Tells a request from all others of its thread: the steps of a journey have one counter.
const fn which(request: InFlight) -> (u64, Nanos) {
    (request.counter, request.sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_kept_and_each_request_has_the_same_chance_to_be_drawn() {
        let tail = Tail {
            slowest: 3,
            sampled: 50,
            interval_s: 0.001,
            addresses: Vec::new(),
        };
        let mut kept = Kept::new(&tail, 1);
        kept.opened(0, 4321, Nanos::from_millis(2));
        for millis in 0..1000_u64 {
            let request = InFlight {
                intended: Nanos::from_millis(1000),
                sent: Nanos::from_millis(1000),
                ..InFlight::default()
            };
            kept.take(0, request, Nanos::from_millis(1000 + millis * 7 % 1000));
        }
        let mut slowest: Vec<_> = kept.slowest(Nanos::ZERO).collect();
        slowest.sort_by_key(|stamps| Reverse(stamps.latency()));
        let found: Vec<_> = slowest.iter().map(Stamps::latency).collect();
        assert_eq!(found, [999_000, 998_000, 997_000]);
        assert!(slowest.iter().all(|stamps| stamps.port == 4321));
        let sampled: Vec<_> = kept.sampled(Nanos::ZERO).collect();
        assert_eq!(sampled.len(), 50);
        let mean = sampled.iter().map(Stamps::latency).sum::<i64>() / 50;
        assert!((300_000..700_000).contains(&mean), "{mean}");
    }

    #[test]
    fn the_first_part_of_a_response_that_is_not_kept_is_not_that_of_the_next() {
        let tail = Tail {
            slowest: 3,
            sampled: 0,
            interval_s: 0.001,
            addresses: Vec::new(),
        };
        let mut kept = Kept::new(&tail, 1);
        kept.opened(0, 4321, Nanos::ZERO);
        let request = |counter| InFlight {
            counter,
            ..InFlight::default()
        };
        kept.came_in_parts(request(1), Nanos::from_millis(5));
        kept.take(0, request(2), Nanos::from_millis(10));
        kept.came_in_parts(request(3), Nanos::from_millis(5));
        kept.take(0, request(3), Nanos::from_millis(30));
        let mut found: Vec<_> = kept
            .slowest(Nanos::ZERO)
            .map(|stamps| (stamps.first, stamps.last))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(10_000, 10_000), (25_000, 30_000)]);
    }
}
