//! Where the load goes, and whether it may.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use crate::error::Error;

/// A parsed and permitted target.
#[derive(Debug, Clone)]
pub struct Target {
    /// Whether the connection is TLS.
    pub tls: bool,
    /// Host as the URL names it, without brackets.
    pub host: String,
    /// The `Host` header's value: host, and port where it is not the scheme's own.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
    /// The address that is connected to.
    pub address: SocketAddr,
}

impl Target {
    /// Parses a URL, resolves its host, and refuses what is not on this machine unless `allowed` names it.
    ///
    /// # Errors
    /// [`Error::Job`] for a URL that is none, [`Error::NotAllowed`] for a foreign host, [`Error::Unreachable`] for an unknown one.
    pub fn parse(url: &str, allowed: &[String]) -> Result<Self, Error> {
        let bad = |why: &str| Error::Job(format!("url {url:?}: {why}"));
        let (tls, rest) = if let Some(rest) = url.strip_prefix("http://") {
            (false, rest)
        } else if let Some(rest) = url.strip_prefix("https://") {
            (true, rest)
        } else {
            return Err(bad("it must begin with http:// or https://"));
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        if authority.is_empty() || authority.contains('@') {
            return Err(bad("it needs a host, and no user name"));
        }
        if path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(bad("spaces and control characters must be percent-encoded"));
        }
        let (host, port) =
            split_port(authority).ok_or_else(|| bad("the port is not a number from 1 to 65535"))?;
        let port = port.unwrap_or(if tls { 443 } else { 80 });
        let address = resolve(host, port)?;
        if !address.ip().to_canonical().is_loopback()
            && !allowed.iter().any(|name| name.eq_ignore_ascii_case(host))
        {
            return Err(Error::NotAllowed {
                host: host.to_owned(),
            });
        }
        let path = match path.as_bytes().first() {
            None => "/".to_owned(),
            Some(b'?') => format!("/{path}"),
            Some(_) => path.to_owned(),
        };
        Ok(Self {
            tls,
            host: host.to_owned(),
            authority: authority.to_owned(),
            path,
            address,
        })
    }
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
        let (host, rest) = inner.split_once(']')?;
        (host, rest.strip_prefix(':'))
    } else {
        match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    match port {
        None => Some((host, None)),
        Some(text) => text
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .map(|port| (host, Some(port))),
    }
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, Error> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let unknown = |why: String| Error::Unreachable {
        target: format!("{host}:{port}"),
        why,
    };
    let found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| unknown(error.to_string()))?
        .collect();
    // IPv4 first: most services under test bind 127.0.0.1 only, and source addresses are spread over IPv4.
    let address = found
        .iter()
        .find(|address| address.is_ipv4())
        .or_else(|| found.first());
    address
        .copied()
        .ok_or_else(|| unknown("the name has no address".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let target = Target::parse("http://127.0.0.1:8080/a?b=c#d", &[]).unwrap();
        assert_eq!(
            (target.path.as_str(), target.authority.as_str()),
            ("/a?b=c", "127.0.0.1:8080")
        );
        assert_eq!(target.address, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(Target::parse("http://127.0.0.1", &[]).unwrap().path, "/");
        assert_eq!(
            Target::parse("http://127.0.0.1?x", &[]).unwrap().path,
            "/?x"
        );
        assert_eq!(
            Target::parse("https://[::1]/", &[]).unwrap().address,
            "[::1]:443".parse().unwrap()
        );
    }

    #[test]
    fn a_foreign_host_is_refused_unless_it_is_named() {
        let refused = Target::parse("http://192.0.2.7/", &[]);
        assert!(matches!(refused, Err(Error::NotAllowed { host }) if host == "192.0.2.7"));
        assert!(Target::parse("http://192.0.2.7/", &["192.0.2.7".to_owned()]).is_ok());
        // An IPv4 address in IPv6 clothes is the same address.
        assert!(Target::parse("http://[::ffff:192.0.2.7]/", &[]).is_err());
        assert!(Target::parse("http://127.8.9.1/", &[]).is_ok());
    }

    #[test]
    fn a_bad_url_says_why() {
        for url in [
            "127.0.0.1:80",
            "ftp://127.0.0.1/",
            "http:///x",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:99999/",
            "http://127.0.0.1/a b",
        ] {
            assert!(
                matches!(Target::parse(url, &[]), Err(Error::Job(_))),
                "{url}"
            );
        }
    }
}
