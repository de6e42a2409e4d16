//! What has come of one stream so far.

use super::order::{Order, Step};
use super::{Event, Stamp, StreamCheck};
use crate::template::Key;

/// What is wrong with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFault {
    /// An event is not as expected.
    Wrong,
    /// Events are missing.
    Lost,
    /// An event came twice.
    Doubled,
    /// An event came before one that belongs before it, or belongs to another stream.
    Disordered,
}

/// What an event was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When the service sent it, as it says.
    pub stamp: Option<Stamp>,
    /// Whether it is one more of the stream's events, and none that had come or that belongs to another stream.
    pub is_new: bool,
}

/// What has come of one stream so far.
#[derive(Debug)]
pub struct Progress {
    order: Order,
    /// Different events that have come.
    pub came: u32,
    /// Events that were not as expected.
    pub wrong: u32,
    /// Events whose number had come.
    pub doubled: u32,
    /// Events that came after one with a higher number, or with a number of another stream.
    pub disordered: u32,
    /// The first of each, in a sentence.
    first_wrong: Option<String>,
    first_doubled: Option<i64>,
    first_disordered: Option<i64>,
}

impl Progress {
    /// A stream of which nothing has come.
    #[must_use]
    pub fn new(check: &StreamCheck) -> Self {
        Self {
            order: Order::from(check.first),
            came: 0,
            wrong: 0,
            doubled: 0,
            disordered: 0,
            first_wrong: None,
            first_doubled: None,
            first_disordered: None,
        }
    }

    /// Judges the next event of the request with this key; nothing if it is none of those that are counted. Once all have
    /// come, only a missing one is.
    pub fn event(
        &mut self,
        check: &StreamCheck,
        event: &Event<'_>,
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Option<Seen> {
        if !check.counts(event) || self.is_fulfilled(check) && self.order.missing() == 0 {
            return None;
        }
        let mut numbers = None;
        if let Some((messages, found)) = check.messages.as_ref().zip(event.found) {
            let glance = messages.glance.as_ref();
            numbers = glance.and_then(|glance| glance.numbers(found, key, scratch));
            if numbers.is_none() {
                let json = messages.json(event.data);
                return self.event(check, &Event::bare(&json), key, scratch);
            }
        }
        let fulfilled = self.is_fulfilled(check);
        let (mut why, mut is_new) = (None, true);
        if let Some(place) = &check.counter {
            let number = match numbers {
                Some(numbers) => numbers.counter,
                None => place.number(event),
            };
            match place.whole(number) {
                Ok(number) if fulfilled && !self.order.lacks(number) => return None,
                Ok(number) => is_new = self.number(number, check.events),
                Err(_) if fulfilled => return None,
                Err(missing) => why = Some(format!("the counter: {missing}")),
            }
        }
        self.came = self.came.saturating_add(u32::from(is_new));
        let mut stamp = None;
        if let Some(place) = &check.stamp {
            let number = match numbers {
                Some(numbers) => numbers.stamp,
                None => place.number(event),
            };
            match place.stamp(number) {
                Ok(at) => stamp = Some(at),
                Err(missing) => why = Some(format!("the stamp: {missing}")),
            }
        }
        // A message with these numbers was held against what is expected.
        if numbers.is_none()
            && let Err(other) = check.check.body_is_right(b"", event.data, key, scratch)
        {
            why = Some(other.1.replacen("the body", "its data", 1));
        }
        if let Some(why) = why {
            self.wrong += 1;
            let at = self.came;
            self.first_wrong
                .get_or_insert_with(|| format!("event {at} of the stream: {why}"));
        }
        Some(Seen { stamp, is_new })
    }

    /// Takes an event's number; gives whether it is one more of the stream's events.
    fn number(&mut self, number: i64, most: u32) -> bool {
        let step = self.order.take(number, most);
        match step {
            Step::Forward => {}
            Step::Doubled => {
                self.doubled += 1;
                self.first_doubled.get_or_insert(number);
            }
            Step::Late | Step::Astray => {
                self.disordered += 1;
                self.first_disordered.get_or_insert(number);
            }
        }
        matches!(step, Step::Forward | Step::Late)
    }

    /// Whether all events have come.
    #[must_use]
    pub const fn is_fulfilled(&self, check: &StreamCheck) -> bool {
        self.came >= check.events
    }

    /// Events that are missing: by their numbers, and at the end of a response that `ended` those that it still owed.
    #[must_use]
    pub fn lost(&self, check: &StreamCheck, ended: bool) -> u64 {
        let missing = self.order.missing();
        if !ended {
            return missing;
        }
        missing.max(u64::from(check.events.saturating_sub(self.came)))
    }

    /// What is wrong with a stream that is over, and a sentence on it.
    #[must_use]
    pub fn fault(&self, check: &StreamCheck) -> Option<(EventFault, String)> {
        let place = || {
            check
                .counter
                .as_ref()
                .map_or(String::new(), ToString::to_string)
        };
        if let Some(why) = &self.first_wrong {
            return Some((EventFault::Wrong, why.clone()));
        }
        let lost = self.lost(check, true);
        if lost > 0 {
            let first = self.order.first_missing();
            let first = first.map_or(String::new(), |number| {
                format!("; the first missing is {number}")
            });
            let (came, wanted) = (self.came, check.events);
            return Some((
                EventFault::Lost,
                format!(
                    "{lost} {} missing: {came} of {wanted} came before the stream was over{first}",
                    if lost == 1 { "event is" } else { "events are" }
                ),
            ));
        }
        if let Some(number) = self.first_doubled {
            return Some((
                EventFault::Doubled,
                format!("an event came twice: {} was {number} again", place()),
            ));
        }
        let number = self.first_disordered?;
        Some((
            EventFault::Disordered,
            format!("an event came out of order: {} was {number}", place()),
        ))
    }

    /// How far it had come, for a stream that broke off.
    #[must_use]
    pub fn so_far(&self, check: &StreamCheck) -> String {
        let lost = self.order.missing();
        let missing = if lost > 0 {
            format!(", {lost} missing before them")
        } else {
            String::new()
        };
        format!("{} of {} events had come{missing}", self.came, check.events)
    }
}
