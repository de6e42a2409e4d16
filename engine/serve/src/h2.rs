//! HTTP/2 (RFC 9113) on a connection of a server, for a client that begins with its preface. No more than canned
//! answers need: a request that repeats gets the frames of the last answer, its stream filled in.

use std::collections::VecDeque;

use touchstone_h2::frame::{self, FrameHead, HEAD, Kind, MAX_PAYLOAD, PREFACE, flag, setting};
use touchstone_h2::{Code, Decoder, Fault, Scratch, literal};

use crate::head::Request;

/// Bytes of header fields, and frames of one header block, at most.
const LONGEST_HEAD: usize = 64 * 1024;
/// Streams whose request has not come whole, and answers that wait for a window, at most.
const MOST_OPEN: usize = 1024;
/// The connection's window: bodies of requests are taken at once.
const WINDOW: u32 = 1 << 30;
/// Where no setting says otherwise.
const DEFAULT_WINDOW: u32 = 65_535;

/// What a connection begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// With HTTP/2's preface.
    Whole,
    /// With a part of it.
    Part,
    /// With something else.
    Otherwise,
}

/// Whether bytes are HTTP/2's preface.
pub fn begins(bytes: &[u8]) -> Begins {
    if bytes.starts_with(PREFACE) {
        Begins::Whole
    } else if bytes.len() >= 3 && PREFACE.starts_with(bytes) {
        Begins::Part
    } else {
        Begins::Otherwise
    }
}

/// A connection.
#[derive(Debug, Default)]
pub struct Session {
    decoder: Decoder,
    scratch: Scratch,
    /// The beginning of a header block: its stream, whether that ends with it, and the bytes.
    block: Option<(u32, bool, Vec<u8>)>,
    /// Requests whose body has not come whole.
    open: Vec<(u32, Asked)>,
    /// Answers that wait for a window.
    unsent: VecDeque<Unsent>,
    last: Option<Last>,
    /// Windows: of the connection, of a new stream.
    send: i64,
    initial: i64,
    taken: u32,
}

/// What a request asks for.
#[derive(Debug, Clone, Default)]
struct Asked {
    method: Vec<u8>,
    target: Vec<u8>,
    /// Whether it calls a method of gRPC.
    is_grpc: bool,
}

/// A body that has not been sent whole.
#[derive(Debug)]
struct Unsent {
    stream: u32,
    window: i64,
    body: Vec<u8>,
    sent: usize,
}

/// The last request, and its answer as one HEADERS and one DATA frame, or HEADERS alone.
#[derive(Debug)]
struct Last {
    block: Vec<u8>,
    changes: u32,
    frames: Vec<u8>,
    /// Where the second frame begins, if there is one.
    data: Option<usize>,
    body: i64,
}

impl Session {
    /// Begins a session; the preface has come.
    pub fn new(out: &mut Vec<u8>) -> Self {
        frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, WINDOW)], out);
        frame::write_window_update(0, WINDOW - DEFAULT_WINDOW, out);
        Self {
            send: i64::from(DEFAULT_WINDOW),
            initial: i64::from(DEFAULT_WINDOW),
            ..Self::default()
        }
    }

    /// Takes whole frames and appends what they ask for; gives the bytes taken.
    ///
    /// # Errors
    /// A [`Fault`] ends the connection; it has been said in `out`.
    pub fn take(
        &mut self,
        bytes: &[u8],
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some(head) = bytes[at..].first_chunk::<HEAD>() {
            let head = FrameHead::read(head);
            if head.length > MAX_PAYLOAD {
                return Err(go_away(Code::FRAME_SIZE_ERROR, "a frame too long", out));
            }
            let Some(payload) = bytes.get(at + HEAD..at + HEAD + head.length) else {
                break;
            };
            if let Err(fault) = self.frame(head, payload, answer, out) {
                frame::write_goaway(0, fault.code, out);
                return Err(fault);
            }
            at += HEAD + head.length;
        }
        Ok(at)
    }

    fn frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if let Some((stream, end, mut block)) = self.block.take() {
            if head.kind != Kind::CONTINUATION || head.stream != stream {
                return Err(PROTOCOL);
            }
            if payload.is_empty() || block.len() + payload.len() > LONGEST_HEAD {
                return Err(CALM);
            }
            block.extend_from_slice(payload);
            if head.has(flag::END_HEADERS) {
                return self.request(stream, end, &block, answer, out);
            }
            self.block = Some((stream, end, block));
            return Ok(());
        }
        let end = head.has(flag::END_STREAM);
        match head.kind {
            Kind::HEADERS => {
                let block = frame::fragment(head, payload)?;
                if head.has(flag::END_HEADERS) {
                    return self.request(head.stream, end, block, answer, out);
                }
                self.block = Some((head.stream, end, block.to_vec()));
            }
            Kind::DATA => self.body(head, end, answer, out)?,
            Kind::RST_STREAM => {
                self.open.retain(|(stream, _)| *stream != head.stream);
                self.unsent.retain(|unsent| unsent.stream != head.stream);
            }
            Kind::SETTINGS if !head.has(flag::ACK) => self.settings(payload, out),
            Kind::PING if payload.len() == 8 && !head.has(flag::ACK) => {
                frame::write(Kind::PING, flag::ACK, 0, payload, out);
            }
            Kind::WINDOW_UPDATE => {
                let bytes = <[u8; 4]>::try_from(payload).map_err(|_| PROTOCOL)?;
                let by = i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff);
                if head.stream == 0 {
                    self.send += by;
                }
                let waiting = self.unsent.iter_mut();
                for unsent in waiting.filter(|unsent| unsent.stream == head.stream) {
                    unsent.window += by;
                }
                self.send_waiting(out);
            }
            Kind::CONTINUATION => return Err(PROTOCOL),
            _ => {}
        }
        Ok(())
    }

    fn settings(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        for pair in payload.chunks_exact(6) {
            let value = i64::from(u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]));
            if u16::from_be_bytes([pair[0], pair[1]]) == setting::INITIAL_WINDOW_SIZE {
                for unsent in &mut self.unsent {
                    unsent.window += value - self.initial;
                }
                self.initial = value;
            }
        }
        frame::write(Kind::SETTINGS, flag::ACK, 0, &[], out);
        self.send_waiting(out);
    }

    /// A request's head came whole.
    fn request(
        &mut self,
        stream: u32,
        end: bool,
        block: &[u8],
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if let Some(last) = &self.last
            && end
            && last.changes == self.decoder.changes()
            && last.block == block
            && last.body <= self.send.min(self.initial)
        {
            let at = out.len();
            out.extend_from_slice(&last.frames);
            let number = stream.to_be_bytes();
            out[at + 5..at + 9].copy_from_slice(&number);
            if let Some(data) = last.data {
                out[at + data + 5..at + data + 9].copy_from_slice(&number);
            }
            self.send -= last.body;
            return Ok(());
        }
        let mut asked = Asked::default();
        let changes = self.decoder.changes();
        self.decoder.decode(
            block,
            LONGEST_HEAD,
            &mut self.scratch,
            |name, value| match name {
                b":method" => asked.method = value.to_vec(),
                b":path" => asked.target = value.to_vec(),
                b"content-type" => asked.is_grpc = value.starts_with(b"application/grpc"),
                _ => {}
            },
        )?;
        if stream.is_multiple_of(2) || asked.method.is_empty() || asked.target.is_empty() {
            // Trailers have neither, and end a request whose head came before.
            return self.trailers(stream, end, answer, out);
        }
        if !end {
            if self.open.len() >= MOST_OPEN {
                return Err(CALM);
            }
            self.open.push((stream, asked));
            return Ok(());
        }
        let at = out.len();
        let body = self.answer(stream, &asked, answer, out)?;
        if changes == self.decoder.changes() && body <= MAX_PAYLOAD && self.unsent.is_empty() {
            let frames = out[at..].to_vec();
            let data = frames.first_chunk::<HEAD>().map(FrameHead::read);
            self.last = Some(Last {
                block: block.to_vec(),
                changes,
                data: data.filter(|_| body > 0).map(|head| HEAD + head.length),
                frames,
                body: body as i64,
            });
        }
        Ok(())
    }

    fn trailers(
        &mut self,
        stream: u32,
        end: bool,
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        match self.open.iter().position(|(open, _)| *open == stream) {
            Some(place) if end => {
                let (_, asked) = self.open.swap_remove(place);
                self.answer(stream, &asked, answer, out).map(|_| ())
            }
            _ => Err(PROTOCOL),
        }
    }

    /// A part of a request's body came: it is taken, and room given for as much.
    fn body(
        &mut self,
        head: FrameHead,
        end: bool,
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.taken += head.length as u32;
        if self.taken > WINDOW / 2 {
            frame::write_window_update(0, self.taken, out);
            self.taken = 0;
        }
        let place = self.open.iter().position(|(open, _)| *open == head.stream);
        if let Some(place) = place {
            if end {
                let (_, asked) = self.open.swap_remove(place);
                self.answer(head.stream, &asked, answer, out)?;
            } else if head.length > 0 {
                frame::write_window_update(head.stream, head.length as u32, out);
            }
        }
        Ok(())
    }

    /// Appends the answer to a request; gives the length of its body.
    fn answer(
        &mut self,
        stream: u32,
        asked: &Asked,
        answer: &mut dyn FnMut(&Request<'_>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<usize, Fault> {
        if self.unsent.len() >= MOST_OPEN {
            return Err(CALM);
        }
        if asked.is_grpc {
            self.send -= NO_FIELDS.len() as i64;
            grpc_answer(stream, out);
            return Ok(NO_FIELDS.len());
        }
        let mut text = Vec::new();
        let request = Request {
            method: &asked.method,
            target: &asked.target,
            old: false,
            keep_alive: true,
            upgrades: false,
            length: 0,
        };
        answer(&request, &mut text);
        let end = text.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or(text.len());
        let body = text.get(end + 4..).unwrap_or_default();
        let mut lines = text[..end].split(|byte| *byte == b'\n');
        let status = lines.next().and_then(|line| line.get(9..12));
        let mut block = Vec::new();
        literal(b":status", status.unwrap_or(b"500"), &mut block);
        for line in lines {
            if let Some(colon) = line.iter().position(|byte| *byte == b':') {
                let name = line[..colon].to_ascii_lowercase();
                literal(&name, line[colon + 1..].trim_ascii(), &mut block);
            }
        }
        frame::write_block(stream, &block, body.is_empty(), out);
        if !body.is_empty() {
            self.unsent.push_back(Unsent {
                stream,
                window: self.initial,
                body: body.to_vec(),
                sent: 0,
            });
            self.send_waiting(out);
        }
        Ok(body.len())
    }

    fn send_waiting(&mut self, out: &mut Vec<u8>) {
        for unsent in &mut self.unsent {
            loop {
                let left = (unsent.body.len() - unsent.sent).min(MAX_PAYLOAD);
                let length = self.send.min(unsent.window).clamp(0, left as i64) as usize;
                if length == 0 {
                    break;
                }
                let piece = &unsent.body[unsent.sent..unsent.sent + length];
                unsent.sent += length;
                let last = unsent.sent == unsent.body.len();
                let flags = if last { flag::END_STREAM } else { 0 };
                frame::write(Kind::DATA, flags, unsent.stream, piece, out);
                self.send -= length as i64;
                unsent.window -= length as i64;
            }
        }
        self.unsent.retain(|unsent| unsent.sent < unsent.body.len());
    }
}

const PROTOCOL: Fault = Fault::new(Code::PROTOCOL_ERROR, "a frame out of place");
const CALM: Fault = Fault::new(Code::ENHANCE_YOUR_CALM, "more than this server keeps");

/// A message of gRPC without a field, which each type has.
const NO_FIELDS: &[u8] = &[0; 5];

/// Appends the answer to a gRPC call: that message, and the status OK.
fn grpc_answer(stream: u32, out: &mut Vec<u8>) {
    // The index of `:status: 200` in the static table.
    let mut head = vec![0x88];
    literal(b"content-type", b"application/grpc", &mut head);
    let mut trailers = Vec::new();
    literal(b"grpc-status", b"0", &mut trailers);
    frame::write_block(stream, &head, false, out);
    frame::write(Kind::DATA, 0, stream, NO_FIELDS, out);
    frame::write_block(stream, &trailers, true, out);
}

fn go_away(code: Code, why: &'static str, out: &mut Vec<u8>) -> Fault {
    frame::write_goaway(0, code, out);
    Fault::new(code, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_as_far_as_the_windows_let_them() {
        let mut out = Vec::new();
        let mut session = Session::new(&mut out);
        let mut answer = |request: &Request<'_>, out: &mut Vec<u8>| {
            assert_eq!((request.method, request.target), (&b"GET"[..], &b"/"[..]));
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        };
        let mut bytes = Vec::new();
        frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, 2)], &mut bytes);
        for stream in [1, 3] {
            frame::write_block(stream, &[0x82, 0x84, 0x86], true, &mut bytes);
        }
        frame::write_window_update(1, 3, &mut bytes);
        out.clear();
        let taken = session.take(&bytes, &mut answer, &mut out).unwrap();
        assert_eq!(taken, bytes.len());
        let block = [0x88, 0x0f, 0x0d, 0x01, b'5'];
        let mut expected = Vec::new();
        frame::write(Kind::SETTINGS, flag::ACK, 0, &[], &mut expected);
        for (stream, piece) in [(1, b"he"), (3, b"he")] {
            frame::write_block(stream, &block, false, &mut expected);
            frame::write(Kind::DATA, 0, stream, piece, &mut expected);
        }
        frame::write(Kind::DATA, flag::END_STREAM, 1, b"llo", &mut expected);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_request_that_repeats_gets_the_same_answer_on_its_own_stream() {
        let mut out = Vec::new();
        let mut session = Session::new(&mut out);
        let mut asked = 0;
        let mut answer = |_: &Request<'_>, out: &mut Vec<u8>| {
            asked += 1;
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        };
        let mut answers = Vec::new();
        for stream in [1u32, 3, 5] {
            let (mut bytes, mut out) = (Vec::new(), Vec::new());
            frame::write_block(stream, &[0x82, 0x84, 0x86], true, &mut bytes);
            session.take(&bytes, &mut answer, &mut out).unwrap();
            for byte in [8, 22] {
                assert_eq!(u32::from(std::mem::take(&mut out[byte])), stream, "{out:?}");
            }
            answers.push(out);
        }
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[1], answers[2]);
        assert_eq!(asked, 1);
    }

    #[test]
    fn answers_that_are_too_many_to_keep_end_the_connection_whatever_the_method() {
        for has_body in [false, true] {
            let mut bytes = Vec::new();
            frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, 0)], &mut bytes);
            for stream in (1..).step_by(2).take(MOST_OPEN + 1) {
                let method = if has_body { 0x83 } else { 0x82 };
                frame::write_block(stream, &[method, 0x84, 0x86], !has_body, &mut bytes);
                if has_body {
                    frame::write(Kind::DATA, flag::END_STREAM, stream, b"x", &mut bytes);
                }
            }
            let mut out = Vec::new();
            let mut session = Session::new(&mut out);
            let mut answer = |_: &Request<'_>, out: &mut Vec<u8>| {
                out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            };
            assert_eq!(session.take(&bytes, &mut answer, &mut out), Err(CALM));
            let mut goaway = Vec::new();
            frame::write_goaway(0, CALM.code, &mut goaway);
            assert!(out.ends_with(&goaway));
        }
    }

    #[test]
    fn the_preface_is_known_by_its_beginning() {
        assert_eq!(begins(PREFACE), Begins::Whole);
        assert_eq!(begins(b"PRI * HT"), Begins::Part);
        assert_eq!(begins(b"PRIVATE"), Begins::Otherwise);
        assert_eq!(begins(b"P"), Begins::Otherwise);
    }
}
