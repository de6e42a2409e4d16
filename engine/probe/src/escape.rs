//! Octets as readable text, for reports.

use std::fmt::Write as _;

/// Most octets of one direction that a report keeps; the middle of more is left out, and said so.
pub const KEPT: usize = 4096;

/// Writes octets as ASCII with `\r`, `\n`, `\t`, `\\` and `\xNN`, one line, shortened to [`KEPT`].
pub fn escape(bytes: &[u8]) -> String {
    if bytes.len() <= KEPT {
        return plain(bytes);
    }
    let half = KEPT / 2;
    let left_out = bytes.len() - 2 * half;
    format!(
        "{}[... {left_out} octets ...]{}",
        plain(&bytes[..half]),
        plain(&bytes[bytes.len() - half..])
    )
}

fn plain(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 8);
    for &byte in bytes {
        match byte {
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => write!(out, "\\x{byte:02x}").expect("writing to a string"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_is_readable() {
        assert_eq!(escape(b"a\r\n\t\\\x00\xff"), "a\\r\\n\\t\\\\\\x00\\xff");
    }

    #[test]
    fn long_octets_say_what_was_left_out() {
        let text = escape(&vec![b'a'; KEPT + 10]);
        assert!(text.contains("[... 10 octets ...]"));
        assert!(text.len() < KEPT + 40);
    }
}
