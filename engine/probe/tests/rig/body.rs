//! Content: by length, or chunked.

use super::fault::Fault;
use super::grammar::is_token;

/// What came of the chunked coding so far.
pub enum Chunked {
    /// More octets are needed.
    More,
    /// The content, octets used, and whether a merged trailer asks for the connection's end.
    Whole(Vec<u8>, usize, bool),
    /// Not chunked: the status to answer with.
    Bad(u16),
}

const EXTENSIONS_LIMIT: usize = 8 << 10;

/// Decodes from the beginning of the body.
pub fn chunked(bytes: &[u8], has: &dyn Fn(Fault) -> bool) -> Chunked {
    let mut content = Vec::new();
    let mut at = 0;
    let mut extensions = 0;
    loop {
        let Some((line, next)) = line(&bytes[at..], has(Fault::ChunkLf)) else {
            return if bytes.len() - at > EXTENSIONS_LIMIT {
                Chunked::Bad(413)
            } else {
                waiting(&bytes[at..])
            };
        };
        let digits = line
            .iter()
            .position(|b| !b.is_ascii_hexdigit())
            .unwrap_or(line.len());
        extensions += line.len() - digits;
        if extensions > EXTENSIONS_LIMIT {
            return Chunked::Bad(413);
        }
        if digits == 0 || !is_extension(&line[digits..]) {
            return Chunked::Bad(400);
        }
        let mut size = 0u64;
        for &digit in &line[..digits] {
            let digit = u64::from(char::from(digit).to_digit(16).expect("a hex digit"));
            size = if has(Fault::ChunkSizeWraps) {
                size.wrapping_mul(16).wrapping_add(digit)
            } else {
                match size
                    .checked_mul(16)
                    .and_then(|size| size.checked_add(digit))
                {
                    Some(size) => size,
                    None => return Chunked::Bad(413),
                }
            };
        }
        at += next;
        if size == 0 {
            return trailers(bytes, at, content, has);
        }
        let Some(size) = usize::try_from(size).ok().filter(|size| *size <= 1 << 20) else {
            return Chunked::Bad(413);
        };
        if bytes.len() < at + size + 2 {
            let early =
                bytes.get(at + size).is_some_and(|b| *b != b'\r') && !has(Fault::ChunkEndUnchecked);
            return if early {
                Chunked::Bad(400)
            } else {
                Chunked::More
            };
        }
        content.extend_from_slice(&bytes[at..at + size]);
        let end = &bytes[at + size..at + size + 2];
        if end != b"\r\n" && !has(Fault::ChunkEndUnchecked) {
            return Chunked::Bad(400);
        }
        at += size + 2;
    }
}

/// A line that has not ended yet is refused as soon as it cannot become one.
fn waiting(bytes: &[u8]) -> Chunked {
    let lf = bytes.contains(&b'\n');
    let cr = bytes
        .iter()
        .position(|&b| b == b'\r')
        .is_some_and(|at| at + 1 < bytes.len());
    if lf || cr {
        Chunked::Bad(400)
    } else {
        Chunked::More
    }
}

/// A line without its CRLF, and how many octets it took with it.
fn line(bytes: &[u8], lf: bool) -> Option<(&[u8], usize)> {
    if lf {
        let at = bytes.iter().position(|&b| b == b'\n')?;
        return Some((
            bytes[..at].strip_suffix(b"\r").unwrap_or(&bytes[..at]),
            at + 1,
        ));
    }
    let at = bytes.windows(2).position(|w| w == b"\r\n")?;
    Some((&bytes[..at], at + 2))
}

fn is_extension(text: &[u8]) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        rest = unblank(rest);
        let Some(after) = rest.strip_prefix(b";") else {
            return false;
        };
        rest = unblank(after);
        let name = rest
            .iter()
            .position(|b| !is_token(&[*b]))
            .unwrap_or(rest.len());
        if name == 0 {
            return false;
        }
        rest = &rest[name..];
        let Some(after) = unblank(rest).strip_prefix(b"=") else {
            continue;
        };
        rest = unblank(after);
        let value = if rest.first() == Some(&b'"') {
            match quoted(rest) {
                Some(length) => length,
                None => return false,
            }
        } else {
            rest.iter()
                .position(|b| !is_token(&[*b]))
                .unwrap_or(rest.len())
        };
        if value == 0 {
            return false;
        }
        rest = &rest[value..];
    }
    true
}

fn quoted(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            0..=8 | 10..=31 | 127 => return None,
            _ => at += 1,
        }
    }
}

fn trailers(bytes: &[u8], mut at: usize, content: Vec<u8>, has: &dyn Fn(Fault) -> bool) -> Chunked {
    let start = at;
    let mut close = false;
    loop {
        if bytes.len() - start > EXTENSIONS_LIMIT {
            return Chunked::Bad(431);
        }
        let Some((line, next)) = line(&bytes[at..], false) else {
            return waiting(&bytes[at..]);
        };
        at += next;
        if line.contains(&0) || line.contains(&b'\r') {
            return Chunked::Bad(400);
        }
        if line.is_empty() {
            return Chunked::Whole(content, at, close);
        }
        let Some(colon) = line.iter().position(|&b| b == b':') else {
            return Chunked::Bad(400);
        };
        if !is_token(&line[..colon]) {
            return Chunked::Bad(400);
        }
        close |= has(Fault::TrailersMerged) && line.eq_ignore_ascii_case(b"connection: close");
    }
}

/// Without the spaces and tabs at the beginning.
fn unblank(text: &[u8]) -> &[u8] {
    let start = text
        .iter()
        .position(|b| !b" \t".contains(b))
        .unwrap_or(text.len());
    &text[start..]
}
