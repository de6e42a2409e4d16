//! Reads the frames of a server: its responses, and its words on streams and on the connection (RFC 9113).
//!
//! It is lenient, as the reader of HTTP/1.1 is: a fault of a response is noted and the rest is read. Only what leaves the
//! rest without a meaning ends it: a header block that cannot be decoded.

use std::collections::BTreeMap;

use touchstone_h2::frame::{FrameHead, HEAD, Kind, MAX_PAYLOAD, flag, fragment, setting};
use touchstone_h2::{Code, Decoder, Scratch};

use crate::response::{Reading, Response, Tail};

/// What a server said besides responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// Whether its first frame was SETTINGS, and no acknowledgement.
    pub settings_first: bool,
    /// SETTINGS frames of its own.
    pub settings: usize,
    /// SETTINGS that it acknowledged.
    pub acks: usize,
    /// Whether it acknowledged those with which the probe opened the connection, which `acks` leaves out then.
    pub opened: bool,
    /// Payloads of PING frames that it answered.
    pub pongs: Vec<Vec<u8>>,
    /// Payloads of PING frames that it sent.
    pub pings: Vec<Vec<u8>>,
    /// Streams that it ended by RST_STREAM.
    pub resets: Vec<(u32, Code)>,
    /// Codes of its GOAWAY frames.
    pub goaways: Vec<Code>,
    /// Octets of content on each stream whose response has begun and not ended.
    pub unfinished: Vec<usize>,
    /// Its limits.
    pub limits: Limits,
}

/// What a server allows by its SETTINGS (RFC 9113 6.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of a frame's payload.
    pub frame: u32,
    /// Streams at once.
    pub streams: u32,
    /// Octets of the dynamic table.
    pub table: u32,
}

impl Default for Limits {
    /// What counts until a server says otherwise.
    fn default() -> Self {
        Limits {
            frame: 16_384,
            streams: u32::MAX,
            table: 4_096,
        }
    }
}

/// Most octets of a response's fields.
const FIELDS: usize = 1 << 20;

#[derive(Default)]
struct Reader {
    decoder: Decoder,
    scratch: Scratch,
    signals: Signals,
    streams: BTreeMap<u32, Stream>,
    /// The header block that has begun: its stream, whether it ends the stream, and its octets.
    block: Option<(u32, bool, Vec<u8>)>,
}

#[derive(Default)]
struct Stream {
    interim: Vec<Response>,
    response: Option<Response>,
    ended: bool,
}

/// Reads the octets. Final responses come in the order of their streams.
pub fn read(bytes: &[u8]) -> Reading {
    let mut reader = Reader::default();
    let (mut at, mut frames, mut tail) = (0, 0, Tail::Nothing);
    while at < bytes.len() {
        if frames == 0 && bytes[at..].starts_with(b"HTTP/1.") {
            tail = Tail::Garbled("it answers HTTP/1.1".into());
            break;
        }
        let Some(head) = bytes[at..].first_chunk::<HEAD>().map(FrameHead::read) else {
            tail = Tail::Partial;
            break;
        };
        let Some(payload) = bytes.get(at + HEAD..at + HEAD + head.length) else {
            tail = Tail::Partial;
            break;
        };
        if let Err(why) = reader.frame(head, payload, frames == 0) {
            tail = Tail::Garbled(why);
            break;
        }
        frames += 1;
        at += HEAD + head.length;
    }
    reader.finish(tail)
}

impl Reader {
    fn frame(&mut self, head: FrameHead, payload: &[u8], first: bool) -> Result<(), String> {
        if head.length > MAX_PAYLOAD {
            let length = head.length;
            return Err(format!(
                "a frame of {length} octets, where {MAX_PAYLOAD} are allowed"
            ));
        }
        if let Some((stream, ..)) = self.block
            && (head.kind != Kind::CONTINUATION || head.stream != stream)
        {
            return Err("a frame between HEADERS and its CONTINUATION".into());
        }
        let code = |at: usize| {
            let octets = payload.get(at..at + 4).and_then(|four| four.first_chunk());
            octets.map(|four| Code(u32::from_be_bytes(*four)))
        };
        match head.kind {
            Kind::SETTINGS if head.has(flag::ACK) => self.signals.acks += 1,
            Kind::SETTINGS => {
                self.signals.settings_first |= first;
                self.signals.settings += 1;
                for one in payload.chunks_exact(6) {
                    let value = u32::from_be_bytes([one[2], one[3], one[4], one[5]]);
                    let limits = &mut self.signals.limits;
                    match u16::from_be_bytes([one[0], one[1]]) {
                        setting::HEADER_TABLE_SIZE => limits.table = value,
                        setting::MAX_CONCURRENT_STREAMS => limits.streams = value,
                        setting::MAX_FRAME_SIZE => limits.frame = value,
                        _ => {}
                    }
                }
            }
            Kind::PING if head.has(flag::ACK) => self.signals.pongs.push(payload.to_vec()),
            Kind::PING => self.signals.pings.push(payload.to_vec()),
            Kind::RST_STREAM => {
                let code = code(0).ok_or("RST_STREAM without a code")?;
                self.signals.resets.push((head.stream, code));
            }
            Kind::GOAWAY => self
                .signals
                .goaways
                .push(code(4).ok_or("GOAWAY without a code")?),
            Kind::HEADERS => {
                let part = fragment(head, payload).map_err(|fault| fault.to_string())?;
                let ends = head.has(flag::END_STREAM);
                self.block = Some((head.stream, ends, part.to_vec()));
                self.end_block(head)?;
            }
            Kind::CONTINUATION => {
                let (.., block) = self.block.as_mut().ok_or("CONTINUATION without HEADERS")?;
                block.extend_from_slice(payload);
                self.end_block(head)?;
            }
            Kind::DATA => self.data(head, payload)?,
            Kind::PUSH_PROMISE => return Err("PUSH_PROMISE, though the client takes none".into()),
            // PRIORITY and WINDOW_UPDATE say nothing of a response, and unknown types are passed over (RFC 9113 5.5).
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), String> {
        // Padding has the place that it has in HEADERS.
        let padded = FrameHead {
            flags: head.flags & flag::PADDED,
            ..head
        };
        let part = fragment(padded, payload).map_err(|fault| fault.to_string())?;
        let stream = self.streams.entry(head.stream).or_default();
        let Some(response) = stream.response.as_mut().filter(|_| !stream.ended) else {
            return Err("DATA on a stream without an open response".into());
        };
        response.body.extend_from_slice(part);
        stream.ended = head.has(flag::END_STREAM);
        Ok(())
    }

    fn end_block(&mut self, head: FrameHead) -> Result<(), String> {
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        let Some((number, ends, block)) = self.block.take() else {
            return Ok(());
        };
        let mut fields = Vec::new();
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        let taken = self
            .decoder
            .decode(&block, FIELDS, &mut self.scratch, |name, value| {
                fields.push((text(name), text(value)));
            });
        taken.map_err(|fault| format!("a header block that cannot be decoded ({})", fault.why))?;
        let stream = self.streams.entry(number).or_default();
        if stream.ended {
            return Err("HEADERS on a stream that has ended".into());
        }
        stream.ended = ends;
        if let Some(response) = &mut stream.response {
            response.faults.extend(faults(&fields, false));
            if !ends {
                response
                    .faults
                    .push("trailers that do not end the stream".into());
            }
            return Ok(());
        }
        let response = response(fields);
        if (100..200).contains(&response.status) && !ends {
            stream.interim.push(response);
        } else {
            stream.response = Some(response);
        }
        Ok(())
    }

    fn finish(mut self, mut tail: Tail) -> Reading {
        let mut reading = Reading {
            interim: Vec::new(),
            finals: Vec::new(),
            tail: Tail::Nothing,
            signals: Signals::default(),
        };
        for stream in self.streams.into_values() {
            let at = reading.finals.len();
            reading
                .interim
                .extend(stream.interim.into_iter().map(|one| (at, one)));
            match stream.response {
                Some(mut response) if stream.ended => {
                    check_length(&mut response);
                    reading.finals.push(response);
                }
                Some(response) => self.signals.unfinished.push(response.body.len()),
                None => {}
            }
        }
        if self.block.is_some() && tail == Tail::Nothing {
            tail = Tail::Partial;
        }
        reading.tail = tail;
        reading.signals = self.signals;
        reading
    }
}

fn response(fields: Vec<(String, String)>) -> Response {
    let faults = faults(&fields, true);
    let status = fields.iter().find(|(name, _)| name == ":status");
    let status = status
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    Response {
        version: "2".into(),
        status,
        fields: fields
            .into_iter()
            .filter(|(name, _)| !name.starts_with(':'))
            .collect(),
        body: Vec::new(),
        self_framed: true,
        faults,
    }
}

/// Fields that belong to a connection of HTTP/1.1 (RFC 9113 8.2.2).
const OF_CONNECTIONS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// What is wrong with the fields of a head, or of trailers.
fn faults(fields: &[(String, String)], head: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let statuses = fields.iter().filter(|(name, _)| name == ":status").count();
    if head && statuses != 1 {
        faults.push(format!("{statuses} times :status"));
    }
    let mut regular = false;
    for (name, value) in fields {
        if name.starts_with(':') {
            if regular || !head || name != ":status" {
                faults.push(format!("the pseudo-field {name} where it may not be"));
            }
            continue;
        }
        regular = true;
        if name.is_empty() || name.bytes().any(|octet| !is_name(octet)) {
            faults.push(format!("the name {name:?}"));
        }
        if OF_CONNECTIONS.contains(&name.as_str()) {
            faults.push(format!("the field {name}, which HTTP/2 has not"));
        }
        let blank = |edge: Option<u8>| matches!(edge, Some(b' ' | b'\t'));
        let (first, last) = (value.bytes().next(), value.bytes().last());
        if value
            .bytes()
            .any(|octet| matches!(octet, 0 | b'\r' | b'\n'))
            || blank(first)
            || blank(last)
        {
            faults.push(format!("the value of {name}"));
        }
    }
    faults
}

const fn is_name(octet: u8) -> bool {
    matches!(octet, 0x21..=0x39 | 0x3b..=0x40 | 0x5b..=0x7e)
}

/// Content-Length has to be the length of the content, where there is content (RFC 9113 8.1.1).
fn check_length(response: &mut Response) {
    let stated = response.values("content-length").next().map(str::to_owned);
    let length = response.body.len();
    if length > 0 && stated.is_some_and(|stated| stated.parse() != Ok(length)) {
        let fault = format!("Content-Length beside {length} octets of content");
        response.faults.push(fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_h2::frame::{write, write_goaway, write_reset, write_settings};

    fn settings() -> Vec<u8> {
        let mut out = Vec::new();
        write_settings(&[(3, 100)], &mut out);
        out
    }

    #[test]
    fn responses_and_signals_are_read() {
        let mut out = settings();
        write(Kind::SETTINGS, flag::ACK, 0, b"", &mut out);
        write(Kind::PING, flag::ACK, 0, b"01234567", &mut out);
        write(Kind::HEADERS, flag::END_HEADERS, 3, &[0x88], &mut out);
        write(Kind::HEADERS, 0x5, 1, &[0x8d], &mut out);
        write(Kind::DATA, flag::END_STREAM, 3, b"hello", &mut out);
        write(Kind::HEADERS, flag::END_HEADERS, 5, &[0x88], &mut out);
        write(Kind::DATA, 0, 5, b"he", &mut out);
        write_reset(7, Code::CANCEL, &mut out);
        write_goaway(7, Code::PROTOCOL_ERROR, &mut out);
        let reading = read(&out);
        let statuses: Vec<u16> = reading.finals.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [404, 200]);
        assert_eq!(reading.finals[1].body, b"hello");
        assert_eq!(reading.tail, Tail::Nothing);
        let signals = &reading.signals;
        assert!(signals.settings_first);
        assert_eq!(
            (signals.acks, signals.unfinished.as_slice()),
            (1, [2].as_slice())
        );
        assert_eq!(signals.pongs, [b"01234567"]);
        assert_eq!(signals.resets, [(7, Code::CANCEL)]);
        assert_eq!(signals.goaways, [Code::PROTOCOL_ERROR]);
        assert_eq!(
            (signals.limits.streams, signals.limits.frame),
            (100, 16_384)
        );
    }

    #[test]
    fn faults_are_noted_or_end_the_reading() {
        let mut out = settings();
        let block = b"\x88\x00\x03X-A\x01b\x00\x0aconnection\x05close";
        write(Kind::HEADERS, 0x5, 1, block, &mut out);
        let faults = read(&out).finals[0].faults.clone();
        assert_eq!(faults.len(), 2, "{faults:?}");
        for (kind, flags, payload) in [
            (Kind::HEADERS, 0x5, b"\x80".as_slice()),
            (Kind::DATA, 0x1, b"x".as_slice()),
            (Kind::CONTINUATION, 0x4, b"".as_slice()),
        ] {
            let mut out = settings();
            write(kind, flags, 9, payload, &mut out);
            assert!(matches!(read(&out).tail, Tail::Garbled(_)), "{kind:?}");
        }
        assert!(matches!(read(b"HTTP/1.1 400 Bad").tail, Tail::Garbled(_)));
        assert_eq!(read(&settings()[..11]).tail, Tail::Partial);
    }
}
