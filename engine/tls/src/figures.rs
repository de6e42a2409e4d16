//! What was negotiated in handshakes, and how many were whole.

use rustls::{ClientConnection, HandshakeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Handshakes of a whole job over TLS, warm-up included. Failed ones are among the errors, as `connect_failed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TlsUse {
    /// With a certificate and a signature of the server.
    pub full: u64,
    /// Those that went on with the session of an earlier connection. They cost the server a fraction of a full one.
    pub resumed: u64,
    /// What was agreed on, most frequent first.
    pub negotiated: Vec<Negotiated>,
}

/// One outcome of a negotiation.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Negotiated {
    /// `1.2` or `1.3`.
    pub version: String,
    /// The cipher suite by its name in IANA's registry.
    pub cipher: String,
    /// The group of the key exchange; null for a session of TLS 1.2 that was resumed, which has none.
    pub group: Option<String>,
    /// The protocol agreed on by ALPN; null where the server does not take part in that.
    pub alpn: Option<String>,
    /// How many handshakes.
    pub handshakes: u64,
}

impl Negotiated {
    /// What a connection negotiated whose handshake is complete.
    fn of(tls: &ClientConnection) -> Self {
        let name = |text: String| text.replacen("TLS13_", "TLS_", 1);
        let version = tls.protocol_version().map(|version| format!("{version:?}"));
        Self {
            version: version.map_or(String::new(), |text| {
                text.trim_start_matches("TLSv").replace('_', ".")
            }),
            cipher: tls
                .negotiated_cipher_suite()
                .map_or(String::new(), |suite| name(format!("{:?}", suite.suite()))),
            group: tls
                .negotiated_key_exchange_group()
                .map(|group| format!("{:?}", group.name())),
            alpn: tls
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
            handshakes: 1,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.version == other.version
            && self.cipher == other.cipher
            && self.group == other.group
            && self.alpn == other.alpn
    }
}

impl TlsUse {
    /// Counts a handshake that is complete.
    pub fn count(&mut self, tls: &ClientConnection) {
        match tls.handshake_kind() {
            Some(HandshakeKind::Resumed) => self.resumed += 1,
            _ => self.full += 1,
        }
        self.add_negotiated(Negotiated::of(tls));
    }

    /// Adds those of another thread.
    pub fn add(&mut self, other: &Self) {
        self.full += other.full;
        self.resumed += other.resumed;
        for one in &other.negotiated {
            self.add_negotiated(one.clone());
        }
        self.negotiated
            .sort_by_key(|one| std::cmp::Reverse(one.handshakes));
    }

    fn add_negotiated(&mut self, one: Negotiated) {
        match self.negotiated.iter_mut().find(|known| known.is_same(&one)) {
            Some(known) => known.handshakes += one.handshakes,
            None => self.negotiated.push(one),
        }
    }
}
