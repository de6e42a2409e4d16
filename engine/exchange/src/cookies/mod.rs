//! The cookies of one virtual user (RFC 6265 section 5).

mod date;

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use touchstone_http::field_lines;

/// What a request is sent to, as far as cookies go by it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The host in lower case, without its port; an IPv6 address without brackets.
    pub host: &'a str,
    /// The request target; its query does not matter.
    pub target: &'a [u8],
    /// Whether it goes over TLS.
    pub secure: bool,
}

impl Place<'_> {
    /// The path of the target; `/` where the target has none.
    fn path(&self) -> &[u8] {
        let path = self.target.split(|byte| matches!(byte, b'?' | b'#')).next();
        path.filter(|path| path.starts_with(b"/")).unwrap_or(b"/")
    }

    /// The path of a cookie that names none: that of the request up to its last slash (section 5.1.4).
    fn default_path(&self) -> &[u8] {
        let path = self.path();
        match path.iter().rposition(|byte| *byte == b'/') {
            None | Some(0) => b"/",
            Some(last) => &path[..last],
        }
    }
}

#[derive(Debug, Clone)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    domain: String,
    /// Whether it goes to that host alone, and not to those below it.
    host_only: bool,
    path: Vec<u8>,
    secure: bool,
    /// Seconds since 1970; one without an end lasts as long as the user's pass.
    expires: Option<i64>,
}

impl Cookie {
    fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.domain, &self.path) == (&other.name, &other.domain, &other.path)
    }

    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|until| until <= now)
    }

    /// Whether it belongs to a place, leaving aside whether the connection is secure.
    fn fits(&self, place: Place<'_>) -> bool {
        let host = match self.host_only {
            true => place.host == self.domain,
            false => domain_matches(place.host, &self.domain),
        };
        host && path_matches(place.path(), &self.path)
    }
}

/// The cookies that were set, in the order of their creation.
#[derive(Debug, Clone, Default)]
pub struct Cookies {
    kept: Vec<Cookie>,
    /// Why the last one that was not kept was not.
    refused: Option<String>,
}

impl Cookies {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.refused = None;
    }

    /// Takes the cookies that the head of a response from this place sets, changes or removes (section 5.3).
    pub fn take(&mut self, head: &[u8], place: Place<'_>) {
        for text in field_lines(head, "set-cookie") {
            self.take_one(text, place, now());
        }
    }

    /// Appends the `Cookie` field for a request to this place with its line end; nothing where no cookie belongs to it
    /// (section 5.4).
    pub fn write(&self, place: Place<'_>, out: &mut Vec<u8>) {
        let now = now();
        let sent = |cookie: &&Cookie| {
            cookie.fits(place) && (place.secure || !cookie.secure) && !cookie.is_over(now)
        };
        let mut sent: Vec<&Cookie> = self.kept.iter().filter(sent).collect();
        // Longer paths come first; of equal ones that which was created first, as they are kept.
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut before: &[u8] = b"Cookie: ";
        for cookie in &sent {
            for part in [before, &cookie.name, b"=", &cookie.value] {
                out.extend_from_slice(part);
            }
            before = b"; ";
        }
        if !sent.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Why a cookie is missing from a request to this place, in words, where its author may not expect that.
    #[must_use]
    pub fn missing(&self, place: Place<'_>) -> Option<String> {
        let withheld = |cookie: &&Cookie| cookie.fits(place) && cookie.secure && !place.secure;
        match self.kept.iter().find(withheld) {
            Some(cookie) => Some(format!(
                "the cookie {} is Secure and was not sent over http",
                String::from_utf8_lossy(&cookie.name)
            )),
            None => self.refused.clone(),
        }
    }

    fn take_one(&mut self, text: &[u8], place: Place<'_>, now: i64) {
        let mut parts = text.split(|byte| *byte == b';');
        let pair = parts.next().unwrap_or_default();
        let Some((name, value)) = halves(pair).filter(|(name, _)| !name.is_empty()) else {
            return;
        };
        let mut cookie = Cookie {
            name: name.to_vec(),
            value: value.to_vec(),
            domain: place.host.to_owned(),
            host_only: true,
            path: place.default_path().to_vec(),
            secure: false,
            expires: None,
        };
        let (mut age, mut until) = (None, None);
        for attribute in parts {
            let (name, value) = halves(attribute).unwrap_or((attribute.trim_ascii(), b""));
            match name.to_ascii_lowercase().as_slice() {
                b"expires" => until = date::parse(value).or(until),
                b"max-age" => age = seconds(value).or(age),
                b"domain" if !value.is_empty() => {
                    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
                    text.strip_prefix('.')
                        .unwrap_or(&text)
                        .clone_into(&mut cookie.domain);
                    cookie.host_only = false;
                }
                b"path" if value.starts_with(b"/") => cookie.path = value.to_vec(),
                b"path" => cookie.path = place.default_path().to_vec(),
                b"secure" => cookie.secure = true,
                _ => {}
            }
        }
        // Max-Age goes before Expires, in whichever order they come.
        cookie.expires = age.map(|age| now.saturating_add(age)).or(until);
        if !cookie.host_only && !domain_matches(place.host, &cookie.domain) {
            let name = String::from_utf8_lossy(&cookie.name);
            self.refused = Some(format!(
                "the cookie {name} was not kept: its Domain {} does not cover {}",
                cookie.domain, place.host
            ));
            return;
        }
        self.keep(cookie, now);
    }

    /// Puts a cookie in the place of the one like it. One whose time is over only removes that.
    fn keep(&mut self, cookie: Cookie, now: i64) {
        let known = self.kept.iter().position(|known| known.is_same(&cookie));
        match (known, cookie.is_over(now)) {
            (Some(at), true) => drop(self.kept.remove(at)),
            (Some(at), false) => self.kept[at] = cookie,
            (None, true) => {}
            (None, false) => self.kept.push(cookie),
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// Name and value around the first equals sign, if there is one.
fn halves(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = text.iter().position(|byte| *byte == b'=')?;
    Some((text[..equals].trim_ascii(), text[equals + 1..].trim_ascii()))
}

/// The value of Max-Age (section 5.2.2): what is not a whole number is as if it were not there.
fn seconds(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let past = text[0] == b'-' || digits.iter().all(|digit| *digit == b'0');
    let text = std::str::from_utf8(digits).ok()?;
    // One of more digits than a number holds ends when nobody waits for it any more.
    Some(if past {
        i64::MIN
    } else {
        text.parse().unwrap_or(i64::MAX)
    })
}

/// Section 5.1.3.
fn domain_matches(host: &str, domain: &str) -> bool {
    let below = host
        .strip_suffix(domain)
        .is_some_and(|rest| rest.ends_with('.'));
    host == domain || below && host.parse::<IpAddr>().is_err()
}

/// Section 5.1.4.
fn path_matches(path: &[u8], of_cookie: &[u8]) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with(b"/") || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP: Place<'_> = Place {
        host: "shop.test",
        target: b"/a/b?c=/d",
        secure: false,
    };

    fn at(target: &'static str) -> Place<'static> {
        Place {
            target: target.as_bytes(),
            ..HTTP
        }
    }

    fn sent(set: &[(&str, Place<'_>)], place: Place<'_>) -> String {
        let mut cookies = Cookies::default();
        for (lines, from) in set {
            cookies.take(
                format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n").as_bytes(),
                *from,
            );
        }
        let mut line = Vec::new();
        cookies.write(place, &mut line);
        String::from_utf8(line).unwrap()
    }

    /// What is sent to `/` after these lines came from there.
    fn root(lines: &[&str]) -> String {
        let set: Vec<_> = lines.iter().map(|line| (*line, at("/"))).collect();
        sent(&set, at("/"))
    }

    #[test]
    fn cookies_are_sent_back_in_the_order_of_their_creation() {
        assert_eq!(root(&["Content-Type: text/plain"]), "");
        assert_eq!(
            root(&[
                "Set-Cookie: a=1; Path=/; HttpOnly\r\nset-cookie:b=x=y",
                "Set-Cookie: a=2"
            ]),
            "Cookie: a=2; b=x=y\r\n"
        );
        assert_eq!(
            root(&["Set-Cookie: nonsense\r\nSet-Cookie: =1\r\nSet-Cookie: e="]),
            "Cookie: e=\r\n"
        );
    }

    #[test]
    fn a_cookie_whose_time_is_over_is_gone_however_that_is_said() {
        let set = "Set-Cookie: a=1; path=/";
        for end in [
            "Expires=Thu, 01-Jan-1970 00:00:10 GMT",
            "expires=\"Thu, 01 Jan 1970 00:00:00 GMT\"",
            "expires=Thu, 1 Jan 70 0:00:00 +0000",
            "Max-Age=0",
            "Max-Age=-1",
            "Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
            "Max-Age=0.0; expires=Thu, 01 Jan 1970 00:00:00 GMT",
        ] {
            assert_eq!(
                root(&[set, &format!("Set-Cookie: a=; path=/; {end}")]),
                "",
                "{end}"
            );
        }
        for alive in [
            "expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60",
            "expires=0",
            "expires=",
            "Max-Age=soon",
            "Max-Age=99999999999999999999",
            "expires=Fri, 31 Dec 9999 23:59:59 GMT",
        ] {
            let line = root(&[set, &format!("Set-Cookie: a=2; path=/; {alive}")]);
            assert_eq!(line, "Cookie: a=2\r\n", "{alive}");
        }
        // What removes a cookie names the same path and domain.
        assert_eq!(
            root(&[set, "Set-Cookie: a=; path=/other; Max-Age=0"]),
            "Cookie: a=1\r\n"
        );
    }

    #[test]
    fn a_path_narrows_where_a_cookie_goes() {
        for (path, target, goes) in [
            ("; Path=/", "/x", true),
            ("; Path=/shop", "/shop", true),
            ("; Path=/shop", "/shop/cart?x", true),
            ("; Path=/shop", "/shopping", false),
            ("; Path=/shop/", "/shop", false),
            ("; Path=/shop/", "/shop/cart", true),
            ("; Path=shop", "/a/x", true),
            ("; Path=", "/x", false),
            ("", "/a/x", true),
            ("", "/a", true),
            ("", "/ab", false),
            ("; Path=/shop; Path=/", "/x", true),
        ] {
            let line = sent(&[(&format!("Set-Cookie: a=1{path}"), HTTP)], at(target));
            assert_eq!(!line.is_empty(), goes, "{path:?} to {target}");
        }
        let both = [(
            "Set-Cookie: a=1; Path=/\r\nSet-Cookie: a=2; Path=/shop",
            HTTP,
        )];
        assert_eq!(sent(&both, at("/shop/x")), "Cookie: a=2; a=1\r\n");
    }

    #[test]
    fn a_domain_widens_where_a_cookie_goes_and_must_cover_its_host() {
        let to = |host| Place { host, ..at("/a/x") };
        for (domain, from, host, goes) in [
            ("", "shop.test", "shop.test", true),
            ("", "shop.test", "www.shop.test", false),
            ("; Domain=shop.test", "www.shop.test", "shop.test", true),
            (
                "; Domain=.Shop.Test",
                "www.shop.test",
                "api.shop.test",
                true,
            ),
            ("; Domain=shop.test", "myshop.test", "myshop.test", false),
            ("; Domain=www.shop.test", "shop.test", "shop.test", false),
            ("; Domain=other.test", "shop.test", "shop.test", false),
            ("; Domain=", "shop.test", "shop.test", true),
            ("; Domain=127.0.0.1", "127.0.0.1", "127.0.0.1", true),
            ("; Domain=0.0.1", "127.0.0.1", "127.0.0.1", false),
        ] {
            let set = format!("Set-Cookie: a=1{domain}");
            let line = sent(&[(&set, Place { host: from, ..HTTP })], to(host));
            assert_eq!(!line.is_empty(), goes, "{domain:?} from {from} to {host}");
        }
    }

    #[test]
    fn a_secure_cookie_goes_over_tls_alone_and_a_missing_one_is_named() {
        let mut cookies = Cookies::default();
        cookies.take(
            b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Secure\r\n\r\n",
            HTTP,
        );
        let mut line = Vec::new();
        cookies.write(HTTP, &mut line);
        assert_eq!(line, b"");
        assert!(cookies.missing(HTTP).unwrap().contains("sid is Secure"));
        let tls = Place {
            secure: true,
            ..HTTP
        };
        cookies.write(tls, &mut line);
        assert_eq!(line, b"Cookie: sid=1\r\n");
        assert_eq!(cookies.missing(tls), None);
        cookies.take(
            b"HTTP/1.1 200 OK\r\nSet-Cookie: b=1; Domain=x.org\r\n\r\n",
            HTTP,
        );
        assert!(
            cookies
                .missing(tls)
                .unwrap()
                .contains("x.org does not cover shop.test")
        );
    }
}
