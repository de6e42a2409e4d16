//! The fields of a response (RFC 9113, section 8.2 and 8.3.2), put into the form of an HTTP/1.1 head.
//!
//! So checks, captures and cookies read the heads of either protocol alike.

use touchstone_http::{Framing, Head, is_control, is_token, media_type};

/// Reads the fields of one header block.
pub struct Fields<'a> {
    out: &'a mut Vec<u8>,
    trailers: bool,
    status: u16,
    length: Option<u64>,
    media_type: u64,
    regular: bool,
    malformed: Option<&'static str>,
}

impl<'a> Fields<'a> {
    /// A reader of a head or of trailers, whose text goes to `out`.
    pub fn new(out: &'a mut Vec<u8>, trailers: bool) -> Self {
        out.clear();
        Self {
            out,
            trailers,
            status: 0,
            length: None,
            media_type: 0,
            regular: false,
            malformed: None,
        }
    }

    /// Takes a field.
    #[inline]
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        if let Err(why) = self.take(name, value) {
            self.malformed.get_or_insert(why);
        }
    }

    fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if let [b':', rest @ ..] = name {
            return self.pseudo(rest, value);
        }
        self.regular = true;
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err("a field name that is not a token");
        }
        if name.iter().any(u8::is_ascii_uppercase) {
            return Err("an upper case letter in a field name");
        }
        if value.iter().any(|byte| is_control(*byte)) {
            return Err("a control character in a field value");
        }
        if value.trim_ascii() != value {
            return Err("white space around a field value");
        }
        match name {
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => {
                return Err("a field that belongs to HTTP/1.1 alone, such as Connection");
            }
            b"content-length" => self.content_length(value)?,
            b"content-type" => self.media_type = media_type(value),
            _ => {}
        }
        for part in [name, b": ", value, b"\r\n"] {
            self.out.extend_from_slice(part);
        }
        Ok(())
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if self.trailers {
            return Err("a pseudo-header field among the trailers");
        }
        if self.regular {
            return Err("a pseudo-header field behind others");
        }
        if name != b"status" {
            return Err("a pseudo-header field other than :status");
        }
        if self.status != 0 {
            return Err(":status twice");
        }
        let [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] = value else {
            return Err("a :status that is not three digits from 100");
        };
        self.status = value
            .iter()
            .fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
        for part in [b"HTTP/2 ", value, b"\r\n"] {
            self.out.extend_from_slice(part);
        }
        Ok(())
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), &'static str> {
        if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
            return Err("Content-Length is not a number");
        }
        let number = value
            .iter()
            .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        if self.length.is_some_and(|known| known != number) {
            return Err("two different values of Content-Length");
        }
        self.length = Some(number);
        Ok(())
    }

    /// The head, and whether the block was sound; trailers have a status of 0.
    pub fn finish(self) -> Result<Head, &'static str> {
        if let Some(why) = self.malformed {
            return Err(why);
        }
        if !self.trailers && self.status == 0 {
            return Err("a response without :status");
        }
        if self.status == 101 {
            return Err("the status 101, which HTTP/2 does not have");
        }
        self.out.extend_from_slice(b"\r\n");
        Ok(Head {
            status: self.status,
            // Where no length is said, the frames say where the body ends.
            framing: self.length.map_or(Framing::Chunked, Framing::Length),
            keep_alive: true,
            len: self.out.len(),
            media_type: self.media_type,
            folded: false,
        })
    }
}
