//! Where a job's URL leads: of a name's addresses the one that answers.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use touchstone_http::{BadUrl, Url, first_that_answers};

/// A URL, resolved: to an address of TCP, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<A = SocketAddr> {
    /// Where it leads, and what is asked for there.
    pub url: Url,
    /// The address to connect to.
    pub address: A,
}

/// A URL that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is none.
    #[error(transparent)]
    Form(#[from] BadUrl),
    /// The name has no address.
    #[error("url {0:?}: the host has no address: {1}")]
    Unresolved(String, String),
    /// It is a Unix socket.
    #[error("url {0:?} is a Unix socket, and this is measured over TCP: give http://HOST:PORT")]
    Socket(String),
    /// The address is another machine's.
    #[error(
        "url {0:?} leads to {1}, which is not an address of this machine: only a server on it can be started, held and weighed"
    )]
    Elsewhere(String, SocketAddr),
}

impl Target {
    /// Parses a URL and resolves its host, as [`Self::resolve`], which must be an address of this machine: loopback, or
    /// one of its own.
    ///
    /// # Errors
    /// When the URL has another form, its host no address, or the address is another machine's.
    pub fn parse(url: &str, address: Option<SocketAddr>) -> Result<Self, TargetError> {
        let target = Self::resolve(url, address)?;
        if !is_own(target.address.ip()) {
            return Err(TargetError::Elsewhere(url.to_owned(), target.address));
        }
        Ok(target)
    }

    /// Parses a URL and resolves its host, wherever that is: to the `address` that was given, or to the first that
    /// answers.
    ///
    /// # Errors
    /// When the URL has another form, or its host no address.
    pub fn resolve(text: &str, address: Option<SocketAddr>) -> Result<Self, TargetError> {
        let url = Url::parse(text)?;
        if url.socket.is_some() {
            return Err(TargetError::Socket(text.to_owned()));
        }
        if let Some(address) = address {
            return Ok(Self { url, address });
        }
        let found = url
            .addresses()
            .map_err(|error| TargetError::Unresolved(text.to_owned(), error.to_string()))?;
        let address = first_that_answers(&found).unwrap_or(found[0]);
        Ok(Self { url, address })
    }

    /// All addresses of its host that are this machine's: where a server that is yet to be started may come to listen.
    #[must_use]
    pub fn own_addresses(&self) -> Vec<SocketAddr> {
        let mut found = self.url.addresses().unwrap_or_default();
        found.retain(|address| is_own(address.ip()));
        if found.is_empty() {
            found.push(self.address);
        }
        found
    }
}

/// Whether an address is one of this machine's: only those can be bound to.
fn is_own(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_resolved() {
        let target = Target::parse("http://127.0.0.1:8080/a?b=c", None).unwrap();
        assert_eq!(target.address, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(target.url.path, "/a?b=c");
    }

    #[test]
    fn other_machines_and_other_forms_are_refused() {
        assert!(matches!(
            Target::parse("http://192.0.2.1:80", None),
            Err(TargetError::Elsewhere(..))
        ));
        assert!(Target::resolve("http://192.0.2.1:80", None).is_ok());
        assert!(matches!(
            Target::resolve("unix:/run/app.sock", None),
            Err(TargetError::Socket(_))
        ));
        assert!(Target::parse("https://127.0.0.1", None).is_ok());
        assert!(matches!(
            Target::parse("127.0.0.1:80", None),
            Err(TargetError::Form(_))
        ));
    }
}
