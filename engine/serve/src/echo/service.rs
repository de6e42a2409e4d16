//! What a worker of the echo does with a request: waits, then answers.

use crate::echo::settings::{Fault, FaultCell};
use crate::echo::stats::{Stats, lock};
use crate::echo::wheel::Wheel;
use crate::echo::{Shared, control};
use crate::head::Request;
use crate::response::Canned;
use crate::route::{parameter, split};
use crate::worker::{Order, Peer, Service};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstone_sys::clock::{Nanos, monotonic};

/// An answer that waits for its time.
struct Answer {
    peer: Peer,
    status: u16,
    old: bool,
    keep_alive: bool,
    head: bool,
}

/// One worker's state.
pub struct Echo {
    number: usize,
    shared: Arc<Shared>,
    canned: HashMap<u16, Canned>,
    wheel: Wheel<Answer>,
    /// When the last answer of a connection is due: pipelined ones keep their order even when the delay changes.
    last_due: HashMap<i32, (u32, Nanos)>,
    fired: Vec<(Nanos, Answer)>,
    now: Nanos,
}

impl Echo {
    pub fn new(number: usize, shared: Arc<Shared>) -> Self {
        let now = monotonic();
        let settings = &shared.settings;
        let ok = Canned::new(200, &settings.content_type, settings.body.as_bytes());
        let canned = HashMap::from([
            (200, ok),
            (404, Canned::new(404, "text/plain", b"only /echo is here\n")),
        ]);
        Self {
            number,
            canned,
            shared,
            wheel: Wheel::new(now),
            last_due: HashMap::new(),
            fired: Vec::new(),
            now,
        }
    }

    fn stats(&self) -> &Stats {
        &self.shared.stats
    }

    fn fault(&self) -> &FaultCell {
        &self.shared.fault
    }
}

impl Service for Echo {
    fn request(&mut self, peer: Peer, request: &Request<'_>, out: &mut Vec<u8>) {
        let (path, query) = split(request.target);
        if path.starts_with(b"/_") {
            out.extend_from_slice(&control::answer(&self.shared, request));
            return;
        }
        lock(&self.stats().workers[self.number]).count_path(path);
        if path != b"/echo" {
            let canned = &self.canned[&404];
            out.extend_from_slice(canned.bytes(
                request.old,
                request.keep_alive,
                request.method == b"HEAD",
            ));
            return;
        }
        if let Some(id) = parameter(query, b"id") {
            self.stats().arrived(self.now, id);
        }
        self.stats().began();
        let (status, delay) = match self.fault().get() {
            Fault::Status(code) => (code, self.shared.settings.delay),
            Fault::Slow(delay) => (200, delay),
            Fault::Off | Fault::Refuse => (200, self.shared.settings.delay),
        };
        let mut due = self.now + delay;
        let last = self
            .last_due
            .entry(peer.fd)
            .or_insert((peer.generation, Nanos::ZERO));
        if last.0 == peer.generation {
            // Later by the least that there is: answers of one moment have no order.
            due = due.max(last.1 + Nanos(1));
        }
        *last = (peer.generation, due);
        let answer = Answer {
            peer,
            status,
            old: request.old,
            keep_alive: request.keep_alive,
            head: request.method == b"HEAD",
        };
        self.wheel.insert(due, answer);
    }

    fn opened(&mut self) {
        self.stats().opened();
    }

    fn closed(&mut self) {
        self.stats().closed();
    }

    fn batch(&mut self) {
        self.now = monotonic();
    }

    fn patience(&mut self) -> Option<Duration> {
        self.wheel
            .next_due()
            .map(|due| Duration::from(due.saturating_sub(monotonic())))
    }

    fn due(&mut self) -> Option<(Peer, Vec<u8>, bool)> {
        if self.fired.is_empty() {
            if self.wheel.len() == 0 {
                return None;
            }
            self.now = monotonic();
            self.wheel.fire(self.now, &mut self.fired);
            self.fired.reverse();
        }
        let (due, answer) = self.fired.pop()?;
        let canned = self
            .canned
            .entry(answer.status)
            .or_insert_with(|| Canned::new(answer.status, "text/plain", b""));
        let bytes = canned
            .bytes(answer.old, answer.keep_alive, answer.head)
            .to_vec();
        self.stats().ended();
        lock(&self.shared.stats.workers[self.number]).count_answer(monotonic().saturating_sub(due));
        Some((answer.peer, bytes, !answer.keep_alive))
    }

    fn lost(&mut self) {
        let mut stats = lock(&self.shared.stats.workers[self.number]);
        stats.answered -= 1;
        stats.lost += 1;
    }

    fn order(&mut self) -> Order {
        if self.shared.stopping.load(Ordering::Acquire) {
            return Order::Stop;
        }
        match self.fault().get() {
            Fault::Refuse => Order::Refuse,
            _ => Order::Serve,
        }
    }
}
