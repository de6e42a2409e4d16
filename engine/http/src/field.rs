//! Field lines (RFC 9110, section 5): their grammar, and fields found by name in a head.

use crate::Malformed;

/// Splits a line, its CRLF taken off, into name and value.
///
/// # Errors
/// [`Malformed`] when it is not a field line.
#[inline]
pub fn split_line(line: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let colon = line
        .iter()
        .position(|byte| *byte == b':')
        .ok_or(Malformed("a field line without a colon"))?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
        return Err(Malformed(match name.last() {
            // RFC 9112, section 5.1: readers that differ about it have been led astray.
            Some(b' ' | b'\t') => "white space between the name of a field and its colon",
            _ => "a field name that is not a token",
        }));
    }
    if value.iter().any(|byte| is_control(*byte)) {
        return Err(Malformed("a control character in a field value"));
    }
    Ok((name, value.trim_ascii()))
}

/// Whether a byte is a control character, the tab not counted.
#[must_use]
pub const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

/// Whether a byte may be part of a token, such as a method and the name of a field (RFC 9110, section 5.6.2).
#[must_use]
pub const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

/// Whether a line goes on with the value of the line before it (`obs-fold`; RFC 9112, section 5.2).
#[inline]
pub const fn is_fold(line: &[u8]) -> bool {
    matches!(line, [b' ' | b'\t', ..])
}

/// Puts spaces in place of each line end that a fold follows. The length stays.
pub fn unfold(head: &mut [u8]) {
    for at in 2..head.len() {
        if is_fold(&head[at..]) && head[at - 2..at] == *b"\r\n" {
            head[at - 2..at].fill(b' ');
        }
    }
}

/// The values of a field's lines, in their order; `head` begins with its status line.
pub fn field_lines<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(move |line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (found, value) = line.split_at(colon);
        found
            .eq_ignore_ascii_case(name.as_bytes())
            .then(|| value[1..].trim_ascii())
    })
}

/// The value of a field, that of several lines joined as RFC 9110 section 5.3 says.
#[must_use]
pub fn field_value(head: &[u8], name: &str) -> Option<Vec<u8>> {
    let values = field_lines(head, name);
    values.map(<[u8]>::to_vec).reduce(|mut all, next| {
        all.extend_from_slice(b", ");
        all.extend_from_slice(&next);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_at_its_first_colon() {
        let split = |line: &'static str| split_line(line.as_bytes());
        assert_eq!(split("Link: a:b \t"), Ok((&b"Link"[..], &b"a:b"[..])));
        assert_eq!(split("X:"), Ok((&b"X"[..], &b""[..])));
        for bad in [
            "", "X", ": x", "X : x", " X: x", "X: a\rb", "X: a\r", "X: \x7f",
        ] {
            assert!(split(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_folded_value_is_one_line() {
        let mut head = b"HTTP/1.1 200 OK\r\nA: 1\r\n\t2\r\n 3\r\nB: 4\r\n\r\n".to_vec();
        unfold(&mut head);
        assert_eq!(field_value(&head, "a").unwrap(), b"1  \t2   3");
        assert_eq!(field_value(&head, "b").unwrap(), b"4");
    }

    #[test]
    fn the_lines_of_a_field_are_one_value() {
        let head = b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\na:  3 \r\n\r\n";
        assert_eq!(field_value(head, "a").unwrap(), b"1, 3");
        assert_eq!(field_lines(head, "B").collect::<Vec<_>>(), [b"2"]);
        assert_eq!(field_value(head, "HTTP/1.1 200 OK\r\nA"), None);
    }
}
