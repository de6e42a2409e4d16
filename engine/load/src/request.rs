//! The request mix, compiled: bytes ready to send, and what to expect for them.

use crate::check::Check;
use crate::error::Error;
use crate::job::Job;
use crate::random::Random;
use crate::target::Target;
use crate::template::{Key, Template, decimal};

/// The compiled mix.
#[derive(Debug, Clone)]
pub struct Mix {
    requests: Vec<CompiledRequest>,
    /// Upper ends of the requests' shares of the weights' sum.
    bounds: Vec<u64>,
}

/// One compiled request.
#[derive(Debug, Clone)]
pub struct CompiledRequest {
    /// Its name in the result.
    pub name: String,
    /// Whether it is a HEAD, whose response has no body.
    pub is_head: bool,
    /// What its response must be.
    pub check: Check,
    bytes: Bytes,
}

#[derive(Debug, Clone)]
enum Bytes {
    Fixed(Vec<u8>),
    Rendered {
        head: Template,
        body: Option<Template>,
    },
}

impl Mix {
    /// Compiles a job's requests for its target.
    ///
    /// # Errors
    /// [`Error::Job`] that names the request and the part that does not hold together.
    pub fn compile(job: &Job, target: &Target) -> Result<Self, Error> {
        let implied = Job::implied_request();
        let listed = if job.requests.is_empty() {
            std::slice::from_ref(&implied)
        } else {
            &job.requests
        };
        let mut requests = Vec::with_capacity(listed.len());
        let mut bounds = Vec::with_capacity(listed.len());
        let mut sum = 0;
        for (index, request) in listed.iter().enumerate() {
            requests.push(CompiledRequest::compile(request, index, job, target)?);
            sum += u64::from(request.weight);
            bounds.push(sum);
        }
        Ok(Self { requests, bounds })
    }

    /// The requests in the job's order.
    #[must_use]
    pub fn requests(&self) -> &[CompiledRequest] {
        &self.requests
    }

    /// Draws the next request's index by weight.
    #[inline]
    pub fn pick(&self, random: &mut Random) -> u16 {
        if self.requests.len() == 1 {
            return 0;
        }
        let sum = self.bounds[self.bounds.len() - 1];
        let drawn = random.next() % sum;
        self.bounds.partition_point(|bound| *bound <= drawn) as u16
    }
}

impl CompiledRequest {
    fn compile(
        request: &crate::job::Request,
        index: usize,
        job: &Job,
        target: &Target,
    ) -> Result<Self, Error> {
        let place = match &request.name {
            Some(name) => format!("requests[{index}] ({name})"),
            None => format!("requests[{index}]"),
        };
        let bad = |part: &str, why: String| Error::Job(format!("{place}.{part}: {why}"));
        let method = request.method.as_str();
        if method.is_empty()
            || !method
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        {
            return Err(bad("method", format!("{method:?} is not a method")));
        }
        let path = match &request.target {
            Some(path) => path.clone(),
            None => target.path.replace('{', "{{").replace('}', "}}"),
        };
        if path.is_empty() || path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(bad(
                "target",
                "it must not be empty, and spaces and control characters must be percent-encoded"
                    .to_owned(),
            ));
        }
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let has = |name: &str| {
            request
                .headers
                .iter()
                .any(|(header, _)| header.eq_ignore_ascii_case(name))
        };
        if !has("host") {
            head.push_str(&format!("Host: {}\r\n", target.authority));
        }
        for (name, value) in &request.headers {
            if name.is_empty()
                || name
                    .bytes()
                    .any(|byte| byte <= b' ' || byte == b':' || byte >= 0x7f)
            {
                return Err(bad("headers", format!("{name:?} is not a header name")));
            }
            if value
                .bytes()
                .any(|byte| byte == b'\r' || byte == b'\n' || byte == 0)
            {
                return Err(bad(
                    "headers",
                    format!("the value of {name} holds a line end"),
                ));
            }
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !job.keepalive && !has("connection") {
            head.push_str("Connection: close\r\n");
        }
        let body = match &request.body {
            Some(text) => Some(Template::parse(text).map_err(|why| bad("body", why))?),
            None => None,
        };
        let head = Template::parse(&head).map_err(|why| bad("target or headers", why))?;
        let mut compiled = Self {
            name: request
                .name
                .clone()
                .unwrap_or_else(|| format!("{method} {path}")),
            is_head: method == "HEAD",
            check: Check::compile(&request.expect, &place)?,
            bytes: Bytes::Rendered { head, body },
        };
        if let Bytes::Rendered { head, body } = &compiled.bytes
            && head.fixed().is_some()
            && body.as_ref().is_none_or(|body| body.fixed().is_some())
        {
            let mut bytes = Vec::new();
            compiled.render(
                Key {
                    counter: 0,
                    seed: 0,
                    thread: 0,
                },
                &mut bytes,
                &mut Vec::new(),
            );
            compiled.bytes = Bytes::Fixed(bytes);
        }
        Ok(compiled)
    }

    /// The request's bytes, where they are the same every time.
    #[inline]
    #[must_use]
    pub fn fixed(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Fixed(bytes) => Some(bytes),
            Bytes::Rendered { .. } => None,
        }
    }

    /// Appends the request's bytes for a key; `scratch` holds the body meanwhile.
    pub fn render(&self, key: Key, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        match &self.bytes {
            Bytes::Fixed(bytes) => out.extend_from_slice(bytes),
            Bytes::Rendered { head, body } => {
                head.render(key, out);
                scratch.clear();
                if let Some(body) = body {
                    body.render(key, scratch);
                    out.extend_from_slice(b"Content-Length: ");
                    decimal(scratch.len() as u64, out);
                    out.extend_from_slice(b"\r\n");
                }
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(scratch);
            }
        }
    }
}
