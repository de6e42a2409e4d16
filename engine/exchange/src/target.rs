//! Where a job's URL leads.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

/// An `http://` URL, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address to connect to.
    pub address: SocketAddr,
    /// For the `Host` field.
    pub authority: String,
    /// Path and query; `/` when the URL has none.
    pub path: String,
}

/// A URL that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not of the form that is understood here.
    #[error("url {0:?} is not http://HOST:PORT[/PATH]")]
    Form(String),
    /// The name has no address.
    #[error("url {0:?}: the host has no address: {1}")]
    Unresolved(String, String),
    /// The address is another machine's.
    #[error(
        "url {0:?} leads to {1}, which is no address of this machine: only a server on it can be started, held and weighed"
    )]
    Elsewhere(String, SocketAddr),
}

impl Target {
    /// Parses a URL and resolves its host, which must be an address of this machine: loopback, or one of its own.
    ///
    /// # Errors
    /// When the URL has another form, its host no address, or the address is another machine's.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let target = Self::resolve(url)?;
        if !is_own(target.address.ip()) {
            return Err(TargetError::Elsewhere(url.to_owned(), target.address));
        }
        Ok(target)
    }

    /// Parses a URL and resolves its host, wherever that is: for who was told by one that has looked.
    ///
    /// # Errors
    /// When the URL has another form, or its host no address.
    pub fn resolve(url: &str) -> Result<Self, TargetError> {
        let form = || TargetError::Form(url.to_owned());
        let rest = url.strip_prefix("http://").ok_or_else(form)?;
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let with_port = if authority
            .rsplit_once(':')
            .is_some_and(|(_, p)| p.parse::<u16>().is_ok())
        {
            authority.to_owned()
        } else {
            format!("{authority}:80")
        };
        if authority.is_empty() || authority.contains('@') || path.contains([' ', '#']) {
            return Err(form());
        }
        let unresolved = |why: String| TargetError::Unresolved(url.to_owned(), why);
        let address = with_port
            .to_socket_addrs()
            .map_err(|e| unresolved(e.to_string()))?
            .min_by_key(SocketAddr::is_ipv6)
            .ok_or_else(|| unresolved("no address".into()))?;
        Ok(Self {
            address,
            authority: authority.to_owned(),
            path: path.to_owned(),
        })
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
    fn a_url_is_taken_apart() {
        let target = Target::parse("http://127.0.0.1:8080/a?b=c").unwrap();
        assert_eq!(target.address, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(
            (target.authority.as_str(), target.path.as_str()),
            ("127.0.0.1:8080", "/a?b=c")
        );
        assert_eq!(
            Target::parse("http://localhost").unwrap().address.port(),
            80
        );
        assert_eq!(
            Target::parse("http://[::1]:81").unwrap().address,
            "[::1]:81".parse().unwrap()
        );
    }

    #[test]
    fn other_machines_and_other_schemes_are_refused() {
        assert!(matches!(
            Target::parse("http://192.0.2.1:80"),
            Err(TargetError::Elsewhere(..))
        ));
        assert!(matches!(
            Target::parse("https://127.0.0.1"),
            Err(TargetError::Form(_))
        ));
        assert!(matches!(
            Target::parse("127.0.0.1:80"),
            Err(TargetError::Form(_))
        ));
    }
}
