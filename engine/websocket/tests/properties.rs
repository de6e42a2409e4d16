//! Frames and handshakes against tungstenite, a WebSocket of another hand.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;
use touchstone_websocket::{Event, Handshake, Kind, Opcode, Reader, Role, write};
use tungstenite::protocol::Role as OtherRole;
use tungstenite::{Error, Message, WebSocket};

/// Bytes that have come, and what was sent.
struct Wire(Cursor<Vec<u8>>, Vec<u8>);

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What tungstenite reads from bytes of `sender`; the last is "fault" where they break the protocol.
fn others(bytes: &[u8], sender: Role) -> Vec<String> {
    let role = match sender {
        Role::Client => OtherRole::Server,
        Role::Server => OtherRole::Client,
    };
    let mut socket =
        WebSocket::from_raw_socket(Wire(Cursor::new(bytes.to_vec()), Vec::new()), role, None);
    let mut found = Vec::new();
    loop {
        found.push(match socket.read() {
            Ok(Message::Text(text)) => format!("Text {:?}", text.as_bytes()),
            Ok(Message::Binary(bytes)) => format!("Binary {:?}", &bytes[..]),
            Ok(Message::Ping(bytes)) => format!("ping {:?}", &bytes[..]),
            Ok(Message::Pong(_)) => "pong".to_owned(),
            Ok(Message::Close(_)) => {
                found.push("close".to_owned());
                return found;
            }
            Ok(Message::Frame(_)) => unreachable!("frames are not handed out"),
            Err(Error::Io(_)) => return found,
            Err(_) => "fault".to_owned(),
        });
        if found.last().is_some_and(|last| last == "fault") {
            return found;
        }
    }
}

/// What our reader reads, in pieces of `size`.
fn ours(bytes: &[u8], sender: Role, size: usize) -> Vec<String> {
    let mut reader = Reader::new(sender);
    let mut found = Vec::new();
    for mut piece in bytes.chunks(size.max(1)) {
        loop {
            found.push(match reader.read(&mut piece) {
                Ok(None) => break,
                Ok(Some(Event::Message(kind, bytes))) => format!("{kind:?} {:?}", &bytes[..]),
                Ok(Some(Event::Ping(bytes))) => format!("ping {:?}", &bytes[..]),
                Ok(Some(Event::Pong)) => "pong".to_owned(),
                Ok(Some(Event::Close(_))) => {
                    found.push("close".to_owned());
                    return found;
                }
                Err(_) => {
                    found.push("fault".to_owned());
                    return found;
                }
            });
        }
    }
    found
}

fn opcode() -> impl Strategy<Value = Opcode> {
    prop_oneof![
        Just(Opcode::Message(Kind::Text)),
        Just(Opcode::Message(Kind::Binary)),
        Just(Opcode::Ping),
        Just(Opcode::Pong),
    ]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![0..20usize, 120..130usize, 65_530..65_540usize];
    length.prop_map(|length| (0..length).map(|at| b'a' + (at % 26) as u8).collect())
}

/// A frame of a server whose first byte is anything, mostly sound.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        8 => prop::sample::select(vec![0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x89, 0x8a]),
        1 => any::<u8>(),
    ];
    (first, prop::collection::vec(any::<u8>(), 0..8)).prop_map(|(first, payload)| {
        let mut frame = vec![first, payload.len() as u8];
        frame.extend_from_slice(&payload);
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_we_write_tungstenite_reads(opcode in opcode(), payload in payload(), key: [u8; 4]) {
        let is_control = matches!(opcode, Opcode::Ping | Opcode::Pong);
        let payload = if is_control { &payload[..payload.len().min(125)] } else { &payload };
        let mut masked = Vec::new();
        write(opcode, Some(key), payload, &mut masked);
        let mut plain = Vec::new();
        write(opcode, None, payload, &mut plain);
        let read = others(&masked, Role::Client);
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(&read, &others(&plain, Role::Server));
        for size in [1, 7, masked.len()] {
            prop_assert_eq!(&read, &ours(&masked, Role::Client, size));
            prop_assert_eq!(&read, &ours(&plain, Role::Server, size));
        }
    }

    #[test]
    fn both_read_the_same_in_any_frames(frames in prop::collection::vec(any_frame(), 1..8), size in 1..40usize) {
        let bytes = frames.concat();
        prop_assert_eq!(others(&bytes, Role::Server), ours(&bytes, Role::Server, size));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1..50usize) {
        ours(&bytes, Role::Server, size);
        ours(&bytes, Role::Client, size);
    }
}

#[test]
fn tungstenite_accepts_our_handshake_and_we_accept_its_answer() {
    let mut request = b"GET /chat HTTP/1.1\r\nHost: h\r\n".to_vec();
    let mut handshake = Handshake::write(*b"sixteen bytes ok", 0, &mut request);
    let mut wire = Wire(Cursor::new(request), Vec::new());
    tungstenite::accept(&mut wire).unwrap();
    let mut answer = wire.1;
    answer.push(0x81);
    for mut byte in answer[..answer.len() - 2].chunks(1) {
        assert_eq!(handshake.read(&mut byte), Ok(false));
    }
    let mut rest = &answer[answer.len() - 2..];
    assert_eq!(handshake.read(&mut rest), Ok(true));
    assert_eq!(rest, b"\x81");
}
