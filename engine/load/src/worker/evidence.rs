//! The first failures of each class, kept with the bytes that show them.

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{EVIDENCE, InFlight};
use crate::failure::{ErrorClass, FirstError};
use crate::template::Key;

impl Worker {
    pub(super) fn note(
        &mut self,
        class: ErrorClass,
        request: Option<InFlight>,
        slot: Option<u32>,
        received: &[u8],
        why: &str,
        now: Nanos,
    ) {
        let when = request.map_or(now, |request| request.intended);
        if !self.recorder.counts(when) || !self.recorder.wants_evidence(class) {
            return;
        }
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[..bytes.len().min(EVIDENCE)]).into_owned()
        };
        let compiled = request.map(|request| &self.mix.requests()[usize::from(request.kind)]);
        let mut why = why.to_owned();
        let sent = request.zip(compiled).map(|(request, compiled)| {
            let key = Key {
                counter: request.counter,
                seed: self.seed,
                thread: self.part.global_index,
                session: slot
                    .zip(self.journeys.as_ref())
                    .map(|(slot, users)| users.session(slot)),
            };
            let mut bytes = Vec::new();
            match &compiled.message {
                Some(message) => message.text(key, &mut bytes),
                None => compiled.render(key, &mut bytes, &mut Vec::new()),
            }
            if self.h2.is_some() {
                bytes = String::from_utf8_lossy(&bytes)
                    .replacen(" HTTP/1.1\r\n", " HTTP/2\r\n", 1)
                    .into_bytes();
            }
            if let Some(missing) = compiled.missing_cookie(key) {
                why = format!("{why}; {missing}");
            }
            text(&bytes)
        });
        let place = slot.map_or(String::new(), |slot| format!(" (connection {slot})"));
        self.recorder.keep(FirstError {
            class,
            t: self.recorder.offset_s(now),
            request: compiled.map(|compiled| compiled.name.clone()),
            sent,
            received: (!received.is_empty()).then(|| text(received)),
            why: format!("{why}{place}"),
        });
    }
}
