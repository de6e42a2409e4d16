//! The control request between two cases: a plain GET, which has to be answered as it was before the first case.
//!
//! A case is judged only where the control request behind it was answered so. A service that has begun to refuse, that is
//! stuck or that has gone says nothing about HTTP any more, and is not called wrong for it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::target::{Control, Target};

/// How long a control request may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a server that refuses is asked again: one that restarts, or that limits new clients per second, recovers.
const SECOND_CHANCE: Duration = Duration::from_secs(1);
/// Control requests that a server may leave unanswered in a row. A server with one thread is busy for as long as a slow case.
const MUTE: u32 = 4;
/// Gap between two control requests.
const GAP: Duration = Duration::from_millis(100);
/// Most cases that are named as played at the same time.
const NAMED: usize = 6;

/// Why no case is judged from a point on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Nothing listens.
    Gone,
    /// Plain requests are refused or left without an answer.
    Refuses,
}

/// The service stopped serving plain requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The case after which it began.
    pub after: String,
    /// How.
    pub kind: LossKind,
    /// What a plain GET got, such as `was answered 429 in place of 200`.
    pub what: String,
}

/// What the control request after a case found.
pub(crate) enum Found {
    /// The answer that a plain GET always got, after this number of seconds.
    Sound(f64),
    /// That answer, but not at once: the case before it may have met what came before, in these words.
    Late(LossKind, String),
    /// No answer within [`PATIENCE`], and then one.
    Mute,
    /// The service is lost.
    Lost(Loss),
}

/// What all cases of a run know of the service's state.
#[derive(Default)]
pub(crate) struct Watch {
    lost: Mutex<Option<Loss>>,
    playing: Mutex<BTreeSet<String>>,
    /// Whether the body of a plain GET has changed, so that it is not a yardstick any more.
    body_changed: AtomicBool,
    /// Held by each case that is played, and alone by one that is played again because the service failed behind it: only
    /// then is it clear which case that was.
    pub alone: RwLock<()>,
}

impl Watch {
    /// How the service was lost, if it was.
    pub fn loss(&self) -> Option<Loss> {
        self.lost.lock().expect("no panic holds it").clone()
    }

    pub fn body_changed(&self) -> bool {
        self.body_changed.load(Ordering::SeqCst)
    }

    /// A case begins.
    pub fn begins(&self, case: &Case) {
        let mut playing = self.playing.lock().expect("no panic holds it");
        playing.insert(case.id.clone());
    }

    /// A case has ended.
    pub fn ends(&self, case: &Case) {
        let mut playing = self.playing.lock().expect("no panic holds it");
        playing.remove(&case.id);
    }

    /// Other cases that are being played, in words that follow a sentence; empty if there are none.
    pub fn others(&self, case: &Case) -> String {
        let playing = self.playing.lock().expect("no panic holds it");
        let others: Vec<&str> = playing
            .iter()
            .map(String::as_str)
            .filter(|id| *id != case.id)
            .collect();
        if others.is_empty() {
            return String::new();
        }
        let named = NAMED.min(others.len());
        let more = match others.len() - named {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        format!(
            ", and so were {}{more}; play them one by one with --only",
            others[..named].join(", ")
        )
    }

    /// The service is lost after this case, unless it was lost before. Returns the loss that counts.
    pub fn lose(&self, case: &Case, kind: LossKind, what: String) -> Loss {
        let mut lost = self.lost.lock().expect("no panic holds it");
        lost.get_or_insert_with(|| Loss {
            after: case.id.clone(),
            kind,
            what,
        })
        .clone()
    }

    /// Sends control requests after a case until it is clear how the service is.
    pub fn control(&self, target: &Target, case: &Case) -> Found {
        let end = Instant::now() + SECOND_CHANCE;
        let (mut mute, mut refusal) = (0, None);
        loop {
            let control = target.control(PATIENCE);
            if let Some(loss) = self.loss() {
                return Found::Lost(loss);
            }
            let (kind, what) = match control {
                Control::Answers(_, same_body) if !same_body && !self.body_changed() => {
                    self.body_changed.store(true, Ordering::SeqCst);
                    let what = "a plain GET has another body";
                    return Found::Late(LossKind::Refuses, what.into());
                }
                Control::Answers(seconds, _) => {
                    return match (refusal, mute) {
                        (Some((kind, what)), _) => Found::Late(kind, what),
                        (None, 0) => Found::Sound(seconds),
                        (None, _) => Found::Mute,
                    };
                }
                Control::Mute => {
                    mute += 1;
                    let seconds = PATIENCE.as_secs() * u64::from(mute);
                    let what = format!("a plain GET was left without an answer for {seconds} s");
                    (LossKind::Refuses, what)
                }
                Control::Differs(what) => (LossKind::Refuses, format!("a plain GET {what}")),
                Control::Gone(what) => (
                    LossKind::Gone,
                    format!("a plain GET got no connection ({what})"),
                ),
            };
            let over = match mute {
                0 => Instant::now() >= end,
                _ => mute >= MUTE,
            };
            if over {
                return Found::Lost(self.lose(case, kind, what));
            }
            if mute == 0 {
                refusal = Some((kind, what));
            }
            thread::sleep(GAP);
        }
    }
}
