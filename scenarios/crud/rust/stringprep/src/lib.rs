//! SASLprep (RFC 4013) for ASCII alone, in place of the crate of that name, whose Unicode tables take 150 KB.
//!
//! The driver prepares one string, the database's password. Where that cannot be prepared, it sends it as it is,
//! as PostgreSQL does: so a password outside ASCII works if it is in the normal form NFKC already.

use std::borrow::Cow;

/// The string is outside ASCII, or holds a character that RFC 4013 prohibits.
#[derive(Debug)]
pub struct Error;

/// Prepares a password.
pub fn saslprep(text: &str) -> Result<Cow<'_, str>, Error> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        Ok(Cow::Borrowed(text))
    } else {
        Err(Error)
    }
}
