//! What a certificate says, whatever its version: its names, its dates, its key.

use std::net::IpAddr;
use std::time::Duration;

use rustls::pki_types::{ServerName, UnixTime};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// A certificate, read.
pub(crate) struct Certificate<'a>(X509Certificate<'a>);

impl<'a> Certificate<'a> {
    /// Reads one; nothing if it is none.
    pub fn read(der: &'a [u8]) -> Option<Self> {
        X509Certificate::from_der(der)
            .ok()
            .map(|(_, read)| Self(read))
    }

    /// The public key's bits.
    pub fn key(&self) -> &[u8] {
        &self.0.public_key().subject_public_key.data
    }

    /// The public key with its algorithm, in DER.
    pub fn key_info(&self) -> &[u8] {
        self.0.public_key().raw
    }

    /// Whether it names itself as its issuer.
    pub fn is_self_issued(&self) -> bool {
        self.0.subject() == self.0.issuer()
    }

    /// Whom it is about, in words.
    pub fn subject(&self) -> String {
        self.0.subject().to_string()
    }

    /// From when it is valid, and until when; a time before 1970 is that year's begin.
    pub fn validity(&self) -> (UnixTime, UnixTime) {
        let validity = self.0.validity();
        let time = |seconds: i64| {
            UnixTime::since_unix_epoch(Duration::from_secs(seconds.max(0).cast_unsigned()))
        };
        (
            time(validity.not_before.timestamp()),
            time(validity.not_after.timestamp()),
        )
    }

    /// The names and addresses of hosts that it is for: those of `subjectAltName`, or the common name where there are none.
    pub fn hosts(&self) -> Vec<String> {
        let names = self.0.subject_alternative_name().ok().flatten();
        let names = names.iter().flat_map(|names| &names.value.general_names);
        let hosts: Vec<String> = names
            .filter_map(|name| match name {
                GeneralName::DNSName(name) => Some((*name).to_owned()),
                GeneralName::IPAddress(octets) => address(octets).map(|one| one.to_string()),
                _ => None,
            })
            .collect();
        if !hosts.is_empty() {
            return hosts;
        }
        let common = self.0.subject().iter_common_name();
        common
            .filter_map(|name| name.as_str().ok().map(str::to_owned))
            .collect()
    }

    /// Whether it is for this host (RFC 9525 section 6.3).
    pub fn is_for(&self, host: &ServerName<'_>) -> bool {
        let host = host.to_str();
        self.hosts().iter().any(|name| matches(name, &host))
    }
}

fn address(octets: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
        .ok()
}

/// Whether a name of a certificate covers a host. A star stands for one label.
fn matches(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        None => name.eq_ignore_ascii_case(host),
        Some(rest) => host
            .split_once('.')
            .is_some_and(|(first, below)| !first.is_empty() && below.eq_ignore_ascii_case(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_one_label() {
        assert!(matches("Shop.test", "shop.TEST") && matches("*.shop.test", "www.shop.test"));
        assert!(!matches("*.shop.test", "shop.test") && !matches("*.shop.test", "a.b.shop.test"));
        assert!(!matches("shop.test", "www.shop.test") && matches("127.0.0.1", "127.0.0.1"));
    }
}
