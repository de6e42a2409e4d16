//! The streamed response to one request that is sent by itself: its events, as its body grows.

use touchstone_grpc::Code;
use touchstone_http::{Malformed, field_lines};

use super::{Event, Progress, Reader, StreamCheck};
use crate::request::CompiledRequest;
use crate::response::{Response, SoFar};
use crate::template::Key;

/// What is said of a stream under a content coding.
pub const CODED: &str = "the stream has a Content-Encoding: events are found in plain text only";

/// What has come of one streamed response.
pub(crate) struct Watched<'a> {
    compiled: &'a CompiledRequest,
    check: &'a StreamCheck,
    key: Key<'a>,
    reader: Reader,
    progress: Progress,
    /// Bytes of the body, and ends in it, that were looked at.
    taken: (usize, usize),
    /// Whether it was left ahead of its end: with all its events, or because it is broken.
    left: bool,
    broken: Option<Malformed>,
}

impl<'a> Watched<'a> {
    /// The response to the request with this key; none if it is not streamed.
    pub fn new(compiled: &'a CompiledRequest, key: Key<'a>) -> Option<Self> {
        let check = compiled.stream.as_deref()?;
        Some(Self {
            compiled,
            check,
            key,
            reader: check.reader(),
            progress: Progress::new(check),
            taken: (0, 0),
            left: false,
            broken: None,
        })
    }

    /// Different events that have come.
    pub const fn came(&self) -> u32 {
        self.progress.came
    }

    /// How far it had come, in words.
    pub fn so_far(&self) -> String {
        self.progress.so_far(self.check)
    }

    /// Takes what has come, and gives whether nothing more is waited for.
    pub fn is_enough(&mut self, so_far: &SoFar<'_>) -> bool {
        if !has_events(self.compiled, so_far.head.0.status, so_far.head.1) {
            return false;
        }
        self.take(so_far.body, so_far.ends);
        self.left = self.progress.is_fulfilled(self.check) || self.broken.is_some();
        self.left
    }

    fn take(&mut self, body: &[u8], ends: &[usize]) {
        let Self {
            check,
            key,
            reader,
            progress,
            taken: (from, seen),
            broken,
            ..
        } = self;
        let mut scratch = Vec::new();
        let mut event = |event: Event<'_>| {
            progress.event(check, &event, *key, &mut scratch);
        };
        for end in &ends[*seen..] {
            let fed = reader.feed(&body[*from..*end], &mut event);
            *broken = broken.or(fed.err());
            reader.chunk_ends(&mut event);
            *from = *end;
        }
        let fed = reader.feed(&body[*from..], &mut event);
        *broken = broken.or(fed.err());
        (*from, *seen) = (body.len(), ends.len());
    }

    /// What is wrong with the response, a sentence each; none if it is right.
    pub fn faults(mut self, response: &Response) -> Vec<String> {
        let head = &*self.compiled.whole_head(response);
        match head_is_right(self.compiled, response.status, head, self.left) {
            Err(faults) => return faults,
            Ok(false) => return Vec::new(),
            Ok(true) => {}
        }
        self.take(&response.body, &response.ends);
        if !self.left {
            let Self {
                check,
                key,
                reader,
                progress,
                ..
            } = &mut self;
            reader.end(|event| {
                progress.event(check, &event, *key, &mut Vec::new());
            });
        }
        if let Some(why) = self.broken {
            return vec![why.to_string()];
        }
        let fault = self.progress.fault(self.check);
        fault.map(|(_, why)| why).into_iter().collect()
    }
}

/// Whether the body of a response holds events: not if its head is wrong, or if it is compressed.
#[must_use]
pub fn has_events(compiled: &CompiledRequest, status: u16, head: &[u8]) -> bool {
    let check = &compiled.check;
    let is_right = match check.call() {
        // Metadata may come with the trailers.
        Some(call) => call.media_type(head).is_ok(),
        None => check.head().check(head).is_ok(),
    };
    is_right && check.status_is_right(status) && !is_coded(head)
}

/// Whether a head names a content coding, under which no events are found.
#[must_use]
pub fn is_coded(head: &[u8]) -> bool {
    let mut codings = field_lines(head, "content-encoding");
    codings.any(|coding| !coding.eq_ignore_ascii_case(b"identity"))
}

/// Whether events must come behind a right head: not where a gRPC call ended with another status than `OK`, as expected.
/// One that was `left` has no status.
fn head_is_right(
    compiled: &CompiledRequest,
    status: u16,
    head: &[u8],
    left: bool,
) -> Result<bool, Vec<String>> {
    let check = &compiled.check;
    if !check.status_is_right(status) {
        return Err(vec![compiled.wrong_status(status)]);
    }
    let code = match check.call() {
        Some(call) if left => call.media_type(head).map(|()| Code::OK),
        Some(call) => call.status(head),
        None => Ok(Code::OK),
    };
    let code = code.map_err(|(_, why)| vec![why])?;
    let mut faults: Vec<_> = check.head().faults(head).collect();
    if is_coded(head) {
        faults.push(CODED.to_owned());
    }
    if faults.is_empty() {
        Ok(code == Code::OK)
    } else {
        Err(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Origin;
    use crate::template::Scope;
    use serde_json::{from_value, json};
    use touchstone_http::{Url, parse_head};

    #[test]
    fn a_broken_stream_of_grpc_is_not_one_without_a_status() {
        let request = from_value(json!({"grpc": {"method": "grpc.health.v1.Health/Watch"}}));
        let stream = from_value(json!({"kind": "messages", "events": 2})).unwrap();
        let (request, url) = (request.unwrap(), Url::parse("http://h:1/").unwrap());
        let origin = Origin {
            url: &url,
            closes: false,
            is_h2: true,
            timeout: std::time::Duration::from_secs(5),
        };
        let compiled = CompiledRequest::compile(&request, origin, Scope::default()).unwrap();
        let compiled = compiled.streamed(&request, Some(&stream), Scope::default());
        let compiled = compiled.unwrap();
        let mut watched = Watched::new(&compiled, Key::default()).unwrap();
        let text = b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n\r\n";
        let so_far = SoFar {
            head: (parse_head(text, false).unwrap().unwrap(), text),
            body: b"\x02\0\0\0\0",
            ends: &[],
        };
        assert!(watched.is_enough(&so_far));
        let faults = watched.faults(&so_far.left());
        assert_eq!(faults, ["a message whose flag is neither 0 nor 1"]);
    }
}
