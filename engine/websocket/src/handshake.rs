//! The opening of a connection (RFC 6455, section 4), over HTTP/1.1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use touchstone_http::{MAX_HEAD, field_lines, parse_head};

/// What every server appends to a key (section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Fields of the request that [`Handshake::write`] writes, or that ask for what is not spoken.
pub const OWN_FIELDS: [&str; 5] = [
    "upgrade",
    "connection",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
];

/// The `Sec-WebSocket-Accept` that answers a key.
#[must_use]
pub fn accept_of(key: &[u8]) -> String {
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key, GUID].concat()))
}

/// A handshake under way: what must come for the request that was sent, and what has come.
#[derive(Debug, Clone, Default)]
pub struct Handshake {
    accept: String,
    /// Subprotocols that the request offers.
    offered: Vec<String>,
    came: Vec<u8>,
}

impl Handshake {
    /// Ends a request, whose head with its own fields is in `out` from `begin` on, by what asks for a WebSocket. `nonce` is
    /// its key.
    #[must_use]
    pub fn write(nonce: [u8; 16], begin: usize, out: &mut Vec<u8>) -> Self {
        let key = STANDARD.encode(nonce);
        let offered = field_lines(&out[begin..], "sec-websocket-protocol")
            .flat_map(|line| line.split(|byte| *byte == b','))
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned())
            .collect();
        out.extend_from_slice(
            b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n",
        );
        out.extend_from_slice(format!("Sec-WebSocket-Key: {key}\r\n\r\n").as_bytes());
        Self {
            accept: accept_of(key.as_bytes()),
            offered,
            came: Vec::new(),
        }
    }

    /// Takes bytes of the response: true once it has come whole and the connection is open; `data` is then what is behind it.
    ///
    /// # Errors
    /// A sentence on a response that does not open the connection.
    pub fn read(&mut self, data: &mut &[u8]) -> Result<bool, String> {
        let before = self.came.len();
        let room = (MAX_HEAD + 1).saturating_sub(before).min(data.len());
        self.came.extend_from_slice(&data[..room]);
        let head = parse_head(&self.came, false).map_err(|malformed| malformed.0.to_owned())?;
        let Some(head) = head else {
            *data = &data[room..];
            return Ok(false);
        };
        let text = &self.came[..head.len];
        if head.is_interim() {
            // Another response follows (RFC 9110, section 15.2).
            *data = &data[head.len - before..];
            self.came.clear();
            return if data.is_empty() {
                Ok(false)
            } else {
                self.read(data)
            };
        }
        if head.status != 101 {
            return Err(format!(
                "the server answered the handshake with status {}",
                head.status
            ));
        }
        self.check(text)?;
        *data = &data[head.len - before..];
        Ok(true)
    }

    /// The head of the response, once it has come.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        let end = self.came.windows(4).position(|four| four == b"\r\n\r\n");
        &self.came[..end.map_or(0, |end| end + 4)]
    }

    /// Whether not a byte of the response has come.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        self.came.is_empty()
    }

    fn check(&self, head: &[u8]) -> Result<(), String> {
        if !head.starts_with(b"HTTP/1.1 ") {
            return Err(
                "the handshake was answered in HTTP/1.0, which knows no upgrade".to_owned(),
            );
        }
        if !one_token(head, "upgrade", b"websocket") {
            return Err("the response to the handshake has no `Upgrade: websocket`".to_owned());
        }
        if !one_token(head, "connection", b"upgrade") {
            return Err("the response to the handshake has no `Connection: Upgrade`".to_owned());
        }
        let mut accepts = field_lines(head, "sec-websocket-accept");
        match (accepts.next(), accepts.next()) {
            (Some(accept), None) if accept == self.accept.as_bytes() => {}
            (None, _) => {
                return Err("the response to the handshake has no Sec-WebSocket-Accept".to_owned());
            }
            _ => {
                return Err(
                    "the Sec-WebSocket-Accept is not that of the handshake's key".to_owned(),
                );
            }
        }
        let mut extensions = field_lines(head, "sec-websocket-extensions");
        if extensions.any(|line| !line.is_empty()) {
            return Err("the server chose an extension, and none was offered".to_owned());
        }
        let mut chosen = field_lines(head, "sec-websocket-protocol");
        match (chosen.next(), chosen.next()) {
            (None, _) => Ok(()),
            (Some(name), None) if self.offered.iter().any(|one| one.as_bytes() == name) => Ok(()),
            _ => Err("the server chose a subprotocol that was not offered".to_owned()),
        }
    }
}

/// Whether the lines of a field hold a token, regardless of case.
fn one_token(head: &[u8], name: &str, token: &[u8]) -> bool {
    field_lines(head, name)
        .flat_map(|line| line.split(|byte| *byte == b','))
        .any(|one| one.trim_ascii().eq_ignore_ascii_case(token))
}
