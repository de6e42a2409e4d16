//! URLs (RFC 3986), as far as a client of HTTP over TCP needs them: where to connect, and what to ask for there. And Unix
//! sockets as addresses: `unix:/run/app.sock`, or with what is asked for, `unix:/run/app.sock:/path`.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// An `http://` or `https://` URL, or a Unix socket, taken apart. A fragment is dropped: it never goes on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Whether the scheme is https.
    pub tls: bool,
    /// The host, without brackets.
    pub host: String,
    /// The port, the scheme's own if none is given.
    pub port: u16,
    /// The value of the `Host` field: the host, and the port if one is given.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
    /// The path of a Unix socket, in place of host and port; what is asked there is asked of `localhost`.
    pub socket: Option<String>,
}

/// A text that is no such URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("url {url:?}: {why}")]
pub struct BadUrl {
    url: String,
    why: &'static str,
}

impl Url {
    /// Takes a URL apart, as it may be pasted: white space around it is left out, and what a target cannot hold is
    /// percent-encoded, as browsers do.
    ///
    /// # Errors
    /// [`BadUrl`] with the reason.
    pub fn parse(url: &str) -> Result<Self, BadUrl> {
        let url = url.trim_matches([' ', '\t', '\r', '\n']);
        let bad = |why| BadUrl {
            url: url.to_owned(),
            why,
        };
        let (tls, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            None if has_unix_scheme(url) => return Self::of_socket(url),
            _ => return Err(bad("it must begin with http://, https:// or unix:/")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if let Some((_, server)) = authority.rsplit_once('@') {
            // The part before it may be a password and is not shown.
            let scheme = if tls { "https" } else { "http" };
            return Err(BadUrl {
                url: format!("{scheme}://{server}{path}"),
                why: "it needs a host, and no user name before it",
            });
        }
        if authority.is_empty() {
            return Err(bad("it needs a host"));
        }
        if path.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(bad("it holds a control character"));
        }
        let path = encoded(path);
        let (host, port) =
            split_port(authority).ok_or_else(|| bad("the port is not a number from 1 to 65535"))?;
        if !is_host(host, authority.starts_with('[')) {
            return Err(bad(
                "that is not a host; an IPv6 address stands in brackets, as in http://[::1]:8080, and a name is in ASCII (xn--...)",
            ));
        }
        Ok(Self {
            tls,
            host: host.to_owned(),
            port: port.unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.to_owned(),
            path: if path.starts_with('/') {
                path
            } else {
                format!("/{path}")
            },
            socket: None,
        })
    }

    /// Takes `unix:/run/app.sock` apart, with a target behind a colon if there is one.
    fn of_socket(url: &str) -> Result<Self, BadUrl> {
        let bad = |why| BadUrl {
            url: url.to_owned(),
            why,
        };
        let text = &url[UNIX.len()..];
        let (socket, path) = match text.split_once(":/") {
            Some((socket, path)) => (socket, format!("/{path}")),
            None => (text, "/".to_owned()),
        };
        let path = path.split('#').next().unwrap_or_default();
        if !socket.starts_with('/') || socket.ends_with('/') {
            return Err(bad(
                "a Unix socket has an absolute path, as in unix:/run/app.sock or unix:/run/app.sock:/path",
            ));
        }
        if socket.len() > LONGEST_SOCKET {
            return Err(bad(
                "the path of a Unix socket has at most 107 bytes (unix(7)): use a shorter one, or a link to it",
            ));
        }
        if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(bad("it holds a control character"));
        }
        Ok(Self {
            tls: false,
            host: "localhost".to_owned(),
            port: 80,
            authority: "localhost".to_owned(),
            path: encoded(path),
            socket: Some(socket.to_owned()),
        })
    }

    /// The URL without path and query.
    #[must_use]
    pub fn server(&self) -> String {
        if let Some(socket) = &self.socket {
            return format!("{UNIX}{socket}");
        }
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }

    /// The host's addresses, each once: IPv4 before IPv6, since most services under test bind 127.0.0.1 only.
    ///
    /// `localhost` and the names below it have both loopback addresses, whatever the machine's files say (RFC 6761,
    /// section 6.3), as in browsers and curl.
    ///
    /// # Errors
    /// When the name has no address, or the URL is a Unix socket.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if self.socket.is_some() {
            return Err(io::Error::other(
                "it is a Unix socket, and this goes over TCP: give http://HOST:PORT",
            ));
        }
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, self.port)]);
        }
        let resolved = (self.host.as_str(), self.port).to_socket_addrs();
        let mut found: Vec<SocketAddr> = if is_localhost(&self.host) {
            let loopback = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            resolved
                .into_iter()
                .flatten()
                .chain(loopback.map(|ip| SocketAddr::new(ip, self.port)))
                .collect()
        } else {
            resolved?.collect()
        };
        found.sort_by_key(SocketAddr::is_ipv6);
        let mut seen = HashSet::new();
        found.retain(|address| seen.insert(*address));
        if found.is_empty() {
            return Err(io::Error::other("the name has no address"));
        }
        Ok(found)
    }

    /// Whether it may be loaded or probed at this address: one of loopback, or that of a host that is among the allowed ones.
    #[must_use]
    pub fn is_allowed(&self, address: SocketAddr, allowed: &[String]) -> bool {
        // An IPv4 address within IPv6 is the same address.
        address.ip().to_canonical().is_loopback()
            || allowed
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&self.host))
    }
}

const UNIX: &str = "unix:";

/// Bytes of a path in `sockaddr_un`, without the zero at its end.
const LONGEST_SOCKET: usize = 107;

/// Whether a text begins with `unix:`, in whatever case.
#[must_use]
pub fn has_unix_scheme(text: &str) -> bool {
    text.as_bytes()
        .get(..UNIX.len())
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(UNIX.as_bytes()))
}

/// Path and query with spaces and what is not ASCII percent-encoded. Braces stay: they may open a placeholder.
fn encoded(path: &str) -> String {
    let mut found = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            found.push(char::from(byte));
        } else {
            found.push_str(&format!("%{byte:02X}"));
        }
    }
    found
}

/// Whether a name is `localhost`, or one below it, with or without the root's dot.
fn is_localhost(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next();
    last.is_some_and(|label| label.eq_ignore_ascii_case("localhost"))
}

/// Host and port of an authority; nothing if what stands after the host is not a port.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
        let (host, rest) = inner.split_once(']')?;
        match rest {
            "" => (host, None),
            _ => (host, Some(rest.strip_prefix(':')?)),
        }
    } else {
        match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    let Some(digits) = port else {
        return Some((host, None));
    };
    let port = digits.parse().ok().filter(|port| *port > 0)?;
    // A number may begin with a sign, a port may not (RFC 3986, section 3.2.3).
    (!digits.starts_with('+')).then_some((host, Some(port)))
}

/// Whether the letters are those of a host (RFC 3986, section 3.2.2).
fn is_host(host: &str, bracketed: bool) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte);
    !host.is_empty()
        && host
            .bytes()
            .all(|byte| fits(byte) || (bracketed && byte == b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Url {
        Url::parse(url).unwrap()
    }

    #[test]
    fn a_url_is_taken_apart() {
        let url = parse("http://127.0.0.1:8080/a?b=c#d");
        assert_eq!(
            (url.host.as_str(), url.port, url.authority.as_str()),
            ("127.0.0.1", 8080, "127.0.0.1:8080")
        );
        assert_eq!((url.path.as_str(), url.tls), ("/a?b=c", false));
        assert_eq!(url.server(), "http://127.0.0.1:8080");
        assert_eq!(parse("https://h:1/").server(), "https://h:1");
    }

    #[test]
    fn what_is_not_said_is_the_schemes_own() {
        assert_eq!(parse("http://h").port, 80);
        assert_eq!(parse("https://h").port, 443);
        assert_eq!(parse("http://h").path, "/");
        assert_eq!(parse("http://h?x").path, "/?x");
        assert_eq!(parse("http://h#x").path, "/");
    }

    #[test]
    fn a_unix_socket_is_an_address() {
        let url = parse("unix:/run/app.sock");
        assert_eq!(url.socket.as_deref(), Some("/run/app.sock"));
        assert_eq!(
            (url.path.as_str(), url.authority.as_str()),
            ("/", "localhost")
        );
        assert_eq!(url.server(), "unix:/run/app.sock");
        assert!(url.addresses().is_err());
        let url = parse(" UNIX:/run/a:b c.sock:/hello?q=a b#c ");
        assert_eq!(url.socket.as_deref(), Some("/run/a:b c.sock"));
        assert_eq!(url.path, "/hello?q=a%20b");
        let (fits, longer) = ("x".repeat(106), "x".repeat(107));
        assert!(Url::parse(&format!("unix:/{fits}")).is_ok());
        let bad = [
            "unix:",
            "unix:app.sock",
            "unix:@app",
            "unix:/run/",
            "unix:/a\0b",
            "unix:/a\nb",
        ];
        for bad in bad
            .iter()
            .map(ToString::to_string)
            .chain([format!("unix:/{longer}")])
        {
            assert!(Url::parse(&bad).is_err(), "{bad:?}");
        }
        // A URL of another form with these letters is none.
        assert!(Url::parse("unix://run/app.sock").is_err());
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let url = parse("https://[::1]/");
        assert_eq!(
            (url.host.as_str(), url.authority.as_str()),
            ("::1", "[::1]")
        );
        assert_eq!(url.addresses().unwrap(), ["[::1]:443".parse().unwrap()]);
        assert_eq!(parse("http://[::1]:81").port, 81);
    }

    #[test]
    fn ipv4_goes_before_ipv6() {
        let found = parse("http://localhost:1").addresses().unwrap();
        assert!(found[0].is_ipv4());
        assert!(found.is_sorted_by_key(SocketAddr::is_ipv6));
    }

    #[test]
    fn localhost_has_both_loopback_addresses_whatever_the_machine_says() {
        for name in ["localhost", "LocalHost", "localhost.", "shop.localhost"] {
            let found = parse(&format!("http://{name}:81")).addresses().unwrap();
            for address in ["127.0.0.1:81", "[::1]:81"] {
                let wanted: SocketAddr = address.parse().unwrap();
                let times = found.iter().filter(|one| **one == wanted).count();
                assert_eq!(times, 1, "{name}: {found:?}");
            }
        }
        assert!(!is_localhost("localhost.test") && !is_localhost("notlocalhost"));
    }

    #[test]
    fn a_pasted_url_is_read_as_browsers_read_it() {
        let url = parse(" HTTP://h:1/s\u{f8}k?q=a b&r=%20{row.x:url}#frag\n");
        assert_eq!(url.path, "/s%C3%B8k?q=a%20b&r=%20{row.x:url}");
        assert_eq!(url.server(), "http://h:1");
        assert!(parse("HTTPS://h").tls);
    }

    #[test]
    fn only_this_machine_without_leave() {
        let allowed = |url: &str, names: &[&str]| {
            let url = parse(url);
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            url.is_allowed(url.addresses().unwrap()[0], &names)
        };
        assert!(allowed("http://127.8.9.1/", &[]));
        assert!(!allowed("http://192.0.2.7/", &[]));
        assert!(!allowed("http://192.0.2.7/", &["192.0.2.8"]));
        assert!(allowed("http://192.0.2.7/", &["192.0.2.7"]));
        assert!(!allowed("http://[::ffff:192.0.2.7]/", &[]));
        assert!(allowed("http://[::ffff:127.0.0.1]/", &[]));
    }

    #[test]
    fn a_bad_url_says_why() {
        for (url, why) in [
            ("127.0.0.1:80", "must begin with http://"),
            ("ftp://127.0.0.1/", "must begin with http://"),
            ("http:///x", "needs a host"),
            ("http://127.0.0.1:0/", "port"),
            ("http://127.0.0.1:99999/", "port"),
            ("http://h:/", "port"),
            ("http://h:+80/", "port"),
            ("http://[::1]80/", "port"),
            ("http://::1/", "brackets"),
            ("http://[]/", "not a host"),
            ("http://{host}/", "not a host"),
            ("http://127.0.0.1/a\tb", "control character"),
            ("http://b\u{fc}cher.test/", "ASCII"),
        ] {
            let said = Url::parse(url).unwrap_err().to_string();
            let quoted = format!("{url:?}");
            assert!(
                said.contains(why) && said.contains(&quoted),
                "{url}: {said}"
            );
        }
    }

    #[test]
    fn a_password_is_refused_and_not_told() {
        let said = Url::parse("https://me:hunter2@h:81/a")
            .unwrap_err()
            .to_string();
        assert!(said.contains("https://h:81/a") && said.contains("no user name"));
        assert!(!said.contains("hunter2"), "{said}");
    }
}
