//! What a virtual user keeps from response to response: captured values and cookies.

use std::time::SystemTime;

use touchstone_http::field_lines;

/// What was captured in one pass through a journey, and the cookies that were set in it.
#[derive(Debug, Default)]
pub struct Session {
    /// Captured values, by their place in the journey.
    pub captured: Vec<Vec<u8>>,
    cookies: Vec<(Vec<u8>, Vec<u8>)>,
    /// The field that sends the cookies back, with its line end; empty without cookies.
    line: Vec<u8>,
}

impl Session {
    /// Forgets everything, and makes room for so many captured values.
    pub fn begin(&mut self, captures: usize) {
        self.captured.resize_with(captures, Vec::new);
        self.captured.iter_mut().for_each(Vec::clear);
        self.cookies.clear();
        self.line.clear();
    }

    /// The `Cookie` field with its line end; empty without cookies.
    #[must_use]
    pub fn cookie_line(&self) -> &[u8] {
        &self.line
    }

    /// Takes the cookies that a response's head sets. One user talks to one server, so that domain and path are not
    /// looked at; a lifetime that is over removes the cookie (RFC 6265, section 5.3).
    pub fn take_cookies(&mut self, head: &[u8]) {
        let mut changed = false;
        for value in field_lines(head, "set-cookie") {
            changed |= self.take_cookie(value);
        }
        if !changed {
            return;
        }
        self.line.clear();
        for (name, value) in &self.cookies {
            let before: &[u8] = if self.line.is_empty() {
                b"Cookie: "
            } else {
                b"; "
            };
            for part in [before, name.as_slice(), b"=", value.as_slice()] {
                self.line.extend_from_slice(part);
            }
        }
        if !self.line.is_empty() {
            self.line.extend_from_slice(b"\r\n");
        }
    }

    fn take_cookie(&mut self, text: &[u8]) -> bool {
        let mut parts = text.split(|byte| *byte == b';');
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else {
            return false;
        };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        if name.is_empty() {
            return false;
        }
        self.cookies.retain(|(known, _)| known != name);
        if !is_over(parts) {
            self.cookies.push((name.to_vec(), value.to_vec()));
        }
        true
    }
}

/// Whether a cookie's attributes say that its lifetime is over; `Max-Age` goes before `Expires`.
fn is_over<'a>(attributes: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut age, mut expired) = (None, false);
    for attribute in attributes {
        let text = String::from_utf8_lossy(attribute);
        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
        if name.trim().eq_ignore_ascii_case("max-age") {
            age = value.trim().parse::<i64>().ok();
        } else if name.trim().eq_ignore_ascii_case("expires") {
            expired = httpdate::parse_http_date(value.trim())
                .is_ok_and(|until| until <= SystemTime::now());
        }
    }
    age.map_or(expired, |seconds| seconds <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(heads: &[&str]) -> String {
        let mut session = Session::default();
        for head in heads {
            session.take_cookies(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes());
        }
        String::from_utf8(session.cookie_line().to_vec()).unwrap()
    }

    #[test]
    fn cookies_are_sent_back_as_they_were_set_last() {
        assert_eq!(line(&["Content-Type: text/plain"]), "");
        assert_eq!(
            line(&[
                "Set-Cookie: a=1; Path=/; HttpOnly\r\nset-cookie:b=x=y",
                "Set-Cookie: a=2"
            ]),
            "Cookie: b=x=y; a=2\r\n"
        );
        assert_eq!(line(&["Set-Cookie: nonsense\r\nSet-Cookie: =1"]), "");
    }

    #[test]
    fn a_cookie_whose_lifetime_is_over_is_gone() {
        let set = "Set-Cookie: a=1";
        assert_eq!(line(&[set, "Set-Cookie: a=; Max-Age=0"]), "");
        let past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT";
        assert_eq!(line(&[set, &format!("Set-Cookie: a=; {past}")]), "");
        assert_eq!(
            line(&[set, &format!("Set-Cookie: a=2; {past}; Max-Age=60")]),
            "Cookie: a=2\r\n"
        );
    }

    #[test]
    fn a_new_pass_begins_with_nothing() {
        let mut session = Session::default();
        session.begin(2);
        session.captured[1].extend_from_slice(b"5");
        session.take_cookies(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n");
        session.begin(2);
        assert!(session.captured.iter().all(Vec::is_empty) && session.cookie_line().is_empty());
    }
}
