//! The grammar of targets, Host values and tokens, written apart from the probe's own code.

/// Whether all octets are tchar, and there is one.
pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|&b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_pchar(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&b)
}

/// Whether each octet is allowed, and each percent sign begins an escape.
fn escaped(text: &[u8], allowed: impl Fn(u8) -> bool) -> bool {
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'%' {
            let hex = |i: usize| text.get(i).is_some_and(u8::is_ascii_hexdigit);
            if !hex(at + 1) || !hex(at + 2) {
                return false;
            }
            at += 3;
        } else if allowed(text[at]) {
            at += 1;
        } else {
            return false;
        }
    }
    true
}

/// Whether this is an absolute path with an optional query.
pub fn is_origin_form(text: &[u8]) -> bool {
    let (path, query) = split_query(text);
    path.first() == Some(&b'/')
        && escaped(path, |b| is_pchar(b) || b == b'/')
        && escaped(query, |b| is_pchar(b) || b == b'/' || b == b'?')
}

/// Path and query.
pub fn split_query(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b'?') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// Whether this is `uri-host [ ":" port ]`, empty or with a host (RFC 9110 4.2.1).
pub fn is_host(text: &[u8]) -> bool {
    if text.first() == Some(&b':') {
        return false;
    }
    let (host, port): (&[u8], &[u8]) = if text.first() == Some(&b'[') {
        let Some(end) = text.iter().position(|&b| b == b']') else {
            return false;
        };
        let inside = std::str::from_utf8(&text[1..end]).unwrap_or("?");
        let future = inside
            .strip_prefix('v')
            .is_some_and(|rest| rest.contains('.'));
        if !future && inside.parse::<std::net::Ipv6Addr>().is_err() {
            return false;
        }
        (&[], &text[end + 1..])
    } else {
        let at = text.iter().position(|&b| b == b':').unwrap_or(text.len());
        text.split_at(at)
    };
    let port_fits =
        port.is_empty() || (port[0] == b':' && port[1..].iter().all(u8::is_ascii_digit));
    port_fits
        && escaped(host, |b| {
            b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&b)
        })
}
