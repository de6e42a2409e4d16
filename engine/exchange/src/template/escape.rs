//! How a value from outside, of a row or a response, is written into a request.

/// Where a template stands: what may stand there differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The request target.
    Target,
    /// A field's value.
    Header,
    /// The body, or what is expected of one.
    Body,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// As it is, but for what would end the line or the target.
    Plain(Place),
    /// `:url`: everything but unreserved characters percent-encoded (RFC 3986, section 2.3).
    Url,
    /// `:json`: as inside a JSON string (RFC 8259, section 7).
    Json,
}

impl Escape {
    /// Splits `NAME`, `NAME:url` or `NAME:json`.
    pub(super) fn of(name: &str, place: Place) -> Result<(&str, Self), String> {
        match name.split_once(':') {
            None => Ok((name, Self::Plain(place))),
            Some((name, "url")) => Ok((name, Self::Url)),
            Some((name, "json")) => Ok((name, Self::Json)),
            Some((name, other)) => Err(format!(
                "{name}:{other}: a value is written as it is, or by :url or :json"
            )),
        }
    }

    pub(super) fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Plain(Place::Body) => out.extend_from_slice(value),
            Self::Plain(Place::Header) => percent(value, out, |byte| byte >= b' ' && byte != 0x7f),
            Self::Plain(Place::Target) => percent(value, out, |byte| (b'!'..=b'~').contains(&byte)),
            Self::Url => percent(value, out, |byte| {
                byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
            }),
            Self::Json => json(value, out),
        }
    }
}

fn percent(value: &[u8], out: &mut Vec<u8>, stays: impl Fn(u8) -> bool) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.iter().copied() {
        if stays(byte) {
            out.push(byte);
        } else {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(&[b'%', DIGITS[high], DIGITS[low]]);
        }
    }
}

fn json(value: &[u8], out: &mut Vec<u8>) {
    for byte in value.iter().copied() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}
