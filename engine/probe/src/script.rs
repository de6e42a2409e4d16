//! Plays one case on one fresh connection.

use std::io;
use std::time::{Duration, Instant};

use crate::case::{Case, Cut, Step};
use crate::connection::{Connection, Ended};
use crate::h2::opening::{Answered, opening};
use crate::observation::{Ending, Observation};
use crate::response::{Reading, Tail};
use crate::target::Target;
use crate::template;
use crate::verdict::{self, Verdict};

/// How long the probe looks before it calls the connection open, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Quiet that settles a right outcome.
    pub settle: Duration,
    /// Quiet that settles any other outcome with whole responses: longer, since a right one may
    /// be on its way. Cases with a patience of their own (timeouts) wait to its end instead.
    pub linger: Duration,
    /// Longest wait after the last step, unless the case says otherwise.
    pub patience: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            settle: Duration::from_millis(200),
            linger: Duration::from_millis(1000),
            patience: Duration::from_millis(2000),
        }
    }
}

/// How many times its patience the probe looks at a server that goes on sending.
const TALK: u32 = 6;

/// Gap between the two parts of a request that is cut at every byte: there are hundreds of plays.
const SHORT_GAP: Duration = Duration::from_millis(4);

/// The same where there are few plays: a busy server may see both parts at once after the short one.
const LONG_GAP: Duration = Duration::from_millis(50);

/// Octets of the case's first `send`: a case played at every byte has one play fewer than this.
pub fn first_send_length(case: &Case, target: &Target) -> usize {
    let text = case.steps.iter().find_map(|step| match step {
        Step::Send(text) => Some(text),
        _ => None,
    });
    text.map_or(0, |text| octets(text, target).len())
}

/// Plays the case. `cut` divides its first `send` there, with a pause between the parts.
///
/// # Errors
/// When no connection comes about.
pub fn play(
    case: &Case,
    target: &Target,
    timing: Timing,
    cut: Option<usize>,
) -> io::Result<Observation> {
    let patience = case.patience_s.map_or(timing.patience, |seconds| {
        Duration::from_secs_f64(seconds).max(timing.patience)
    });
    let start = Instant::now();
    let connection = target.dial.open(patience)?;
    let mut player = Player {
        connection,
        sent: Vec::new(),
        case,
        target,
        patience,
        answered: Answered::default(),
    };
    if case.http2 && !case.bare {
        player.put(&opening());
        // Where the server does not open the connection, the case shows it.
        player.wait(|reading| reading.signals.settings > 0 && reading.signals.opened);
    }
    let mut cut_left = cut;
    for step in &case.steps {
        match step {
            Step::Send(text) => player.send(&octets(text, target), cut_left.take()),
            Step::Drip(text, gap_ms) => {
                player.drip(&octets(text, target), Duration::from_millis(*gap_ms))
            }
            Step::Pause(millis) => player.pause(Duration::from_millis(*millis)),
            // What follows makes sense only after what was waited for.
            Step::Await(count) => {
                if !player.wait(|reading| reading.finals.len() >= *count) {
                    break;
                }
            }
            Step::AwaitInterim(count) => {
                let enough = |reading: &Reading| {
                    reading.interim.len() >= *count || !reading.finals.is_empty()
                };
                if !player.wait(enough) {
                    break;
                }
            }
            Step::AwaitReset => {
                if !player.wait(|reading| !reading.signals.resets.is_empty()) {
                    break;
                }
            }
            Step::AwaitData(count) => {
                if !player.wait(|reading| reading.signals.unfinished.contains(count)) {
                    break;
                }
            }
            Step::HalfClose => player.connection.half_close(),
            Step::Reset => {
                player.connection.listen(Duration::ZERO);
                let received = player.connection.received().to_vec();
                let reading = player.reading();
                player.connection.reset();
                let seconds = start.elapsed().as_secs_f64();
                let sent = player.sent;
                return Ok(Observation {
                    sent,
                    received,
                    reading,
                    ending: Ending::Abandoned,
                    seconds,
                    cut,
                    in_one_piece: None,
                });
            }
        }
    }
    Ok(player.watch(timing, start, cut))
}

fn octets(text: &str, target: &Target) -> Vec<u8> {
    template::expand(text, &target.values).expect("templates were checked when the case was loaded")
}

struct Player<'a> {
    connection: Connection,
    sent: Vec<u8>,
    case: &'a Case,
    target: &'a Target,
    patience: Duration,
    /// HTTP/2: frames of the server that were answered.
    answered: Answered,
}

impl Player<'_> {
    fn put(&mut self, octets: &[u8]) {
        let count = self.connection.send(octets, Instant::now() + self.patience);
        self.sent.extend_from_slice(&octets[..count]);
    }

    fn send(&mut self, octets: &[u8], cut: Option<usize>) {
        match cut {
            Some(at) => {
                self.put(&octets[..at]);
                self.pause(match self.case.cut {
                    Cut::InTwo => LONG_GAP,
                    _ => SHORT_GAP,
                });
                self.put(&octets[at..]);
            }
            None => self.put(octets),
        }
    }

    fn drip(&mut self, octets: &[u8], gap: Duration) {
        for octet in octets {
            if self.connection.ended().is_some() {
                return;
            }
            self.put(&[*octet]);
            self.pause(gap);
        }
    }

    fn pause(&mut self, length: Duration) {
        let end = Instant::now() + length;
        loop {
            let now = Instant::now();
            if now >= end || self.connection.ended().is_some() {
                return;
            }
            self.listen(end - now);
        }
    }

    /// Listens, and answers what every client answers, unless the case does that itself.
    fn listen(&mut self, limit: Duration) {
        self.connection.listen(limit);
        if self.case.http2 && !self.case.bare && self.connection.ended().is_none() {
            let answer = self.answered.answer(&self.reading().signals);
            if !answer.is_empty() {
                self.put(&answer);
            }
        }
    }

    fn reading(&self) -> Reading {
        let ended = self.connection.ended().is_some();
        let mut reading =
            self.target
                .dial
                .read(self.connection.received(), &self.case.methods, ended);
        if !self.case.bare {
            // That of the probe's own SETTINGS says nothing of the case's.
            reading.signals.opened = reading.signals.acks > 0;
            reading.signals.acks = reading.signals.acks.saturating_sub(1);
        }
        reading
    }

    fn wait(&mut self, enough: impl Fn(&Reading) -> bool) -> bool {
        let deadline = Instant::now() + self.patience;
        loop {
            if enough(&self.reading()) {
                return true;
            }
            let now = Instant::now();
            if now >= deadline || self.connection.ended().is_some() {
                return false;
            }
            self.listen(deadline - now);
        }
    }

    /// Looks until the outcome is settled, the connection is closed, or patience is over.
    fn watch(mut self, timing: Timing, start: Instant, cut: Option<usize>) -> Observation {
        // Patience counts from the last news, or a long pipeline would look unanswered; a server
        // that never stops sending is left in the end.
        let last = Instant::now() + self.patience * TALK;
        loop {
            let observation = self.observe(start, cut);
            let over = self.connection.quiet() >= self.patience || Instant::now() >= last;
            if self.connection.ended().is_some() || over {
                return observation;
            }
            let baseline = &self.target.baseline;
            let needed = match verdict::judge(self.case, &observation, baseline) {
                Verdict::Right => timing.settle,
                Verdict::Wrong if !verdict::undecided(self.case, &observation, baseline) => {
                    timing.settle
                }
                _ if self.case.patience_s.is_some() => self.patience,
                Verdict::Tolerated => timing.linger,
                _ if self.answered(&observation) => timing.linger,
                _ => self.patience,
            };
            let quiet = self.connection.quiet();
            if quiet >= needed {
                return observation;
            }
            self.listen(needed - quiet);
        }
    }

    /// Whether the server has said all that it is likely to say: whole responses and no beginning
    /// of another. It may still close, but it will hardly take long over that.
    fn answered(&self, seen: &Observation) -> bool {
        !seen.reading.finals.is_empty() && seen.reading.tail == Tail::Nothing
    }

    fn observe(&self, start: Instant, cut: Option<usize>) -> Observation {
        Observation {
            sent: self.sent.clone(),
            received: self.connection.received().to_vec(),
            reading: self.reading(),
            ending: match self.connection.ended() {
                None => Ending::Open,
                Some(Ended::Closed) => Ending::Closed,
                Some(Ended::Reset) => Ending::Reset,
            },
            seconds: start.elapsed().as_secs_f64(),
            cut,
            in_one_piece: None,
        }
    }
}
