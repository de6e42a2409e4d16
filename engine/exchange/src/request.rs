//! A request as bytes.

use crate::job::Request;
use crate::target::Target;

impl Request {
    /// The request as it goes on the wire, with `Host`, and `Content-Length` where there is a body.
    #[must_use]
    pub fn bytes(&self, target: &Target) -> Vec<u8> {
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
        if let Some(body) = self.body.as_ref().filter(|_| !has("content-length")) {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(self.body.as_deref().unwrap_or_default());
        text.into_bytes()
    }
}
