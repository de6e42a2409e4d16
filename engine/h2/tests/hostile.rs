//! What a server may not send: each is named, with the code that the RFC gives it, however the bytes are split.

use touchstone_h2::frame::{self, Kind, MAX_PAYLOAD, flag};
use touchstone_h2::{Client, Event, Room};

const END: u8 = flag::END_STREAM;
const WHOLE: u8 = flag::END_HEADERS;
/// `:status: 200`.
const OK: &[u8] = &[0x88];

fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(kind, flags, stream, payload, &mut out);
    out
}

fn head(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(Kind::HEADERS, flags | WHOLE, stream, block)
}

fn data(flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(Kind::DATA, flags, stream, payload)
}

/// A field that enters no table.
fn field(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = vec![0x00, name.len() as u8];
    out.extend_from_slice(name);
    out.push(value.len() as u8);
    out.extend_from_slice(value);
    out
}

fn with(fields: &[(&[u8], &[u8])]) -> Vec<u8> {
    let fields = fields.iter().flat_map(|(name, value)| field(name, value));
    OK.iter().copied().chain(fields).collect()
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_settings(&[(name, value)], &mut out);
    out
}

/// What a client with two requests in flight, of which the second is a HEAD, makes of bytes: a fault, the malformed
/// responses, or the bodies.
fn read(bytes: &[u8], piece: usize) -> String {
    let (mut out, mut room) = (Vec::new(), Room::default());
    let mut client = Client::new(10);
    let greeting = frame(Kind::SETTINGS, 0, 0, &[]);
    assert_eq!(
        client.read(&mut greeting.as_slice(), &mut room, &mut out),
        Ok(Some(Event::Settings))
    );
    client.start(&[0x82], b"", false, (), &mut out);
    client.start(&[0x82], b"", true, (), &mut out);
    let mut said = String::new();
    for mut input in bytes.chunks(piece) {
        loop {
            let event = match client.read(&mut input, &mut room, &mut out) {
                Err(fault) => return said + &fault.to_string(),
                Ok(None) => break,
                Ok(Some(event)) => event,
            };
            let over = match event {
                Event::Head { at, end, .. } | Event::Data { at, end, .. } => end.then_some(at),
                Event::Malformed { at, why } => {
                    said += &format!("malformed: {why}|");
                    Some(at)
                }
                Event::Reset { at, code } => {
                    said += &format!("reset: {}|", code.name());
                    Some(at)
                }
                Event::GoingAway { code } => {
                    said += &format!("going away: {}|", code.name());
                    client.unprocessed()
                }
                Event::Trailers { at } | Event::End { at } => Some(at),
                Event::Settings => None,
            };
            if let Event::Data { bytes, .. } = event {
                said += &String::from_utf8_lossy(bytes);
            }
            if let Some(at) = over {
                client.take(at, &mut out);
            }
        }
        assert!(out.len() < 64 * 1024, "what is sent is bounded");
    }
    said
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_a_server_may_not_send_is_named() {
    let done = head(END, 1, OK);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        // Frames, and where they may stand.
        (
            frame(Kind::DATA, 0, 1, &[b'a'; MAX_PAYLOAD + 1]),
            "FRAME_SIZE_ERROR: a frame longer",
        ),
        (
            data(0, 0, b"a"),
            "PROTOCOL_ERROR: a frame of a stream on stream 0",
        ),
        (
            data(0, 5, b"a"),
            "PROTOCOL_ERROR: a frame on a stream that was never opened",
        ),
        (
            head(0, 2, OK),
            "PROTOCOL_ERROR: a frame on a stream that was never opened",
        ),
        (
            head(0, 0, OK),
            "PROTOCOL_ERROR: a frame of a stream on stream 0",
        ),
        ([done.clone(), data(0, 1, b"a")].concat(), "STREAM_CLOSED"),
        ([done.clone(), head(0, 1, OK)].concat(), "STREAM_CLOSED"),
        (data(END, 1, b"a"), "malformed: DATA before the head"),
        (
            frame(Kind::PUSH_PROMISE, WHOLE, 1, &[0, 0, 0, 2, 0x88]),
            "PROTOCOL_ERROR: a push",
        ),
        (
            frame(Kind::PRIORITY, 0, 1, &[0; 4]),
            "FRAME_SIZE_ERROR: PRIORITY",
        ),
        (
            frame(Kind::PRIORITY, 0, 0, &[0; 5]),
            "PROTOCOL_ERROR: PRIORITY on stream 0",
        ),
        (
            frame(Kind::RST_STREAM, 0, 1, &[0; 3]),
            "FRAME_SIZE_ERROR: RST_STREAM",
        ),
        (frame(Kind::RST_STREAM, 0, 7, &[0; 4]), "never opened"),
        (frame(Kind::RST_STREAM, 0, 0, &[0; 4]), "on stream 0"),
        (
            frame(Kind::RST_STREAM, 0, 1, &[0, 0, 0, 7]),
            "reset: REFUSED_STREAM",
        ),
        (frame(Kind::PING, 0, 0, &[0; 7]), "FRAME_SIZE_ERROR: PING"),
        (
            frame(Kind::PING, 0, 1, &[0; 8]),
            "PROTOCOL_ERROR: PING on a stream",
        ),
        (
            frame(Kind::GOAWAY, 0, 0, &[0; 7]),
            "FRAME_SIZE_ERROR: GOAWAY",
        ),
        (
            frame(Kind::GOAWAY, 0, 1, &[0; 8]),
            "PROTOCOL_ERROR: GOAWAY on a stream",
        ),
        (
            frame(Kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0xb]),
            "going away: ENHANCE_YOUR_CALM",
        ),
        (
            [&[0u8, 0, 0, 1][..], &[0, 0, 0, 3]]
                .iter()
                .flat_map(|last| frame(Kind::GOAWAY, 0, 0, &[last, &[0; 4][..]].concat()))
                .collect(),
            "a second GOAWAY with a higher stream",
        ),
        // Settings.
        (
            frame(Kind::SETTINGS, 0, 1, &[]),
            "PROTOCOL_ERROR: SETTINGS on a stream",
        ),
        (
            frame(Kind::SETTINGS, 0, 0, &[0; 5]),
            "FRAME_SIZE_ERROR: SETTINGS",
        ),
        (
            frame(Kind::SETTINGS, flag::ACK, 0, &[0; 6]),
            "FRAME_SIZE_ERROR: an acknowledgement",
        ),
        (setting(2, 1), "PROTOCOL_ERROR: ENABLE_PUSH"),
        (
            setting(4, 1 << 31),
            "FLOW_CONTROL_ERROR: INITIAL_WINDOW_SIZE above",
        ),
        (setting(5, 16_383), "PROTOCOL_ERROR: MAX_FRAME_SIZE"),
        (setting(5, 1 << 24), "PROTOCOL_ERROR: MAX_FRAME_SIZE"),
        // Windows.
        (
            frame(Kind::WINDOW_UPDATE, 0, 0, &[0; 4]),
            "PROTOCOL_ERROR: WINDOW_UPDATE by 0",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 1, &[0; 4]),
            "malformed: WINDOW_UPDATE by 0",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 0, &[0; 3]),
            "FRAME_SIZE_ERROR: WINDOW_UPDATE",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255]),
            "FLOW_CONTROL_ERROR: WINDOW_UPDATE",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 255, 255]),
            "malformed: WINDOW_UPDATE makes",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 9, &[0, 0, 0, 1]),
            "never opened",
        ),
        (
            [
                frame(Kind::WINDOW_UPDATE, 0, 1, &[0x7f, 0, 0, 0]),
                setting(4, 0x7fff_ffff),
            ]
            .concat(),
            "FLOW_CONTROL_ERROR: INITIAL_WINDOW_SIZE makes",
        ),
        // Floods, and what has no end.
        (
            frame(Kind::SETTINGS, 0, 0, &[]).repeat(1100),
            "ENHANCE_YOUR_CALM",
        ),
        (
            frame(Kind::PING, 0, 0, &[0; 8]).repeat(1100),
            "ENHANCE_YOUR_CALM",
        ),
        (
            frame(Kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(1100),
            "ENHANCE_YOUR_CALM",
        ),
        (
            frame(Kind(0xee), 0, 0, &[0; 8]).repeat(1100),
            "ENHANCE_YOUR_CALM",
        ),
        (
            [head(0, 1, OK), data(0, 1, b"").repeat(1100)].concat(),
            "ENHANCE_YOUR_CALM",
        ),
        (
            [
                frame(Kind::HEADERS, 0, 1, OK),
                frame(Kind::CONTINUATION, 0, 1, &[]).repeat(100),
            ]
            .concat(),
            "ENHANCE_YOUR_CALM: a header block longer",
        ),
        (
            [
                frame(Kind::HEADERS, 0, 1, OK),
                frame(Kind::CONTINUATION, 0, 1, &[b'a'; MAX_PAYLOAD]).repeat(5),
            ]
            .concat(),
            "ENHANCE_YOUR_CALM: a header block longer",
        ),
        // Header blocks.
        (
            frame(Kind::CONTINUATION, WHOLE, 1, OK),
            "PROTOCOL_ERROR: CONTINUATION without",
        ),
        (
            [frame(Kind::HEADERS, 0, 1, OK), data(0, 1, b"a")].concat(),
            "PROTOCOL_ERROR: another frame inside",
        ),
        (
            [
                frame(Kind::HEADERS, 0, 1, OK),
                frame(Kind::CONTINUATION, WHOLE, 3, OK),
            ]
            .concat(),
            "PROTOCOL_ERROR: another frame inside",
        ),
        (
            frame(Kind::HEADERS, WHOLE | flag::PADDED, 1, &[9, 0x88]),
            "PROTOCOL_ERROR: padding longer",
        ),
        (
            frame(Kind::HEADERS, WHOLE | flag::PRIORITY, 1, &[0, 0, 0]),
            "FRAME_SIZE_ERROR: HEADERS too short",
        ),
        (
            [head(0, 1, OK), data(flag::PADDED, 1, &[2, b'a'])].concat(),
            "PROTOCOL_ERROR: padding longer",
        ),
        (
            [head(0, 1, OK), data(flag::PADDED, 1, &[])].concat(),
            "FRAME_SIZE_ERROR: a padded frame",
        ),
        (
            head(END, 1, &[0xbe]),
            "COMPRESSION_ERROR: an index without an entry",
        ),
        (head(END, 1, &[0x88, 0x3f, 0xe2, 0x1f]), "COMPRESSION_ERROR"),
        // Responses.
        (
            head(END, 1, &field(b"a", b"b")),
            "malformed: a response without :status",
        ),
        (head(END, 1, &[0x88, 0x88]), "malformed: :status twice"),
        (
            head(END, 1, &field(b":status", b"20")),
            "malformed: a :status that is not three digits",
        ),
        (
            head(END, 1, &field(b":status", b"101")),
            "malformed: the status 101",
        ),
        (
            head(END, 1, &field(b":status", b"103")),
            "malformed: an interim response that ends",
        ),
        (
            head(END, 1, &[field(b"a", b"b"), OK.to_vec()].concat()),
            "malformed: a pseudo-header field behind others",
        ),
        (
            head(END, 1, &[0x88, 0x84]),
            "malformed: a pseudo-header field other than :status",
        ),
        (
            head(END, 1, &with(&[(b"A", b"1")])),
            "malformed: an upper case letter",
        ),
        (
            head(END, 1, &with(&[(b"a b", b"1")])),
            "malformed: a field name that is not a token",
        ),
        (
            head(END, 1, &with(&[(b"a", b"1\r\nb: 2")])),
            "malformed: a control character",
        ),
        (
            head(END, 1, &with(&[(b"a", b" 1")])),
            "malformed: white space around",
        ),
        (
            head(END, 1, &with(&[(b"connection", b"close")])),
            "malformed: a field that belongs to HTTP/1.1",
        ),
        (
            head(END, 1, &with(&[(b"content-length", b"x")])),
            "malformed: Content-Length is not a number",
        ),
        (
            head(END, 1, &with(&[(b"content-length", b"1")])),
            "malformed: fewer bytes of body",
        ),
        (
            [
                head(0, 1, &with(&[(b"content-length", b"1")])),
                data(END, 1, b"ab"),
            ]
            .concat(),
            "malformed: more bytes of body",
        ),
        (
            [
                head(0, 1, &with(&[(b"content-length", b"3")])),
                data(END, 1, b"ab"),
            ]
            .concat(),
            "malformed: fewer bytes of body",
        ),
        (
            [head(0, 3, OK), data(END, 3, b"ab")].concat(),
            "malformed: more bytes of body",
        ),
        (
            [head(0, 1, OK), head(0, 1, &field(b"a", b"b"))].concat(),
            "malformed: a second head",
        ),
        (
            [head(0, 1, OK), head(END, 1, OK)].concat(),
            "malformed: a pseudo-header field among the trailers",
        ),
    ];
    for (number, (bytes, said)) in cases.iter().enumerate() {
        for piece in [1, 7, usize::MAX] {
            let found = read(bytes, piece.min(bytes.len()));
            assert!(
                found.contains(said),
                "case {number}, pieces of {piece}: {found:?}, not {said:?}"
            );
        }
    }
}

#[test]
fn what_is_allowed_is_taken() {
    let padded = data(END | flag::PADDED, 1, &[3, b'h', b'i', 0, 0, 0]);
    let priority = [&[0, 0, 0, 0, 9][..], OK].concat();
    let cases = [
        [head(0, 1, OK), padded].concat(),
        [
            head(0, 1, OK),
            data(0, 1, b"h"),
            data(0, 1, b"i"),
            data(END, 1, b""),
        ]
        .concat(),
        [
            head(0, 1, &field(b":status", b"103")),
            head(0, 1, OK),
            data(0, 1, b"hi"),
            head(END, 1, &field(b"a", b"b")),
        ]
        .concat(),
        [
            frame(
                Kind::HEADERS,
                WHOLE | flag::PRIORITY | flag::PADDED,
                1,
                &[&[1][..], &priority, &[0]].concat(),
            ),
            data(END, 1, b"hi"),
        ]
        .concat(),
        [
            frame(Kind::HEADERS, 0, 1, OK),
            frame(Kind::CONTINUATION, 0, 1, &[]),
            frame(Kind::CONTINUATION, WHOLE, 1, &field(b"a", b"b")),
            data(END, 1, b"hi"),
        ]
        .concat(),
        [
            frame(Kind(0x77), 0xff, 9, b"x"),
            frame(Kind::PRIORITY, 0, 9, &[0; 5]),
            head(0, 1, OK),
            data(END, 1, b"hi"),
        ]
        .concat(),
        [
            head(END, 3, &with(&[(b"content-length", b"5")])),
            head(0, 1, &with(&[(b"content-length", b"2")])),
            data(END, 1, b"hi"),
            frame(Kind::RST_STREAM, 0, 1, &[0; 4]),
        ]
        .concat(),
    ];
    for (number, bytes) in cases.iter().enumerate() {
        for piece in [1, 2, 5, bytes.len()] {
            assert_eq!(read(bytes, piece), "hi", "case {number}, pieces of {piece}");
        }
    }
}

#[test]
fn a_body_goes_as_far_as_the_windows_let_it() {
    let (mut out, mut room) = (Vec::new(), Room::default());
    let mut client = Client::new(10);
    let mut feed = |client: &mut Client<()>, bytes: &[u8]| {
        let mut out = Vec::new();
        let mut input = bytes;
        while client
            .read(&mut input, &mut room, &mut out)
            .unwrap()
            .is_some()
        {}
        out
    };
    // A window of 5 for each stream; the connection's is 65,535.
    feed(&mut client, &setting(4, 5));
    let body = vec![b'x'; 70_000];
    client.start(&[0x83], &body, false, (), &mut out);
    assert_eq!(out, [head(0, 1, &[0x83]), data(0, 1, b"xxxxx")].concat());
    assert!(client.waits_for_window());
    let more = frame(Kind::WINDOW_UPDATE, 0, 1, &2u32.to_be_bytes());
    assert_eq!(feed(&mut client, &more), data(0, 1, b"xx"));
    // A larger window is for the streams that are open, too; then the connection's is used up.
    let sent = feed(&mut client, &setting(4, 1 << 20));
    let all = 65_535_usize - 7;
    let frames = sent.len() - frame(Kind::SETTINGS, flag::ACK, 0, &[]).len();
    assert_eq!(frames, all + 9 * all.div_ceil(MAX_PAYLOAD));
    let rest = feed(
        &mut client,
        &frame(Kind::WINDOW_UPDATE, 0, 0, &(1u32 << 20).to_be_bytes()),
    );
    assert_eq!(rest, data(END, 1, &vec![b'x'; 70_000 - 65_535]));
    assert!(!client.waits_for_window());
}

#[test]
fn the_servers_limit_holds_and_may_change() {
    let (mut out, mut room) = (Vec::new(), Room::default());
    let mut client: Client<()> = Client::new(16);
    assert_eq!((client.most(), client.held_to()), (16, None));
    client
        .read(&mut setting(3, 4).as_slice(), &mut room, &mut out)
        .unwrap();
    assert_eq!((client.most(), client.held_to()), (4, Some(4)));
    client
        .read(&mut setting(3, 100).as_slice(), &mut room, &mut out)
        .unwrap();
    assert_eq!((client.most(), client.held_to()), (16, None));
    client.retire();
    assert_eq!(client.most(), 0);
}
