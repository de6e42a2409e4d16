//! TLS and protocol as jobs ask for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol between client and server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1, over TLS where the URL says https.
    #[default]
    H1,
    /// HTTP/2 without TLS.
    H2c,
    /// HTTP/2 over TLS.
    H2,
}

impl Protocol {
    /// Whether it is HTTP/2.
    #[must_use]
    pub const fn is_h2(self) -> bool {
        matches!(self, Self::H2c | Self::H2)
    }

    /// Its name in ALPN.
    #[must_use]
    pub const fn alpn(self) -> &'static str {
        if self.is_h2() { "h2" } else { "http/1.1" }
    }

    /// What is wrong with it for a URL with TLS (`https`), or without; none if the two fit.
    #[must_use]
    pub const fn misfit(self, tls: bool) -> Option<&'static str> {
        match (self, tls) {
            (Self::H2, false) => Some(
                "protocol h2 is HTTP/2 over TLS: the url must begin with https://, or the protocol be h2c",
            ),
            (Self::H2c, true) => Some(
                "protocol h2c is HTTP/2 without TLS: the url must begin with http://, or the protocol be h2",
            ),
            _ => None,
        }
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum MinVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

impl MinVersion {
    /// Its number.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }
}

/// How TLS is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Whether the server's certificate must be valid. Null: it must be if the target is not on this machine, or
    /// `ca_file` is given.
    #[serde(default)]
    pub verify: Option<bool>,
    /// A PEM file of authorities to trust instead of the system's. A server's own certificate may stand there, too.
    #[serde(default)]
    pub ca_file: Option<String>,
    /// A PEM file with the client's certificate and those that lead to its authority.
    #[serde(default)]
    pub cert: Option<String>,
    /// A PEM file with the certificate's key (PKCS#8, PKCS#1 or SEC1, not encrypted). Null: the key is in `cert`.
    #[serde(default)]
    pub key: Option<String>,
    /// The name that is sent to the server (SNI), and that its certificate must have where it is verified. Null: the URL's
    /// host, where that is a name. An empty text: none is sent.
    #[serde(default)]
    pub sni: Option<String>,
    /// The oldest version that is offered. Null: 1.2; no older one is spoken.
    #[serde(default)]
    pub min_version: Option<MinVersion>,
    /// Whether a new connection goes on with the session of an earlier one, where the server lets it. Otherwise each has a
    /// full handshake.
    #[serde(default)]
    pub resume: bool,
}

impl Tls {
    /// What is wrong with it for a URL with TLS (`https`), or without; none if the two fit.
    #[must_use]
    pub fn misfit(&self, tls: bool) -> Option<&'static str> {
        // Not to verify is what happens without TLS.
        let unverified = Self {
            verify: self.verify.filter(|verify| *verify),
            ..self.clone()
        };
        (!tls && unverified != Self::default()).then_some(
            "verify, ca_file, cert, key, sni, min_version and resume of tls are about https, and the url is not: use https:// \
             or leave them out",
        )
    }
}
