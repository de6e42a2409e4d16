//! WebSockets of the null server: each message comes back as it is.

use std::borrow::Cow;
use touchstone_http::field_lines;
use touchstone_websocket::{Event, Opcode, Reader, Role, accept_of, write};

/// A connection that was opened.
#[derive(Debug)]
pub struct Session(Reader);

impl Session {
    /// Answers a request that opens a WebSocket; none if it is another.
    pub fn open(request: &[u8], out: &mut Vec<u8>) -> Option<Self> {
        let mut upgrades = field_lines(request, "upgrade");
        let key = field_lines(request, "sec-websocket-key").next()?;
        if !upgrades.any(|name| name.eq_ignore_ascii_case(b"websocket")) {
            return None;
        }
        let accept = accept_of(key);
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        out.extend_from_slice(head.as_bytes());
        Some(Self(Reader::new(Role::Client)))
    }

    /// Answers what came; whether the connection is to be closed.
    pub fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> bool {
        loop {
            let (opcode, payload) = match self.0.read(&mut bytes) {
                Ok(None) => return false,
                Ok(Some(Event::Message(kind, payload))) => (Opcode::Message(kind), payload),
                Ok(Some(Event::Ping(payload))) => (Opcode::Pong, payload),
                Ok(Some(Event::Pong)) => continue,
                Ok(Some(Event::Close(close))) => {
                    let code = close.code.map_or([0; 2], u16::to_be_bytes);
                    let code = if close.code.is_some() { &code[..] } else { &[] };
                    write(Opcode::Close, None, code, out);
                    return true;
                }
                Err(fault) => {
                    write(Opcode::Close, None, &fault.code.to_be_bytes(), out);
                    return true;
                }
            };
            write(opcode, None, &payload, out);
            if let Cow::Owned(payload) = payload {
                self.0.reuse(payload);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_goes_back() {
        let request = b"GET / HTTP/1.1\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let mut out = Vec::new();
        let mut session = Session::open(request, &mut out).unwrap();
        assert!(out.ends_with(b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
        assert!(Session::open(b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", &mut out).is_none());
        let mut sent = Vec::new();
        let mask = Some(*b"mask");
        write(
            Opcode::Message(touchstone_websocket::Kind::Text),
            mask,
            b"hi",
            &mut sent,
        );
        write(Opcode::Ping, mask, b"p", &mut sent);
        out.clear();
        assert!(!session.take(&sent[..3], &mut out) && out.is_empty());
        assert!(!session.take(&sent[3..], &mut out));
        assert_eq!(out, b"\x81\x02hi\x8a\x01p");
        out.clear();
        sent.clear();
        write(Opcode::Close, mask, &1001u16.to_be_bytes(), &mut sent);
        assert!(session.take(&sent, &mut out));
        assert_eq!(out, b"\x88\x02\x03\xe9");
        out.clear();
        assert!(Session(Reader::new(Role::Client)).take(b"\x81\x01a", &mut out));
        assert_eq!(out, b"\x88\x02\x03\xea");
    }
}
