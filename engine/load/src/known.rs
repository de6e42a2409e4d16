//! The response that came last time: most come again byte by byte, and then two comparisons are parser and check in one.
//!
//! Sound because equal heads parse equally and, where every request expects the same, equal bodies check equally.

use std::sync::Arc;

use touchstone_http::{Framing, Head};

use crate::check::BodyCheck;
use crate::connection::Partial;
use crate::request::CompiledRequest;
use crate::template::Key;

/// A longer body is not remembered; it is checked afresh.
const LONGEST_BODY: usize = 64 * 1024;

/// The head of a right response to one kind of request, and a body that was accepted.
#[derive(Debug, Default)]
pub struct KnownResponse {
    head: Vec<u8>,
    status: u16,
    body_len: usize,
    any_body: bool,
    accepted: Option<Arc<[u8]>>,
}

impl KnownResponse {
    /// The body of a whole response with the known head at the start of `data`.
    #[inline]
    #[must_use]
    pub fn body_of<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        let head = self.head.len();
        if head == 0 || data.len() < head + self.body_len || data[..head] != self.head[..] {
            return None;
        }
        Some(&data[head..head + self.body_len])
    }

    /// Whether this body is known to be right.
    #[inline]
    #[must_use]
    pub fn accepted(&self, body: &[u8]) -> bool {
        self.any_body || self.accepted.as_deref() == Some(body)
    }

    /// The body that was accepted, if it is this one.
    #[inline]
    #[must_use]
    pub fn same_body(&self, body: &[u8]) -> Option<Arc<[u8]>> {
        self.accepted
            .as_ref()
            .filter(|known| ***known == *body)
            .cloned()
    }

    /// The known head.
    #[inline]
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Its status.
    #[inline]
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Remembers a response that came whole, if one like it can be recognised by comparison alone. Says whether it can.
    pub fn learn(&mut self, partial: &Partial, compiled: &CompiledRequest, wire: &[u8]) -> bool {
        let Some(head) = partial.response.head() else {
            return false;
        };
        let Framing::Length(body_len) = head.framing else {
            return false;
        };
        // With interim responses before it the head is not at the start; a folded one is looked at unfolded.
        let simple =
            head.keep_alive && !head.folded && (head.len as u64 + body_len) == wire.len() as u64;
        simple && self.remember(head, &wire[..head.len], &wire[head.len..], compiled)
    }

    /// Remembers a response by the text of its head (of a gRPC call with the trailers behind it) and its body, as far as it
    /// is right. Says whether the head is.
    pub fn remember(
        &mut self,
        head: Head,
        text: &[u8],
        body: &[u8],
        compiled: &CompiledRequest,
    ) -> bool {
        let check = &compiled.check;
        let head_is_right = || check.head().check(text).is_ok();
        // What is to be taken from a response must be looked for in each.
        let taken = compiled.stream.is_some() || compiled.takes_from(text);
        if taken || !check.status_is_right(head.status) || !head_is_right() {
            return false;
        }
        // A gRPC call is recognised by all of its response, or not at all.
        let is_right = || check.body_is_right(text, body, Key::default(), &mut Vec::new());
        if check.call().is_some() && !(check.is_fixed() && is_right().is_ok()) {
            return false;
        }
        self.head.clear();
        self.head.extend_from_slice(text);
        self.status = head.status;
        self.body_len = body.len();
        // The body of a gRPC call has its framing, whatever the message may be.
        let any = matches!(check.body(), BodyCheck::Any) && check.call().is_none();
        self.any_body = compiled.is_bodiless(head.status) || any;
        let keep = !self.any_body
            && body.len() <= LONGEST_BODY
            && check.is_fixed()
            && check
                .body_is_right(&self.head, body, Key::default(), &mut Vec::new())
                .is_ok();
        self.accepted = keep.then(|| body.into());
        true
    }
}
