//! A message over a WebSocket in the request language: the handshake that opens the connection, the message that is sent,
//! and what must come back.

use touchstone_websocket::{Handshake, Kind, OWN_FIELDS, Opcode, write};

use crate::check::Check;
use crate::job::{BodyEncoding, Encoding, Expect, ExpectBody, Request, WebSocket};
use crate::random;
use crate::request::{CompiledRequest, Origin, is_name};
use crate::socket::Opening;
use crate::template::{Key, Place, Scope, Template};

/// Sets the masks apart from what else follows from a seed.
const MASKS: u64 = 0x6d61_736b;
/// And the keys of handshakes.
const KEYS: u64 = 0x6b65_7973;

/// What is sent over a WebSocket.
#[derive(Debug, Clone)]
pub struct Message {
    template: Template,
    kind: Kind,
    /// Whether what comes back is the message itself, so that it is text where the message is.
    is_echo: bool,
    /// Messages that the server sends on its own when a connection opens.
    greetings: u32,
}

impl Message {
    /// Appends the frame for a key. A mask protects proxies from scripts that a browser runs (RFC 6455, section 10.3). A load
    /// has none: its mask follows from the message's number, so that the frame can be made again.
    pub(crate) fn render(&self, key: Key<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        let payload = self.template.fixed().unwrap_or_else(|| {
            scratch.clear();
            self.template.render(key, scratch);
            scratch
        });
        let mask = random::at(key.seed ^ MASKS, key.counter) as u32;
        let mask = Some(mask.to_ne_bytes());
        write(Opcode::Message(self.kind), mask, payload, out);
    }

    /// Appends the message for a key, without a frame.
    pub fn text(&self, key: Key<'_>, out: &mut Vec<u8>) {
        self.template.render(key, out);
    }
}

impl CompiledRequest {
    /// Compiles a message over a WebSocket, whose request is the handshake.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together.
    pub fn compile_message(
        request: &Request,
        socket: &WebSocket,
        origin: Origin<'_>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        refuse(request)?;
        let text = request.body.as_deref().ok_or(
            "body: a WebSocket load sends a message, and awaits its echo: name it in body",
        )?;
        let template = Template::parse_as(request.encoding, text, scope, Place::Body);
        let message = Message {
            template: template.map_err(|why| format!("body: {why}"))?,
            kind: match request.encoding {
                BodyEncoding::Text => Kind::Text,
                BodyEncoding::Bytes => Kind::Binary,
            },
            greetings: socket.greetings,
            is_echo: matches!(request.expect.body, None | Some(ExpectBody::Any)),
        };
        let mut expect = request.expect.clone();
        if message.is_echo {
            expect.body = Some(ExpectBody::Exact {
                value: text.to_owned(),
            });
            expect.encoding = match request.encoding {
                BodyEncoding::Text => Encoding::Text,
                BodyEncoding::Bytes => Encoding::Bytes,
            };
        }
        let handshake = Request {
            websocket: None,
            body: None,
            encoding: BodyEncoding::Text,
            expect: Expect::default(),
            ..request.clone()
        };
        let origin = Origin {
            closes: false,
            ..origin
        };
        let mut compiled = Self::compile(&handshake, origin, scope)?;
        compiled.check =
            Check::compile(&expect, None, scope).map_err(|why| format!("expect.{why}"))?;
        // A message may have been read, and acted on, before its connection broke.
        compiled.is_idempotent = false;
        compiled.name = compiled.name.replacen("GET", "WebSocket", 1);
        compiled.message = Some(Box::new(message));
        Ok(compiled)
    }

    /// Appends the handshake of a connection, whose key is drawn by `key`, and gives what must come for it.
    #[must_use]
    pub fn handshake(&self, key: Key<'_>, out: &mut Vec<u8>) -> Handshake {
        let begin = out.len();
        self.render_request(key, out, &mut Vec::new());
        // Its fields go on.
        out.truncate(out.len() - b"\r\n".len());
        let draw = |index| random::at(key.seed ^ KEYS, key.counter * 2 + index).to_ne_bytes();
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&draw(0));
        nonce[8..].copy_from_slice(&draw(1));
        Handshake::write(nonce, begin, out)
    }

    /// What opens a WebSocket for the message with a key; none for any other request.
    #[must_use]
    pub fn opening(&self, key: Key<'_>) -> Option<Opening> {
        let message = self.message.as_ref()?;
        let (mut request, mut frame) = (Vec::new(), Vec::new());
        let handshake = self.handshake(key, &mut request);
        message.render(key, &mut frame, &mut Vec::new());
        Some(Opening {
            request,
            handshake,
            frame,
            greetings: message.greetings,
        })
    }

    /// How many messages the server sends on its own when a connection opens.
    #[must_use]
    pub fn greetings(&self) -> u32 {
        self.message.as_ref().map_or(0, |message| message.greetings)
    }

    /// Checks a message that came back for the one with this key.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    #[inline]
    pub fn echo_is_right(
        &self,
        (kind, bytes): (Kind, &[u8]),
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), String> {
        let message = self.message.as_deref();
        if let Some(sent) = message.filter(|sent| sent.is_echo && sent.kind != kind) {
            let (sent, came) = match sent.kind {
                Kind::Text => ("text", "binary"),
                Kind::Binary => ("binary", "text"),
            };
            return Err(format!("the echo of a {sent} message is {came}"));
        }
        let verdict = self.check.body_is_right(&[], bytes, key, scratch);
        verdict.map_err(|(_, why)| why.replacen("the body", "the message that came back", 1))
    }
}

/// Refuses what a WebSocket's handshake cannot have.
fn refuse(request: &Request) -> Result<(), String> {
    let expect = &request.expect;
    if request.grpc.is_some() {
        return Err(
            "websocket: a gRPC call goes over HTTP/2: leave grpc or websocket out".to_owned(),
        );
    }
    if request.method != "GET" {
        return Err("method: a WebSocket is opened by a GET: leave method out".to_owned());
    }
    if expect.status.as_ref().is_some_and(|list| !list.is_empty())
        || expect.content_type.is_some()
        || !expect.headers.is_empty()
    {
        return Err(
            "expect: a WebSocket's handshake is answered with 101, and only messages are checked: leave status, \
             content_type and headers out"
                .to_owned(),
        );
    }
    if expect.encoding == Encoding::Decoded {
        return Err("expect.encoding: a message has no content coding: leave it out".to_owned());
    }
    for (name, value) in &request.headers {
        if OWN_FIELDS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(format!(
                "headers.{name}: touchstone writes it in a WebSocket's handshake, and offers no extension: leave it out"
            ));
        }
        if name.eq_ignore_ascii_case("sec-websocket-protocol")
            && !value.split(',').all(|name| is_name(name.trim()))
        {
            return Err(format!(
                "headers.{name}: {value:?} is not a list of subprotocols (RFC 6455, section 11.3.4)"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::time::Duration;
    use touchstone_http::Url;

    fn compile(request: Value) -> Result<CompiledRequest, String> {
        let request = serde_json::from_value(request).unwrap();
        let url = Url::parse("http://h:1/p").unwrap();
        let origin = Origin {
            url: &url,
            closes: true,
            is_h2: false,
            timeout: Duration::from_secs(5),
        };
        let socket = serde_json::from_value(json!({"kind": "echo"})).unwrap();
        CompiledRequest::compile_message(&request, &socket, origin, Scope::default())
    }

    fn key(counter: u64) -> Key<'static> {
        Key {
            counter,
            seed: 7,
            ..Key::default()
        }
    }

    #[test]
    fn each_message_has_its_own_mask_and_its_echo_is_itself() {
        let compiled = compile(json!({"body": "n-{counter}"})).unwrap();
        assert_eq!(compiled.name, "WebSocket /p");
        let frame = |counter| {
            let mut out = Vec::new();
            compiled.render(key(counter), &mut out, &mut Vec::new());
            out
        };
        assert_eq!(frame(5), frame(5));
        assert_eq!(frame(5)[..2], [0x81, 0x83]);
        assert_ne!(frame(5)[2..6], frame(6)[2..6]);
        let check =
            |kind, bytes: &[u8]| compiled.echo_is_right((kind, bytes), key(5), &mut Vec::new());
        assert_eq!(check(Kind::Text, b"n-5"), Ok(()));
        assert!(
            check(Kind::Text, b"n-6")
                .unwrap_err()
                .contains("expected \"n-5\"")
        );
        assert!(
            check(Kind::Binary, b"n-5")
                .unwrap_err()
                .contains("is binary")
        );
    }

    #[test]
    fn bytes_are_a_binary_message_and_an_expectation_stands_for_the_echo() {
        let compiled = compile(json!({"body": "\u{0}\u{ff}", "encoding": "bytes"})).unwrap();
        let mut out = Vec::new();
        compiled.render(key(1), &mut out, &mut Vec::new());
        assert_eq!(out[..2], [0x82, 0x82]);
        let right = compiled.echo_is_right((Kind::Binary, b"\0\xff"), key(1), &mut Vec::new());
        assert_eq!(right, Ok(()));
        let expect = json!({"body": {"kind": "json", "fields": {"ok": true}}});
        let compiled = compile(json!({"body": "ping", "expect": expect})).unwrap();
        let right = compiled.echo_is_right((Kind::Binary, b"{\"ok\":true}"), key(1), &mut out);
        assert_eq!(right, Ok(()));
    }

    #[test]
    fn the_handshake_is_a_get_with_the_fields_of_the_request() {
        let compiled = compile(
            json!({"body": "x", "target": "/c?u={counter}", "headers": [["Origin", "http://o"]]}),
        );
        let mut out = b"before".to_vec();
        let _ = compiled.unwrap().handshake(key(3), &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("beforeGET /c?u=3 HTTP/1.1\r\nHost: h:1\r\nOrigin: http://o\r\nUpgrade: websocket\r\n"), "{text}");
        assert!(
            text.ends_with("==\r\n\r\n") && !text.contains("close"),
            "{text}"
        );
    }

    #[test]
    fn what_a_handshake_cannot_have_is_refused() {
        for (request, said) in [
            (json!({}), "body: "),
            (json!({"body": "x", "method": "POST"}), "method: "),
            (
                json!({"body": "x", "headers": [["upgrade", "h2c"]]}),
                "headers.upgrade",
            ),
            (
                json!({"body": "x", "headers": [["Sec-WebSocket-Key", "a"]]}),
                "headers.Sec-WebSocket-Key",
            ),
            (
                json!({"body": "x", "headers": [["Sec-WebSocket-Protocol", "a,,b"]]}),
                "not a list",
            ),
            (
                json!({"body": "x", "expect": {"status": [101]}}),
                "expect: ",
            ),
            (
                json!({"body": "x", "expect": {"content_type": "a/b"}}),
                "expect: ",
            ),
            (
                json!({"body": "x", "expect": {"encoding": "decoded"}}),
                "expect.encoding",
            ),
            (
                json!({"body": "\u{100}", "encoding": "bytes"}),
                "is not a byte",
            ),
        ] {
            let why = compile(request).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}
