//! One message over a WebSocket: the handshake, the message, and what comes back.

use touchstone_websocket::{Event, Handshake, Opcode, Reader, Role, write};

use crate::response::{Progress, Response};

/// The mask of control frames: it protects proxies from scripts that a browser runs (RFC 6455, section 10.3), and no
/// browser is here.
const MASK: Option<[u8; 4]> = Some([0; 4]);
/// The status of a handshake that is answered.
const SWITCHING_PROTOCOLS: u16 = 101;

/// What is sent to open a WebSocket, and over it.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The handshake's request.
    pub request: Vec<u8>,
    /// What must come for it.
    pub handshake: Handshake,
    /// The message, in its frame.
    pub frame: Vec<u8>,
    /// Messages that the server sends on its own before.
    pub greetings: u32,
}

/// A WebSocket over which one message is sent.
#[derive(Debug)]
pub(crate) struct Socket {
    opening: Opening,
    is_open: bool,
    reader: Reader,
}

impl Socket {
    pub(crate) fn new(opening: &Opening) -> Self {
        Self {
            opening: opening.clone(),
            is_open: false,
            reader: Reader::new(Role::Server),
        }
    }

    /// Takes bytes of the server, and appends to `out` what is to be sent. The message that comes back is the body of the
    /// response.
    pub(crate) fn take(&mut self, mut data: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        if !self.is_open {
            self.is_open = self.opening.handshake.read(&mut data)?;
            if self.is_open && self.opening.greetings == 0 {
                out.extend_from_slice(&self.opening.frame);
            }
        }
        while self.is_open {
            match self.reader.read(&mut data) {
                Ok(None) => break,
                Ok(Some(Event::Pong)) => {}
                Ok(Some(Event::Ping(bytes))) => write(Opcode::Pong, MASK, &bytes, out),
                Ok(Some(Event::Message(..))) if self.opening.greetings > 0 => {
                    self.opening.greetings -= 1;
                    if self.opening.greetings == 0 {
                        out.extend_from_slice(&self.opening.frame);
                    }
                }
                Ok(Some(Event::Message(kind, bytes))) => {
                    write(Opcode::Close, MASK, &1000_u16.to_be_bytes(), out);
                    return Ok(Progress::Complete(Response {
                        status: SWITCHING_PROTOCOLS,
                        head: self.opening.handshake.head().to_vec(),
                        body: bytes.into_owned(),
                        message: Some(kind),
                        ..Response::default()
                    }));
                }
                Ok(Some(Event::Close(close))) => {
                    return Err(format!("the server closed the WebSocket, {close}"));
                }
                Err(fault) => {
                    write(Opcode::Close, MASK, &fault.code.to_be_bytes(), out);
                    return Err(format!("the server broke the rules of WebSocket: {fault}"));
                }
            }
        }
        Ok(Progress::Partial)
    }

    /// Whether anything of the response to the handshake has come.
    pub(crate) fn begun(&self) -> bool {
        self.is_open || !self.opening.handshake.is_unanswered()
    }

    /// What is still waited for, in words.
    pub(crate) fn so_far(&self) -> String {
        if !self.is_open {
            return String::new();
        }
        match self.opening.greetings {
            0 => "the WebSocket is open, and no message came back".to_owned(),
            more => format!("the WebSocket is open, and {more} more greetings were to come"),
        }
    }

    /// Why a connection that the server closed gave no message.
    pub(crate) fn closed(&self) -> String {
        if self.is_open {
            return "the server ended the connection without a close frame, and before the message that was to come back"
                .to_owned();
        }
        "the server closed the connection where the answer to the handshake was to come".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use touchstone_websocket::{Kind, accept_of};

    use super::*;

    fn socket(greetings: u32) -> (Socket, Vec<u8>) {
        let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n".to_vec();
        let handshake = Handshake::write([7; 16], 0, &mut request);
        let text = String::from_utf8(request.clone()).unwrap();
        let key = text.split("Key: ").nth(1).unwrap().trim_end();
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
            accept_of(key.as_bytes())
        );
        let opening = Opening {
            request,
            handshake,
            frame: b"FRAME".to_vec(),
            greetings,
        };
        (Socket::new(&opening), answer.into_bytes())
    }

    fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(opcode, None, payload, &mut out);
        out
    }

    #[test]
    fn a_message_is_sent_once_the_socket_is_open_and_the_one_that_comes_back_is_the_body() {
        for greetings in [0, 2] {
            let (mut socket, mut bytes) = socket(greetings);
            for _ in 0..greetings {
                bytes.extend(frame(Opcode::Message(Kind::Text), b"hello"));
            }
            bytes.extend(frame(Opcode::Ping, b"p"));
            let mut out = Vec::new();
            for piece in bytes.chunks(1) {
                assert_eq!(socket.take(piece, &mut out), Ok(Progress::Partial));
            }
            let mut pong = Vec::new();
            write(Opcode::Pong, MASK, b"p", &mut pong);
            assert_eq!(out, [b"FRAME", &pong[..]].concat());
            let whole = socket.take(&frame(Opcode::Message(Kind::Binary), b"\x01"), &mut out);
            let Ok(Progress::Complete(response)) = whole else {
                panic!("{whole:?}")
            };
            assert_eq!((response.status, &response.body[..]), (101, &b"\x01"[..]));
            assert_eq!(response.message, Some(Kind::Binary));
            assert!(response.head.ends_with(b"\r\n\r\n"));
        }
    }

    #[test]
    fn what_ends_it_is_a_sentence() {
        let ends = |bytes: &[u8]| {
            let (mut socket, mut whole) = socket(0);
            whole.extend_from_slice(bytes);
            socket.take(&whole, &mut Vec::new()).unwrap_err()
        };
        let closed = frame(
            Opcode::Close,
            &[&1008_u16.to_be_bytes()[..], b"no"].concat(),
        );
        assert!(ends(&closed).contains("close code 1008 (policy violation): \"no\""));
        assert!(ends(&[0xc1, 0x00]).contains("broke the rules"));
        let (mut socket, _) = socket(0);
        let refused = socket.take(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            &mut Vec::new(),
        );
        assert!(refused.unwrap_err().contains("status 404"));
        assert!(socket.begun());
    }
}
