//! Content codings (RFC 9110, section 8.4): undone where a check asks for it, and named where a body is wrong.

use std::io::{self, Read};

use flate2::bufread::{GzDecoder, ZlibDecoder};
use touchstone_http::field_value;

/// No body is larger once its codings are undone, in bytes.
const LARGEST: u64 = 64 << 20;

/// The codings of a response's body, in the order in which they were applied; `identity` is none.
#[must_use]
pub fn codings(head: &[u8]) -> Vec<String> {
    let value = field_value(head, "content-encoding").unwrap_or_default();
    let value = String::from_utf8_lossy(&value).to_ascii_lowercase();
    let named = value.split(',').map(str::trim);
    named
        .filter(|coding| !coding.is_empty() && *coding != "identity")
        .map(str::to_owned)
        .collect()
}

/// The body with its codings undone, the last first.
///
/// # Errors
/// A sentence on why they cannot be undone.
pub fn decoded(head: &[u8], body: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = body.to_vec();
    for coding in codings(head).iter().rev() {
        body = undone(coding, &body)?;
    }
    Ok(body)
}

/// Bytes with one coding undone.
///
/// # Errors
/// A sentence on why it cannot be undone.
pub fn undone(coding: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut rest = body;
    let mut plain = Vec::new();
    // `deflate` means the format of zlib (RFC 9110, section 8.4.1.2).
    let read = match coding {
        "gzip" | "x-gzip" => GzDecoder::new(&mut rest)
            .take(LARGEST + 1)
            .read_to_end(&mut plain),
        "deflate" => ZlibDecoder::new(&mut rest)
            .take(LARGEST + 1)
            .read_to_end(&mut plain),
        _ => {
            return Err(format!(
                "Content-Encoding {coding} cannot be undone; gzip and deflate can"
            ));
        }
    };
    match read {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(format!("the body is {coding}, and not whole"))
        }
        Err(error) => Err(format!(
            "the body is said to be {coding}, and is not: {error}"
        )),
        Ok(_) if plain.len() as u64 > LARGEST => Err(format!(
            "the body is {coding}, and larger than {LARGEST} bytes"
        )),
        Ok(_) if !rest.is_empty() => Err(format!("the body is {coding}, and followed by more")),
        Ok(_) => Ok(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(body: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn undo(named: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {named}\r\n\r\n");
        decoded(head.as_bytes(), body)
    }

    #[test]
    fn codings_are_undone_the_last_first() {
        assert_eq!(undo("gzip", &gzip(b"pong")).unwrap(), b"pong");
        assert_eq!(undo("X-GZIP", &gzip(b"pong")).unwrap(), b"pong");
        assert_eq!(undo("deflate", &deflate(b"pong")).unwrap(), b"pong");
        assert_eq!(
            undo("deflate, gzip", &gzip(&deflate(b"pong"))).unwrap(),
            b"pong"
        );
        assert_eq!(undo("identity, ", b"pong").unwrap(), b"pong");
        assert_eq!(
            decoded(b"HTTP/1.1 200 OK\r\n\r\n", b"pong").unwrap(),
            b"pong"
        );
    }

    #[test]
    fn what_cannot_be_undone_is_said() {
        let packed = gzip(b"pong");
        for (named, body, said) in [
            ("br", &packed[..], "Content-Encoding br cannot be undone"),
            ("gzip", b"pong, not packed", "said to be gzip, and is not"),
            ("gzip", &packed[..packed.len() - 3], "not whole"),
            ("gzip", &[&packed[..], b"x"].concat(), "followed by more"),
        ] {
            let why = undo(named, body).unwrap_err();
            assert!(why.contains(said), "{named}: {why}");
        }
    }
}
