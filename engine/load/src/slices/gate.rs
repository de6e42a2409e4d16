//! Where the threads of a contender sleep until they are called, and where they answer.
//!
//! A call goes to all threads of the contender, each answers once, and then the next call may follow. Threads that are not
//! called sleep without any wake-up of their own.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::order::LapPhase;
use super::part::SlicePart;
use crate::clock::Nanos;

/// One stretch of load, on the engine's clock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Turn {
    /// When it begins.
    pub begin: Nanos,
    /// When sending ends.
    pub end: Nanos,
    /// Whether it belongs to the measured load; the others are warm-up.
    pub measured: bool,
}

impl Turn {
    /// A turn that begins then and takes so long.
    #[must_use]
    pub fn from(begin: Nanos, length: Nanos, phase: LapPhase) -> Self {
        Self {
            begin,
            end: begin + length,
            measured: phase == LapPhase::Load,
        }
    }

    /// A turn that is left out.
    #[must_use]
    pub const fn passed(at: Nanos) -> Self {
        Self {
            begin: at,
            end: at,
            measured: false,
        }
    }
}

/// What the threads are to do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Call {
    /// Look at what the sockets signalled meanwhile, and replace lost connections. The job's origin comes with it.
    Settle {
        /// From which offsets count.
        origin: Nanos,
    },
    /// Put the load on.
    Begin(Turn),
    /// There is nothing to be loaded: report what came of settling.
    Pass,
    /// No turn follows.
    End,
}

/// What a thread came to.
#[derive(Debug)]
pub enum Answer {
    /// It has settled with this number of connections.
    Settled(u32),
    /// Its turn is over.
    Over(Box<SlicePart>),
}

/// A thread ended without an answer; its report says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// Where calls and answers meet.
#[derive(Debug)]
pub struct Gate {
    threads: usize,
    state: Mutex<State>,
    called: Condvar,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    call: Option<Call>,
    /// Counts the calls, so that each thread follows each of them once.
    number: u64,
    answers: Vec<Answer>,
    gone: bool,
}

impl Gate {
    /// A gate for a number of threads.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        Self {
            threads: threads as usize,
            state: Mutex::default(),
            called: Condvar::new(),
            answered: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls all threads.
    pub fn call(&self, call: Call) {
        let mut state = self.state();
        state.call = Some(call);
        state.number += 1;
        state.answers.clear();
        self.called.notify_all();
    }

    /// Sleeps until every thread has answered the last call.
    ///
    /// # Errors
    /// [`Gone`] if a thread ended instead.
    pub fn answers(&self) -> Result<Vec<Answer>, Gone> {
        let mut state = self.state();
        while state.answers.len() < self.threads && !state.gone {
            state = self
                .answered
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.gone {
            return Err(Gone);
        }
        Ok(std::mem::take(&mut state.answers))
    }

    /// A thread sleeps until a call comes that it has not `seen`.
    #[must_use]
    pub fn next(&self, seen: &mut u64) -> Call {
        let mut state = self.state();
        loop {
            if let Some(call) = state.call.filter(|_| state.number > *seen) {
                *seen = state.number;
                return call;
            }
            state = self
                .called
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A thread answers.
    pub fn answer(&self, answer: Answer) {
        let mut state = self.state();
        state.answers.push(answer);
        if state.answers.len() == self.threads {
            self.answered.notify_one();
        }
    }

    /// Whether a thread has ended.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.state().gone
    }

    /// A thread has ended: nobody is to wait for it.
    pub fn leave(&self) {
        self.state().gone = true;
        self.answered.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_thread_follows_every_call_once() {
        let gate = Arc::new(Gate::new(3));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || {
                    let (mut seen, mut calls) = (0, 0);
                    while !matches!(gate.next(&mut seen), Call::End) {
                        calls += 1;
                        gate.answer(Answer::Settled(calls));
                    }
                    calls
                })
            })
            .collect();
        for round in 1..=100 {
            gate.call(Call::Settle {
                origin: Nanos::ZERO,
            });
            let answers = gate.answers().unwrap();
            assert_eq!(answers.len(), 3);
            assert!(
                answers
                    .iter()
                    .all(|answer| matches!(answer, Answer::Settled(calls) if *calls == round))
            );
        }
        gate.call(Call::End);
        for thread in threads {
            assert_eq!(thread.join().unwrap(), 100);
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_ended() {
        let gate = Arc::new(Gate::new(2));
        let theirs = Arc::clone(&gate);
        let thread = std::thread::spawn(move || theirs.leave());
        gate.call(Call::Pass);
        assert_eq!(gate.answers().unwrap_err(), Gone);
        thread.join().unwrap();
    }
}
