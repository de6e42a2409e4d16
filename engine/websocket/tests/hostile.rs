//! What a server may not send: each breach has its close code, and is known at its first bad byte.

use touchstone_websocket::{Event, Fault, Handshake, Reader, Role, accept_of};

/// What reading the bytes gives, in pieces of `size`.
fn read(bytes: &[u8], size: usize) -> Result<Vec<String>, Fault> {
    let mut reader = Reader::new(Role::Server);
    let mut found = Vec::new();
    for mut piece in bytes.chunks(size) {
        while let Some(event) = reader.read(&mut piece)? {
            found.push(match event {
                Event::Message(kind, bytes) => {
                    let shown = format!("{kind:?} {}", String::from_utf8_lossy(&bytes));
                    if let std::borrow::Cow::Owned(bytes) = bytes {
                        reader.reuse(bytes);
                    }
                    shown
                }
                Event::Ping(bytes) => format!("ping {}", String::from_utf8_lossy(&bytes)),
                Event::Pong => "pong".to_owned(),
                Event::Close(close) => close.to_string(),
            });
        }
    }
    Ok(found)
}

#[test]
fn each_breach_is_named() {
    let long_ping = [&[0x89, 126, 0, 126][..], &[b'x'; 126]].concat();
    let cases: &[(&[u8], u16, &str)] = &[
        (b"\xc1\x00", 1002, "reserved bit"),
        (b"\xa1\x00", 1002, "reserved bit"),
        (b"\x91\x00", 1002, "reserved bit"),
        (b"\x83\x00", 1002, "reserved opcode"),
        (b"\x87\x00", 1002, "reserved opcode"),
        (b"\x8b\x00", 1002, "reserved opcode"),
        (b"\x8f\x00", 1002, "reserved opcode"),
        (b"\x81\x81\0\0\0\0a", 1002, "masked"),
        (b"\x89\x80\0\0\0\0", 1002, "masked"),
        (b"\x09\x00", 1002, "control frame is fragmented"),
        (b"\x08\x00", 1002, "control frame is fragmented"),
        (b"\x0a\x01x", 1002, "control frame is fragmented"),
        (&long_ping, 1002, "longer than 125"),
        (b"\x88\x7e\x00\x80", 1002, "longer than 125"),
        (b"\x80\x01a", 1002, "no message before it"),
        (b"\x00\x01a", 1002, "no message before it"),
        (b"\x81\x01a\x80\x01a", 1002, "no message before it"),
        (b"\x01\x01a\x81\x01b", 1002, "inside of a fragmented one"),
        (b"\x01\x01a\x02\x01b", 1002, "inside of a fragmented one"),
        (b"\x81\x7e\x00\x7da", 1002, "fewest bytes"),
        (b"\x82\x7f\0\0\0\0\0\0\xff\xff", 1002, "fewest bytes"),
        (b"\x82\x7f\x80\0\0\0\0\0\0\0", 1002, "highest bit"),
        (b"\x82\x7f\0\0\0\0\x01\0\0\x01", 1009, "larger than 16 MiB"),
        (
            b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff",
            1009,
            "larger than 16 MiB",
        ),
        (
            b"\x02\x01a\x80\x7f\0\0\0\0\x01\0\0\0",
            1009,
            "larger than 16 MiB",
        ),
        (b"\x81\x02\xc3\x28", 1007, "text message is not UTF-8"),
        (b"\x81\x01\xc3", 1007, "text message is not UTF-8"),
        (b"\x81\x03\xed\xa0\x80", 1007, "text message is not UTF-8"),
        (
            b"\x01\x01\xc3\x80\x01\x28",
            1007,
            "text message is not UTF-8",
        ),
        (b"\x88\x01\x03", 1002, "half of a code"),
        (b"\x88\x02\x00\x00", 1002, "code that must not be sent"),
        (b"\x88\x02\x03\xe7", 1002, "code that must not be sent"),
        (b"\x88\x02\x03\xec", 1002, "code that must not be sent"),
        (b"\x88\x02\x03\xed", 1002, "code that must not be sent"),
        (b"\x88\x02\x03\xee", 1002, "code that must not be sent"),
        (b"\x88\x02\x03\xf7", 1002, "code that must not be sent"),
        (b"\x88\x02\x0b\xb7", 1002, "code that must not be sent"),
        (b"\x88\x02\x13\x88", 1002, "code that must not be sent"),
        (b"\x88\x02\xff\xff", 1002, "code that must not be sent"),
        (b"\x88\x03\x03\xe8\xff", 1007, "reason of a close frame"),
    ];
    for (bytes, code, said) in cases {
        for size in [1, 2, 3, bytes.len()] {
            let fault = read(bytes, size).expect_err(&format!("{bytes:x?}"));
            assert_eq!(fault.code, *code, "{bytes:x?}: {fault}");
            assert!(fault.why.contains(said), "{bytes:x?}: {fault}");
        }
    }
}

#[test]
fn what_a_server_may_send_is_read_however_it_is_cut() {
    let long = [&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0][..], &[b'x'; 1 << 16]].concat();
    let cases: &[(&[u8], &[&str])] = &[
        (b"\x81\x02hi", &["Text hi"]),
        (
            b"\x82\x02\xff\xfe\x81\x00",
            &["Binary \u{fffd}\u{fffd}", "Text "],
        ),
        (b"\x01\x01\xc3\x80\x01\xa9", &["Text \u{e9}"]),
        (
            b"\x01\x01a\x00\x00\x89\x01p\x00\x01b\x8a\x00\x80\x01c",
            &["ping p", "pong", "Text abc"],
        ),
        (b"\x88\x00", &["a close frame without a code"]),
        (
            b"\x88\x05\x03\xe9bye",
            &["close code 1001 (going away): \"bye\""],
        ),
        (b"\x88\x02\x0f\xa0", &["close code 4000"]),
        (b"\x88\x02\x03\xf6", &["close code 1014 (bad gateway)"]),
    ];
    for (bytes, expected) in cases {
        for size in 1..=bytes.len() {
            assert_eq!(
                read(bytes, size).unwrap(),
                *expected,
                "{bytes:x?} by {size}"
            );
        }
    }
    for size in [1, 4096, long.len()] {
        assert_eq!(
            read(&long, size).unwrap()[0].len(),
            "Binary ".len() + (1 << 16)
        );
    }
}

const KEY: &str = "c2l4dGVlbiBieXRlcyBvaw==";

fn answered(response: &str) -> Result<bool, String> {
    let mut request = b"GET / HTTP/1.1\r\nSec-WebSocket-Protocol: chat, v2.chat\r\n".to_vec();
    let mut handshake = Handshake::write(*b"sixteen bytes ok", 0, &mut request);
    assert!(String::from_utf8(request).unwrap().contains(KEY));
    let accept = accept_of(KEY.as_bytes());
    let response = response.replace("ACCEPT", &accept).replace('\n', "\r\n");
    handshake.read(&mut response.as_bytes())
}

#[test]
fn the_key_of_the_rfc_has_the_answer_of_the_rfc() {
    assert_eq!(
        accept_of(b"dGhlIHNhbXBsZSBub25jZQ=="),
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    );
}

#[test]
fn a_handshake_is_answered_as_the_rfc_demands_or_fails() {
    let sound = "HTTP/1.1 101 Yes\nUpgrade: WebSocket\nConnection: keep-alive, upgrade\nSec-WebSocket-Accept: ACCEPT\n\n";
    assert_eq!(answered(sound), Ok(true));
    assert_eq!(
        answered(&format!("HTTP/1.1 103 Early\nLink: a\n\n{sound}")),
        Ok(true)
    );
    assert_eq!(answered(&sound[..40]), Ok(false));
    let with = |field: &str| sound.replacen("\n\n", &format!("\n{field}\n\n"), 1);
    assert_eq!(answered(&with("Sec-WebSocket-Protocol: v2.chat")), Ok(true));
    for (response, said) in [
        (
            "HTTP/1.1 200 OK\nContent-Length: 0\n\n".to_owned(),
            "status 200",
        ),
        (
            "HTTP/1.1 403 No\nContent-Length: 0\n\n".to_owned(),
            "status 403",
        ),
        (sound.replace("HTTP/1.1", "HTTP/1.0"), "HTTP/1.0"),
        (
            sound.replace("HTTP/1.1", "SSH-2.0"),
            "does not begin with HTTP",
        ),
        (
            sound.replace("Upgrade: WebSocket\n", ""),
            "no `Upgrade: websocket`",
        ),
        (
            sound.replace("WebSocket\nC", "h2c\nC"),
            "no `Upgrade: websocket`",
        ),
        (
            sound.replace("keep-alive, upgrade", "close"),
            "no `Connection: Upgrade`",
        ),
        (
            sound.replace("Sec-WebSocket-Accept: ACCEPT\n", ""),
            "no Sec-WebSocket-Accept",
        ),
        (
            sound.replace("ACCEPT", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            "not that of the handshake's key",
        ),
        (
            with("Sec-WebSocket-Accept: ACCEPT"),
            "not that of the handshake's key",
        ),
        (
            with("Sec-WebSocket-Extensions: permessage-deflate"),
            "an extension",
        ),
        (with("Sec-WebSocket-Protocol: other"), "a subprotocol"),
        (
            with("Sec-WebSocket-Protocol: chat\nSec-WebSocket-Protocol: chat"),
            "a subprotocol",
        ),
    ] {
        let why = answered(&response).expect_err(&response);
        assert!(why.contains(said), "{response}: {why}");
    }
}
