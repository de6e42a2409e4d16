//! `--connect-to` and `--resolve`: where to connect in place of the URL's host, in curl's words.

use touchstone_http::Url;

use crate::failure::Failure;

/// Where to connect in place of the URL's host and port, as `HOST:PORT`: what the first flag that is about the URL says. A flag that is
/// about another server is a mistake.
pub fn elsewhere(
    url: &str,
    connect_to: &[String],
    resolve: &[String],
) -> Result<Option<String>, Failure> {
    if connect_to.is_empty() && resolve.is_empty() {
        return Ok(None);
    }
    let url = Url::parse(url).map_err(Failure::malformed)?;
    let mut found = None;
    for text in connect_to {
        let form = || {
            bad(
                "--connect-to",
                text,
                "HOST:PORT:HOST:PORT, such as shop.test:443:127.0.0.1:8443",
            )
        };
        let [host, port, to_host, to_port] =
            <[&str; 4]>::try_from(parts(text)).map_err(|_| form())?;
        let is_ours =
            (host.is_empty() || is_host(&url, host)) && fits(port, url.port).ok_or_else(form)?;
        let to_host = if to_host.is_empty() {
            bracketed(&url.host)
        } else {
            to_host.to_owned()
        };
        let to_port = if to_port.is_empty() {
            url.port
        } else {
            number(to_port).ok_or_else(form)?
        };
        take(
            &mut found,
            is_ours,
            "--connect-to",
            text,
            &url,
            format!("{to_host}:{to_port}"),
        )?;
    }
    for text in resolve {
        let form = || {
            bad(
                "--resolve",
                text,
                "HOST:PORT:ADDRESS, such as shop.test:443:127.0.0.1",
            )
        };
        let bare = text.strip_prefix('+').unwrap_or(text);
        let mut words = parts(bare);
        // An IPv6 address may stand without brackets, for nothing comes behind it.
        let address = match words.len() {
            3 => words.pop().unwrap_or_default().to_owned(),
            4.. => words.drain(2..).collect::<Vec<_>>().join(":"),
            _ => return Err(form()),
        };
        let [host, port] = <[&str; 2]>::try_from(words).map_err(|_| form())?;
        let first = address.split(',').next().unwrap_or_default();
        let inner = first.trim_matches(['[', ']']);
        if inner.parse::<std::net::IpAddr>().is_err() || host.is_empty() || port.is_empty() {
            return Err(form());
        }
        let is_ours =
            (host == "*" || is_host(&url, host)) && fits(port, url.port).ok_or_else(form)?;
        let place = format!("{}:{}", bracketed(inner), url.port);
        take(&mut found, is_ours, "--resolve", text, &url, place)?;
    }
    Ok(found)
}

fn take(
    found: &mut Option<String>,
    is_ours: bool,
    flag: &str,
    text: &str,
    url: &Url,
    place: String,
) -> Result<(), Failure> {
    if !is_ours {
        return Err(Failure::Malformed(format!(
            "{flag} {text}: it is about another server than the URL's, {}:{}",
            bracketed(&url.host),
            url.port
        )));
    }
    found.get_or_insert(place);
    Ok(())
}

fn bad(flag: &str, text: &str, form: &str) -> Failure {
    Failure::Malformed(format!("{flag} {text}: write it as {form}"))
}

/// The words between colons; those within brackets do not count.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut words) = (0_i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ':' if depth == 0 => {
                words.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[begin..]);
    words
}

fn is_host(url: &Url, host: &str) -> bool {
    url.host.eq_ignore_ascii_case(host.trim_matches(['[', ']']))
}

/// Whether a port is meant by a text, which may be empty; nothing if the text is none.
fn fits(text: &str, port: u16) -> Option<bool> {
    if text.is_empty() {
        return Some(true);
    }
    number(text).map(|number| number == port)
}

fn number(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port > 0)
}

fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://shop.test:8443/a";

    fn connect(text: &str) -> Result<Option<String>, Failure> {
        elsewhere(URL, &[text.to_owned()], &[])
    }

    fn resolve(text: &str) -> Result<Option<String>, Failure> {
        elsewhere(URL, &[], &[text.to_owned()])
    }

    #[test]
    fn a_flag_about_the_url_says_where_to_connect() {
        for (text, place) in [
            ("shop.test:8443:127.0.0.1:9000", "127.0.0.1:9000"),
            ("SHOP.test:8443:[::1]:9000", "[::1]:9000"),
            ("::127.0.0.1:9000", "127.0.0.1:9000"),
            ("shop.test::127.0.0.1:", "127.0.0.1:8443"),
            (":8443::9000", "shop.test:9000"),
        ] {
            assert_eq!(connect(text).unwrap().as_deref(), Some(place), "{text}");
        }
        for (text, place) in [
            ("shop.test:8443:127.0.0.1", "127.0.0.1:8443"),
            ("+*:8443:127.0.0.1,127.0.0.2", "127.0.0.1:8443"),
            ("shop.test:8443:::1", "[::1]:8443"),
            ("shop.test:8443:[::1]", "[::1]:8443"),
        ] {
            assert_eq!(resolve(text).unwrap().as_deref(), Some(place), "{text}");
        }
        assert_eq!(elsewhere(URL, &[], &[]).unwrap(), None);
    }

    #[test]
    fn a_flag_that_is_malformed_or_about_another_server_is_refused() {
        for text in [
            "shop.test:8443:127.0.0.1",
            "a:b:c:d",
            "shop.test:8443:x:0",
            "shop.test:x:y:1",
            "other.test:8443:127.0.0.1:1",
            "shop.test:443:127.0.0.1:1",
        ] {
            let said = connect(text).unwrap_err().to_string();
            assert!(said.contains(text), "{said}");
        }
        for text in [
            "shop.test:127.0.0.1",
            "shop.test:8443:elsewhere",
            "shop.test:8443:",
            "other.test:8443:127.0.0.1",
            "shop.test:443:127.0.0.1",
        ] {
            let said = resolve(text).unwrap_err().to_string();
            assert!(said.contains(text), "{said}");
        }
    }
}
