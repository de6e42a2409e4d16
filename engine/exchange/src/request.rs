//! A request as bytes.

use crate::job::Request;
use crate::target::Target;

impl Request {
    /// The request as it goes on the wire, with `Host`, and `Content-Length` where there is a body.
    ///
    /// # Errors
    /// A sentence on a body that is not in its encoding.
    pub fn bytes(&self, target: &Target) -> Result<Vec<u8>, String> {
        let body = match &self.body {
            Some(text) => Some(self.encoding.encode(text)?),
            None => None,
        };
        let path = self.target.as_deref().unwrap_or(&target.url.path);
        let has = |name: &str| {
            self.headers
                .iter()
                .any(|(n, _)| n.eq_ignore_ascii_case(name))
        };
        let mut text = format!("{} {path} HTTP/1.1\r\n", self.method);
        if !has("host") {
            text.push_str(&format!("Host: {}\r\n", target.url.authority));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body.as_ref().filter(|_| !has("content-length")) {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend(body.unwrap_or_default());
        Ok(bytes)
    }
}
