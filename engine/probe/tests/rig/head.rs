//! Request-line and fields.

use super::fault::Fault;
use super::grammar::{is_host, is_origin_form, is_token, split_query};

/// How the message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After this number of octets.
    Length(u64),
    /// By the chunked coding.
    Chunked,
}

/// A request's header section, understood.
#[derive(Clone, Debug)]
pub struct Head {
    pub method: String,
    pub path: String,
    pub minor: u8,
    pub framing: Framing,
    pub keep: bool,
    pub expects: bool,
    /// Names of all fields, for what the rig does with some of them.
    pub names: Vec<String>,
    /// The status to answer with, whatever the resource says.
    pub verdict: Option<u16>,
}

/// What cannot be processed: the status to answer with, before the connection ends.
pub type Refusal = u16;

const LINE_LIMIT: usize = 16 << 10;
const FIELDS_LIMIT: usize = 32 << 10;

/// Takes one header section off the buffer: octets used and what they say, or `None` for more.
pub fn take(buffer: &[u8], has: &dyn Fn(Fault) -> bool) -> Option<(usize, Result<Head, Refusal>)> {
    let skip = if buffer.starts_with(b"\r\n") && !has(Fault::NoLeadingCrlf) {
        2
    } else {
        0
    };
    let bytes = &buffer[skip..];
    let tiny = has(Fault::TinyLimits);
    let by_arrival = has(Fault::LimitsByArrival);
    let (line_limit, fields_limit) = if tiny {
        (1000, 1000)
    } else if by_arrival {
        (LINE_LIMIT, 12 << 10)
    } else {
        (LINE_LIMIT, FIELDS_LIMIT)
    };
    let Some(line_end) = bytes.iter().position(|&b| b == b'\n') else {
        let over = if has(Fault::WrongTargetLimit) {
            431
        } else {
            414
        };
        return (bytes.len() > line_limit).then_some((buffer.len(), Err(over)));
    };
    if line_end > line_limit {
        let long_method = !bytes[..line_limit].contains(&b' ');
        let over = if long_method {
            501
        } else if has(Fault::WrongTargetLimit) {
            431
        } else {
            414
        };
        return Some((buffer.len(), Err(over)));
    }
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
    let fields_size = end
        .map_or(bytes.len(), |end| end + 4)
        .saturating_sub(line_end);
    let counts = !by_arrival || end.is_none();
    if fields_size > fields_limit && counts && !has(Fault::NoFieldLimit) {
        return Some((buffer.len(), Err(431)));
    }
    // A request-line that is none is answered at once, without waiting for fields.
    let line = bytes[..line_end].strip_suffix(b"\r");
    let parsed = line.ok_or(400).and_then(|line| request_line(line, has));
    let (method, target, minor) = match parsed {
        Ok(parts) => parts,
        Err(status) => return Some((buffer.len(), Err(status))),
    };
    let end = end?;
    let section = if end > line_end {
        &bytes[line_end + 1..end]
    } else {
        &[][..]
    };
    let head =
        fields(section, has).and_then(|fields| understand(&method, &target, minor, &fields, has));
    if has(Fault::NoFieldLimit) && fields_size > FIELDS_LIMIT {
        return None;
    }
    Some((skip + end + 4, head))
}

type Line = (String, Vec<u8>, u8);

fn request_line(line: &[u8], has: &dyn Fn(Fault) -> bool) -> Result<Line, Refusal> {
    let mut parts: Vec<&[u8]> = line.split(|&b| b == b' ').collect();
    if has(Fault::SplitsAnywhere) && parts.len() > 3 {
        parts = vec![parts[0], parts[1], parts[parts.len() - 1]];
    }
    let [method, target, version] = parts.as_slice() else {
        return Err(400);
    };
    if !is_token(method) && !has(Fault::AnyMethodOctets) {
        return Err(400);
    }
    let minor = match *version {
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            major @ b'0'..=b'9',
            b'.',
            minor @ b'0'..=b'9',
        ] => {
            if *major != b'1' {
                return Err(505);
            }
            minor - b'0'
        }
        other if has(Fault::AnyVersion) && other.starts_with(b"HTTP/") => 1,
        _ => return Err(400),
    };
    let named = if is_token(method) {
        String::from_utf8_lossy(method).into_owned()
    } else {
        "GET".into()
    };
    Ok((named, target.to_vec(), minor))
}

type Fields = Vec<(String, Vec<u8>)>;

fn fields(section: &[u8], has: &dyn Fn(Fault) -> bool) -> Result<Fields, Refusal> {
    let mut out: Fields = Vec::new();
    let mut text = section.to_vec();
    if has(Fault::CrEndsLine) {
        text = String::from_utf8_lossy(&text)
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\n', "\r\n")
            .into_bytes();
    }
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let end = rest
            .windows(2)
            .position(|w| w == b"\r\n")
            .unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[(end + 2).min(rest.len())..];
        if line.first().is_some_and(|b| b" \t".contains(b)) && !has(Fault::FoldIsField) {
            return Err(400);
        }
        let line = line.trim_ascii_start();
        let colon = line.iter().position(|&b| b == b':').ok_or(400u16)?;
        let (mut name, value) = (&line[..colon], &line[colon + 1..]);
        if has(Fault::SpaceBeforeColon) {
            name = name.trim_ascii_end();
        }
        if !is_token(name)
            && (!has(Fault::AnyFieldName) || name.ends_with(b" ") || name.ends_with(b"\t"))
        {
            return Err(400);
        }
        let one = value.first() == Some(&b' ') && !value[1..].starts_with(b" ");
        if has(Fault::NeedsOneSpace) && !one {
            return Err(400);
        }
        let known = [
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "expect",
        ];
        let text = String::from_utf8_lossy(name).to_ascii_lowercase();
        if has(Fault::RefusesUnknownFields) && !known.contains(&text.as_str()) {
            return Err(400);
        }
        let is_blank = |b: &u8| *b == b' ' || *b == b'\t';
        let start = value
            .iter()
            .position(|b| !is_blank(b))
            .unwrap_or(value.len());
        let stop = value
            .iter()
            .rposition(|b| !is_blank(b))
            .map_or(start, |at| at + 1);
        let value = &value[start..stop];
        if value.iter().any(|&b| (b < 0x20 && b != b'\t') || b == 0x7f) {
            return Err(400);
        }
        out.push((stored_name(name, has), value.to_vec()));
    }
    Ok(out)
}

fn list(fields: &Fields, name: &str) -> Vec<String> {
    let values = fields.iter().filter(|(field, _)| field == name);
    values
        .flat_map(|(_, value)| {
            String::from_utf8_lossy(value)
                .split(',')
                .map(|e| e.trim_matches([' ', '\t']).to_ascii_lowercase())
                .collect::<Vec<_>>()
        })
        .filter(|element| !element.is_empty())
        .collect()
}

fn understand(
    method: &str,
    target: &[u8],
    minor: u8,
    fields: &Fields,
    has: &dyn Fn(Fault) -> bool,
) -> Result<Head, Refusal> {
    let hosts: Vec<&Vec<u8>> = fields
        .iter()
        .filter(|(n, _)| n == "host")
        .map(|(_, v)| v)
        .collect();
    let missing = hosts.is_empty() && minor > 0 && !has(Fault::MissingHost);
    let many = hosts.len() > 1 && !has(Fault::ManyHosts);
    let bad = hosts.iter().any(|host| !is_host(host)) && !has(Fault::AnyHostValue);
    if missing || many || bad {
        return Err(400);
    }
    let path = resolve(method, target, has)?;
    let options = list(fields, "connection");
    let close = options.iter().any(|o| o == "close") && !has(Fault::IgnoresClose);
    let mut keep = !close
        && !has(Fault::NeverKeeps)
        && !has(Fault::CloseDelimited)
        && (minor > 0 || has(Fault::Keeps10));
    let framing = framing(fields, minor, &mut keep, has)?;
    let expectations = list(fields, "expect");
    let known = expectations.iter().all(|e| e == "100-continue");
    let expects = minor > 0 && !expectations.is_empty() && known && framing != Framing::Length(0)
        || (has(Fault::ContinueTo10) || minor > 0 && has(Fault::ExpectsAnyBody))
            && !expectations.is_empty();
    Ok(Head {
        method: method.into(),
        path,
        minor,
        framing,
        keep,
        expects,
        names: fields.iter().map(|(name, _)| name.clone()).collect(),
        verdict: (!known && minor > 0).then_some(417),
    })
}

fn resolve(method: &str, target: &[u8], has: &dyn Fn(Fault) -> bool) -> Result<String, Refusal> {
    let text = String::from_utf8_lossy(target).into_owned();
    if method == "CONNECT" && has(Fault::AcceptsConnect) {
        return Ok("/hello".into());
    }
    if has(Fault::RefusesQuery) && text.contains('?') {
        return Err(400);
    }
    if method == "CONNECT" {
        return Err(400);
    }
    if target == b"*" {
        return if method == "OPTIONS" {
            Ok("*".into())
        } else {
            Err(400)
        };
    }
    let lower = text.to_ascii_lowercase();
    let origin = if target.first() == Some(&b'/') {
        text
    } else if lower.starts_with("http://") && !has(Fault::NoAbsoluteForm) {
        let rest = &text[7..];
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() || !is_host(authority.as_bytes()) {
            return Err(400);
        }
        if path.starts_with('/') {
            path.into()
        } else {
            format!("/{path}")
        }
    } else {
        return Err(400);
    };
    if !is_origin_form(if target[0] == b'/' {
        target
    } else {
        origin.as_bytes()
    }) && !has(Fault::AnyTarget)
    {
        return Err(400);
    }
    Ok(String::from_utf8_lossy(split_query(origin.as_bytes()).0).into_owned())
}

fn framing(
    fields: &Fields,
    minor: u8,
    keep: &mut bool,
    has: &dyn Fn(Fault) -> bool,
) -> Result<Framing, Refusal> {
    let coded = fields.iter().any(|(n, _)| n == "transfer-encoding");
    let lengths: Vec<&Vec<u8>> = fields
        .iter()
        .filter(|(n, _)| n == "content-length")
        .map(|(_, v)| v)
        .collect();
    let overruled = has(Fault::LengthOverCoding) && !lengths.is_empty();
    if coded && !overruled {
        let codings = list(fields, "transfer-encoding");
        if minor == 0 {
            return Err(400);
        }
        if codings != ["chunked"] {
            if has(Fault::UnknownCodingIgnored) {
                return Ok(Framing::Length(0));
            }
            return Err(if codings.last().is_some_and(|c| c == "chunked") {
                501
            } else {
                400
            });
        }
        if !lengths.is_empty() && !has(Fault::KeepsAfterBoth) {
            *keep = false;
        }
        return Ok(Framing::Chunked);
    }
    let Some((first, others)) = lengths.split_first() else {
        return Ok(Framing::Length(0));
    };
    if !others.is_empty() && !has(Fault::FirstLength) {
        return Err(400);
    }
    length(first, has).map(Framing::Length)
}

fn length(value: &[u8], has: &dyn Fn(Fault) -> bool) -> Result<u64, Refusal> {
    let mut digits = value;
    if has(Fault::LooseLength) {
        digits = digits.strip_prefix(b"+").unwrap_or(digits);
        let end = digits
            .iter()
            .position(|b| !b.is_ascii_digit())
            .unwrap_or(digits.len());
        digits = &digits[..end];
    } else if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(400);
    }
    let mut sum = 0u64;
    for digit in digits {
        let digit = u64::from(digit - b'0');
        sum = if has(Fault::LengthWraps) {
            sum.wrapping_mul(10).wrapping_add(digit)
        } else {
            sum.checked_mul(10)
                .and_then(|sum| sum.checked_add(digit))
                .ok_or(413u16)?
        };
    }
    if sum > 1 << 20 { Err(413) } else { Ok(sum) }
}

/// Lower case, unless the rig forgets that names are case-insensitive.
fn stored_name(name: &[u8], has: &dyn Fn(Fault) -> bool) -> String {
    let text = String::from_utf8_lossy(name).into_owned();
    let lower = text.to_ascii_lowercase();
    let usual = text.split('-').all(|part| {
        part.starts_with(|letter: char| letter.is_ascii_uppercase())
            && part[1..].bytes().all(|b| !b.is_ascii_uppercase())
    });
    if has(Fault::CaseSensitiveNames) && !usual {
        text
    } else {
        lower
    }
}
