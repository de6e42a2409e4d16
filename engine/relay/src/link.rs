//! One connection of the service, and its counterpart to the dependency.

use crate::flow::{Flow, Passed};
use crate::order::Counts;
use std::io;
use touchstone_exchange::random::Random;
use touchstone_sys::clock::{Nanos, nanos};
use touchstone_sys::socket::Stream;

/// Bytes that one read takes.
pub const READ: usize = 64 * 1024;
/// How often a dripping connection passes on a piece.
const DRIPS_PER_S: f64 = 50.0;

/// When the bytes of the dependency are passed on.
#[derive(Debug, Clone, Copy)]
pub enum Pace {
    /// As they come.
    Prompt,
    /// After a delay, in seconds, give or take the jitter.
    Slow(f64, f64),
    /// At this number of bytes per second.
    Drip(f64),
}

/// One end of a link.
pub struct End {
    /// Its socket.
    pub stream: Stream,
    /// Whether something may be there to read.
    pub readable: bool,
    /// Whether something may be written.
    pub writable: bool,
    /// Whether the kernel reported an error, such as a reset that came after the end.
    pub failed: bool,
}

/// A connection through the relay.
pub struct Link {
    /// The service's end.
    pub service: End,
    /// The dependency's end; `None` while it is not to be connected yet.
    pub dependency: Option<End>,
    /// When it is to be woken, if that is set.
    pub wakes_at: Option<Nanos>,
    up: Flow,
    down: Flow,
    answered: bool,
}

/// What became of a link.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on; there is something to be done at that time, if at any.
    Open(Option<Nanos>),
    /// Both directions have ended.
    Over,
    /// One end is gone.
    Broken,
}

impl Link {
    /// A link whose service has just connected.
    pub fn new(service: Stream) -> Self {
        Self {
            service: End {
                stream: service,
                readable: true,
                writable: true,
                failed: false,
            },
            dependency: None,
            wakes_at: None,
            up: Flow::default(),
            down: Flow::default(),
            answered: false,
        }
    }

    /// Makes all that is held due at once.
    pub fn hurry(&mut self) {
        self.up.hurry();
        self.down.hurry();
    }

    /// Reads and passes on all that can be, as far as nothing is held back by a stall.
    pub fn pump(
        &mut self,
        pace: Pace,
        stalled: bool,
        now: Nanos,
        counts: &mut Counts,
        dice: &mut Random,
        buffer: &mut [u8],
    ) -> State {
        let answered = &mut self.answered;
        loop {
            let up = fill(
                &mut self.up,
                &mut self.service,
                stalled,
                buffer,
                |up, bytes| {
                    counts.turns += u64::from(std::mem::take(answered));
                    counts.from_service += bytes.len() as u64;
                    up.push(bytes, now);
                },
            );
            let Some(mut moved) = up else {
                return State::Broken;
            };
            if let Some(dependency) = &mut self.dependency {
                let down = fill(
                    &mut self.down,
                    dependency,
                    stalled,
                    buffer,
                    |down, bytes| {
                        *answered = true;
                        counts.from_dependency += bytes.len() as u64;
                        queue(down, bytes, pace, now, dice);
                    },
                );
                let Some(more) = down else {
                    return State::Broken;
                };
                moved |= more;
            }
            if stalled {
                if !moved {
                    return State::Open(None);
                }
                continue;
            }
            let Some(dependency) = &mut self.dependency else {
                return State::Open(None);
            };
            let passed = [
                pass(&mut self.up, dependency, now),
                pass(&mut self.down, &mut self.service, now),
            ];
            if passed.contains(&Passed::Broken) {
                return State::Broken;
            }
            if self.up.is_over() && self.down.is_over() {
                return State::Over;
            }
            // An end that has been passed on is read no more, so its reset shows here alone.
            if self.down.is_over() && dependency.failed || self.up.is_over() && self.service.failed
            {
                return State::Broken;
            }
            if !moved {
                return State::Open(self.next_due(now));
            }
        }
    }

    fn next_due(&self, now: Nanos) -> Option<Nanos> {
        let due = [self.up.next_due(), self.down.next_due()];
        due.into_iter().flatten().filter(|at| *at > now).min()
    }
}

enum Took {
    Bytes(usize),
    Nothing,
    End,
    Gone,
}

/// Reads what has come from an end, as far as the flow has room, and `keep`s it there. Gives whether there was any; none where
/// the end is gone. A stall holds that back as well.
fn fill(
    flow: &mut Flow,
    from: &mut End,
    stalled: bool,
    buffer: &mut [u8],
    mut keep: impl FnMut(&mut Flow, &[u8]),
) -> Option<bool> {
    let mut moved = false;
    while from.readable && flow.has_room() {
        match take(from, buffer) {
            Took::Bytes(n) => {
                keep(flow, &buffer[..n]);
                moved = true;
            }
            Took::Nothing => {}
            Took::Gone if !stalled => return None,
            Took::End | Took::Gone => flow.end(),
        }
    }
    Some(moved)
}

fn take(end: &mut End, buffer: &mut [u8]) -> Took {
    match end.stream.receive(buffer) {
        Ok(0) => {
            end.readable = false;
            Took::End
        }
        Ok(n) => Took::Bytes(n),
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Took::Nothing,
        Err(e) => {
            end.readable = false;
            if e.kind() == io::ErrorKind::WouldBlock {
                Took::Nothing
            } else {
                Took::Gone
            }
        }
    }
}

fn pass(flow: &mut Flow, to: &mut End, now: Nanos) -> Passed {
    if !to.writable {
        return Passed::Blocked;
    }
    let passed = flow.pass(&to.stream, now);
    to.writable = passed != Passed::Blocked;
    passed
}

fn queue(flow: &mut Flow, bytes: &[u8], pace: Pace, now: Nanos, dice: &mut Random) {
    match pace {
        Pace::Prompt => flow.push(bytes, now),
        Pace::Slow(delay_s, jitter_s) => {
            let drawn = delay_s + jitter_s * (2.0 * dice.unit() - 1.0);
            flow.push(bytes, now + nanos(drawn));
        }
        Pace::Drip(bytes_per_s) => {
            let piece = (bytes_per_s / DRIPS_PER_S).ceil().max(1.0);
            flow.drip(bytes, now, piece as usize, nanos(piece / bytes_per_s));
        }
    }
}
