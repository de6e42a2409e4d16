//! A streamed response under way: its events as they come, and when they came.

use touchstone_exchange::events::{Event, EventFault, Progress, Reader, Seen, StreamCheck};
use touchstone_http::Malformed;

use crate::clock::Nanos;
use crate::failure::ErrorClass;
use crate::template::Key;

/// How long the end of a response is waited for once its events have come.
pub const GRACE: Nanos = Nanos::from_millis(100);

/// Whether a stream's body is looked at: that of a wrong response is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Body {
    /// Its head has not been looked at.
    #[default]
    Unknown,
    /// It holds events.
    Events,
    /// The head is wrong.
    Other,
}

/// A streamed response under way.
#[derive(Debug)]
pub struct Streaming {
    reader: Reader,
    /// What its events were.
    pub progress: Progress,
    /// Whether its body holds events.
    pub body: Body,
    /// Ends of chunks in the bytes that came last.
    pub ends: Vec<usize>,
    /// When the first event came, and the last.
    pub first: Option<Nanos>,
    /// When the last event came.
    pub last: Nanos,
    /// When all had come.
    pub fulfilled: Option<Nanos>,
}

impl Streaming {
    /// A stream of which nothing has come.
    #[must_use]
    pub fn new(check: &StreamCheck) -> Self {
        Self {
            reader: check.reader(),
            progress: Progress::new(check),
            body: Body::Unknown,
            ends: Vec::new(),
            first: None,
            last: Nanos::ZERO,
            fulfilled: None,
        }
    }

    /// Takes the bytes of the body that came last, with which the response may have `ended`, and hands over each event that
    /// counts, with when the one before it came.
    ///
    /// # Errors
    /// [`Malformed`] where an event is too large.
    pub fn take(
        &mut self,
        check: &StreamCheck,
        (bytes, ended): (&[u8], bool),
        (key, scratch): (Key<'_>, &mut Vec<u8>),
        now: Nanos,
        mut see: impl FnMut(Seen, Option<Nanos>),
    ) -> Result<(), Malformed> {
        let Self {
            reader,
            progress,
            ends,
            first,
            last,
            ..
        } = self;
        let mut event = |event: Event<'_>| {
            if let Some(seen) = progress.event(check, &event, key, scratch) {
                see(seen, first.map(|_| *last));
                first.get_or_insert(now);
                *last = now;
            }
        };
        let mut from = 0;
        for end in ends.drain(..) {
            reader.feed(&bytes[from..end], &mut event)?;
            reader.chunk_ends(&mut event);
            from = end;
        }
        reader.feed(&bytes[from..], &mut event)?;
        if ended {
            reader.end(&mut event);
        }
        if progress.is_fulfilled(check) {
            self.fulfilled.get_or_insert(now);
        }
        Ok(())
    }

    /// What is wrong with a stream that is over.
    #[must_use]
    pub fn fault(&self, check: &StreamCheck) -> Option<(ErrorClass, String)> {
        let (fault, why) = self.progress.fault(check)?;
        let class = match fault {
            EventFault::Wrong => ErrorClass::WrongEvent,
            EventFault::Lost => ErrorClass::LostEvent,
            EventFault::Doubled => ErrorClass::DoubledEvent,
            EventFault::Disordered => ErrorClass::DisorderedEvent,
        };
        Some((class, why))
    }
}
