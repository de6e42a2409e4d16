//! Messages in a body: each has a flag, and its length in four bytes, before it.

/// Bytes before each message.
const PREFIX: usize = 5;

/// A response that breaks gRPC's rules, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

/// A message as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framed<'a> {
    /// Whether it is compressed, with the coding of `grpc-encoding`.
    pub is_compressed: bool,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Appends a message with its prefix.
pub(crate) fn write(message: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    out.extend_from_slice(&(message.len() as u32).to_be_bytes());
    out.extend_from_slice(message);
}

/// The flag and the length of the message at the start of `bytes`, and the bytes behind them; none while they have not come.
#[must_use]
pub fn prefix(bytes: &[u8]) -> Option<(u8, usize, &[u8])> {
    let (&[flag, a, b, c, d], behind) = bytes.split_first_chunk::<PREFIX>()?;
    let length = u32::from_be_bytes([a, b, c, d]);
    Some((flag, length as usize, behind))
}

/// The messages of a whole body.
///
/// # Errors
/// [`Broken`] when the body does not end where a message ends.
pub fn messages(body: &[u8]) -> Result<Vec<Framed<'_>>, Broken> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some((flag, length, behind)) = prefix(rest) {
        let number = found.len() + 1;
        if flag > 1 {
            return Err(Broken(match found.last() {
                Some(Framed { bytes, .. }) => too_long(bytes.len(), rest.len()),
                None => format!("the flag of the message is {flag}; 0 and 1 are known"),
            }));
        }
        let Some((bytes, next)) = behind.split_at_checked(length) else {
            return Err(Broken(format!(
                "message {number} is announced with {length} bytes, and {} came",
                behind.len()
            )));
        };
        found.push(Framed {
            is_compressed: flag == 1,
            bytes,
        });
        rest = next;
    }
    if rest.is_empty() {
        return Ok(found);
    }
    Err(Broken(match found.last() {
        Some(last) => too_long(last.bytes.len(), rest.len()),
        None => format!("the body has {} bytes, too few for a message", rest.len()),
    }))
}

fn too_long(announced: usize, more: usize) -> String {
    format!(
        "the message is longer than announced: {more} bytes that are not a message follow the {announced} announced"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(body: &[u8]) -> String {
        messages(body).unwrap_err().0
    }

    #[test]
    fn messages_are_found_by_their_lengths() {
        let mut body = Vec::new();
        for message in [&b"abc"[..], b"", b"x"] {
            write(message, &mut body);
        }
        let found: Vec<_> = messages(&body)
            .unwrap()
            .iter()
            .map(|one| one.bytes)
            .collect();
        assert_eq!(found, [&b"abc"[..], b"", b"x"]);
        assert!(messages(b"").unwrap().is_empty());
        assert!(messages(&[1, 0, 0, 0, 0]).unwrap()[0].is_compressed);
    }

    #[test]
    fn a_body_that_does_not_end_with_a_message_is_named() {
        assert!(why(&[0, 0, 0, 0, 3, 1, 2]).contains("announced with 3 bytes, and 2 came"));
        assert!(
            why(&[0, 0, 0, 0, 1, 1, 9, 9]).contains("2 bytes that are not a message follow the 1")
        );
        assert!(why(&[0, 0, 0, 0, 1, 1, 9, 9, 9, 9, 9, 9]).contains("longer than announced"));
        assert!(why(&[0, 0]).contains("too few"));
        assert!(why(&[2, 0, 0, 0, 0]).contains("flag of the message is 2"));
        assert!(why(&[0, 255, 255, 255, 255]).contains("4294967295"));
    }
}
