//! Field lines that somebody gives for the requests.

use thiserror::Error;

/// Why a field cannot be given.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FieldError {
    /// It is not of the form `Name: value`.
    #[error("{0:?} is not a field such as 'Authorization: Bearer abc'")]
    Form(String),
    /// The cases are about this field.
    #[error("the cases send {0} themselves; leave it out")]
    Taken(String),
}

/// Fields that frame, route or pace a message: what the cases are about.
const TAKEN: [&str; 7] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "expect",
    "upgrade",
    "te",
];

/// The lines of these fields, each with its line end.
pub fn lines(fields: &[String]) -> Result<String, FieldError> {
    let mut lines = String::new();
    for field in fields {
        let wrong = || FieldError::Form(field.clone());
        let (name, value) = field.split_once(':').ok_or_else(wrong)?;
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let plain = |byte: u8| byte == b'\t' || (0x20..0x7f).contains(&byte) || byte >= 0x80;
        if name.is_empty() || !name.bytes().all(token) || !value.bytes().all(plain) {
            return Err(wrong());
        }
        if TAKEN.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(FieldError::Taken(name.into()));
        }
        lines.push_str(&format!("{name}: {}\r\n", value.trim()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_lines_and_slips_are_named() {
        let given = |field: &str| lines(&[field.to_owned()]);
        assert_eq!(given("X-Key:  a b ").unwrap(), "X-Key: a b\r\n");
        for field in ["X-Key", ": v", "X Key: v", "X-Key: a\r\nB: c"] {
            assert!(matches!(given(field), Err(FieldError::Form(_))), "{field}");
        }
        assert!(matches!(given("host: x"), Err(FieldError::Taken(_))));
    }
}
