//! Messages of a gRPC response with server streaming: each is an event.

use std::sync::Arc;

use touchstone_grpc::{Method, prefix};
use touchstone_http::Malformed;

use super::{Event, MOST_BYTES, TOO_LARGE};
use crate::glance::Glance;

const NO_FLAG: Malformed = Malformed("a message whose flag is neither 0 nor 1");
const COMPRESSED: Malformed =
    Malformed("a compressed message, which the call does not accept (grpc-accept-encoding)");
const NO_MESSAGE: Malformed = Malformed("a message is none of the method's type");

/// What a stream's messages are, and what is read of them.
#[derive(Debug)]
pub struct MessageType {
    method: Method,
    /// Whether anything looks at the data.
    shows: bool,
    /// How they are read without their JSON; none where that is impossible.
    pub(super) glance: Option<Glance>,
}

impl MessageType {
    /// The messages of a method. They are shown as JSON, or only held against their type, where a glance is not enough.
    pub const fn new(method: Method, shows: bool, glance: Option<Glance>) -> Self {
        Self {
            method,
            shows,
            glance,
        }
    }

    /// A message as JSON; as it came if it has none, so that whatever looks at it finds it wrong.
    pub fn json(&self, message: &[u8]) -> Vec<u8> {
        let json = self.method.read(message);
        json.unwrap_or_else(|_| message.to_vec())
    }

    fn hand_over(
        &self,
        message: &[u8],
        event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        let glance = self.glance.as_ref();
        if let Some(found) = glance.and_then(|glance| glance.scan(message)) {
            event(Event {
                found: Some(&found),
                ..Event::bare(message)
            });
        } else if self.shows {
            let json = self.method.read(message).map_err(|_| NO_MESSAGE)?;
            event(Event::bare(&json));
        } else {
            self.method.check(message).map_err(|_| NO_MESSAGE)?;
            event(Event::bare(message));
        }
        Ok(())
    }
}

/// Cuts a body into messages.
#[derive(Debug)]
pub struct Messages {
    of: Arc<MessageType>,
    /// The beginning of a message.
    pending: Vec<u8>,
}

impl Messages {
    /// A reader of a body not begun.
    pub const fn new(of: Arc<MessageType>) -> Self {
        Self {
            of,
            pending: Vec::new(),
        }
    }

    /// Takes a piece of the body, and hands over the messages that it completes.
    ///
    /// # Errors
    /// [`Malformed`] where a message is too large, compressed, or not of its type.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut event: impl FnMut(Event<'_>),
    ) -> Result<(), Malformed> {
        if self.pending.is_empty() {
            let rest = self.cut(bytes, &mut event)?;
            self.pending.extend_from_slice(rest);
            return Ok(());
        }
        self.pending.extend_from_slice(bytes);
        let rest = self.cut(&self.pending, &mut event)?.len();
        self.pending.drain(..self.pending.len() - rest);
        Ok(())
    }

    /// Hands over the messages that are whole; gives the bytes behind them.
    fn cut<'b>(
        &self,
        mut rest: &'b [u8],
        event: &mut impl FnMut(Event<'_>),
    ) -> Result<&'b [u8], Malformed> {
        while let Some((flag, length, behind)) = prefix(rest) {
            match flag {
                0 if length > MOST_BYTES => return Err(TOO_LARGE),
                0 => {}
                1 => return Err(COMPRESSED),
                _ => return Err(NO_FLAG),
            }
            let Some((message, next)) = behind.split_at_checked(length) else {
                break;
            };
            self.of.hand_over(message, event)?;
            rest = next;
        }
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{from_value, json};

    use super::super::{Progress, Seen, StreamCheck};
    use super::*;
    use crate::call::Call;
    use crate::template::{Key, Scope};

    const SCHEMA: &str = r#"syntax = "proto3";
        package t;
        import "google/protobuf/timestamp.proto";
        enum Kind { NONE = 0; SOME = 1; }
        message Inner { int64 n = 1; Inner in = 2; string text = 3; }
        message Note {
          string text = 1; int32 number = 2; sint64 delta = 3; uint64 big = 4; fixed64 at = 5; bool done = 6;
          repeated int32 list = 7; map<string, int64> by = 8; Inner in = 9; optional int32 maybe = 10;
          oneof choice { int32 left = 11; string right = 12; } Kind kind = 13; bytes raw = 14; double share = 15;
          google.protobuf.Timestamp when = 16; sfixed32 small = 17; uint32 u = 18; repeated Note notes = 19;
        }
        service S { rpc List(Note) returns (stream Note); }"#;

    /// Checks of a stream: each once with a glance, and once without.
    fn checks() -> &'static [(StreamCheck, StreamCheck)] {
        static CHECKS: OnceLock<Vec<(StreamCheck, StreamCheck)>> = OnceLock::new();
        CHECKS.get_or_init(|| {
            let name = format!("messages-{}.proto", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, SCHEMA).unwrap();
            let request = json!({"grpc": {"method": "t.S/List", "proto": path}});
            let request: crate::Request = from_value(request).unwrap();
            let call = Call::compile(request.grpc.as_ref().unwrap(), &request).unwrap();
            std::fs::remove_file(&path).unwrap();
            let all = [
                json!({}),
                json!({"counter": "json.number"}),
                json!({"counter": "json.delta", "stamp": "json.at"}),
                json!({"counter": "json.big", "stamp": "json.delta"}),
                json!({"counter": "json.in.n", "stamp": "json.in.in.n"}),
                json!({"counter": "json.maybe", "first": 1}),
                json!({"counter": "json.small", "stamp": "json.u"}),
                json!({"expect": {"kind": "json", "exact": false, "fields": {
                    "text": "n{counter}", "number": 7, "done": true, "delta": -1, "maybe": 1,
                    "big": {"type": "integer"}, "u": {"type": "number"}}}}),
                json!({"expect": {"kind": "json", "exact": false, "fields": {
                    "text": {"type": "string"}, "done": {"type": "boolean"}, "big": 18_446_744_073_709_551_615_u64}}}),
                json!({"expect": {"kind": "json", "exact": false, "fields": {
                    "number": "{counter}", "big": "7", "delta": "-1", "u": "07"}}}),
                json!({"counter": "json.left"}),
                json!({"counter": "json.kind", "expect": {"kind": "json", "exact": false, "fields": {"text": "a"}}}),
                json!({"expect": {"kind": "json", "exact": true, "fields": {"text": "a"}}}),
                json!({"expect": {"kind": "json", "exact": false, "fields": {"raw": "YQ==", "kind": "SOME", "list": []}}}),
            ];
            let compiled = all.into_iter().enumerate().map(|(place, mut stream)| {
                stream["kind"] = "messages".into();
                stream["events"] = 50.into();
                let stream = from_value(stream).unwrap();
                let check = StreamCheck::compile(&stream, Some(&call), Scope::default()).unwrap();
                let messages = check.messages.as_ref().unwrap();
                // The last ones need the JSON.
                assert_eq!(messages.glance.is_some(), place < 10, "{stream:?}");
                let general = MessageType::new(messages.method.clone(), messages.shows, None);
                let general = Arc::new(general);
                let slow = StreamCheck { messages: Some(general), ..check.clone() };
                (check, slow)
            });
            compiled.collect()
        })
    }

    /// All that a check says of a body that comes in pieces of this size.
    type Verdict = (
        Option<Malformed>,
        Vec<Option<Seen>>,
        [u32; 4],
        Option<String>,
    );

    fn verdict(check: &StreamCheck, body: &[u8], piece: usize) -> Verdict {
        let (mut reader, mut progress) = (check.reader(), Progress::new(check));
        let (mut seen, mut broken) = (Vec::new(), None);
        let key = Key {
            counter: 7,
            ..Key::default()
        };
        for part in body.chunks(piece) {
            let fed = reader.feed(part, |event| {
                seen.push(progress.event(check, &event, key, &mut Vec::new()));
            });
            broken = fed.err();
            if broken.is_some() {
                break;
            }
        }
        let Progress {
            came,
            wrong,
            doubled,
            disordered,
            ..
        } = progress;
        let fault = progress.fault(check).map(|(_, why)| why);
        (broken, seen, [came, wrong, doubled, disordered], fault)
    }

    fn varint(mut value: u64, out: &mut Vec<u8>) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    /// A field by its number and wire type, with a value that fits the wire type.
    fn field(number: u64, wire: u64, value: u64, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        varint(number << 3 | wire, &mut out);
        match wire {
            0 => varint(value, &mut out),
            1 => out.extend_from_slice(&value.to_le_bytes()),
            2 => {
                varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(bytes);
            }
            5 => out.extend_from_slice(&(value as u32).to_le_bytes()),
            _ => {}
        }
        out
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(b"a".to_vec()),
            Just(b"n7".to_vec()),
            vec(any::<u8>(), 0..4),
            vec(1u64..8, 0..4).prop_map(|all| {
                let mut out = Vec::new();
                all.into_iter().for_each(|value| varint(value, &mut out));
                out
            }),
        ]
    }

    fn values() -> impl Strategy<Value = u64> {
        let some = vec![
            0,
            1,
            7,
            u64::MAX,
            1 << 31,
            1 << 32,
            1 << 63,
            1_795_000_000_123_456,
        ];
        prop_oneof![proptest::sample::select(some), any::<u64>(), 0u64..9]
    }

    fn fields(depth: u32) -> BoxedStrategy<Vec<u8>> {
        // The wire type that each number of the schema has; others are wrong, or unknown.
        const WIRES: [u64; 21] = [
            0, 2, 0, 0, 0, 1, 0, 2, 2, 2, 0, 0, 2, 0, 2, 1, 2, 5, 0, 2, 0,
        ];
        let right = (1u64..20, values(), texts())
            .prop_map(|(number, value, text)| field(number, WIRES[number as usize], value, &text));
        let any_of = (0u64..24, 0u64..8, values(), texts())
            .prop_map(|(number, wire, value, text)| field(number, wire, value, &text));
        if depth == 0 {
            return prop_oneof![9 => right, 1 => any_of].boxed();
        }
        let inside = vec(fields(depth - 1), 0..4).prop_map(|all| all.concat());
        let deep = (prop_oneof![Just(9u64), Just(19), Just(8), Just(2)], inside)
            .prop_map(|(number, inside)| field(number, 2, 0, &inside));
        prop_oneof![9 => right, 1 => any_of, 4 => deep].boxed()
    }

    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let message = vec(fields(2), 0..6).prop_map(|all| all.concat());
        let framed = message.prop_map(|message| {
            let mut out = vec![0];
            out.extend_from_slice(&(message.len() as u32).to_be_bytes());
            out.extend_from_slice(&message);
            out
        });
        vec(framed, 1..4).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn a_glance_says_what_the_general_way_says(body in bodies(), piece in 1usize..60) {
            for (quick, slow) in checks() {
                prop_assert_eq!(verdict(quick, &body, piece), verdict(slow, &body, piece), "{:?}", quick);
            }
        }
    }

    #[test]
    fn a_right_message_is_read_at_a_glance() {
        let message = [
            field(1, 2, 0, b"n7"),
            field(2, 0, 7, b""),
            field(3, 0, 1, b""),
            field(6, 0, 1, b""),
            field(10, 0, 1, b""),
            field(23, 2, 0, b"of a later version"),
        ];
        let (check, _) = &checks()[7];
        let glance = check.messages.as_ref().unwrap().glance.as_ref().unwrap();
        let key = Key {
            counter: 7,
            ..Key::default()
        };
        let message = message.concat();
        let found = glance.scan(&message).unwrap();
        assert!(glance.numbers(&found, key, &mut Vec::new()).is_some());
        let other = Key {
            counter: 8,
            ..Key::default()
        };
        assert!(glance.numbers(&found, other, &mut Vec::new()).is_none());
    }
}
