//! The server that is probed: its address, its resources, and how it answers when nothing is wrong.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use touchstone_http::{Url, first_that_answers};

use crate::case::Case;
use crate::connection::Connection;
use crate::exchange::{TargetError, exchange};
use crate::introduction::{self, Posting};
use crate::matching::Baseline;
use crate::response::{self, Reading, Response};
use crate::template::Values;

/// A server that answers, with the yardstick of its plain answers.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// What the placeholders of the cases stand for.
    pub values: Values,
    /// What a plain GET gets.
    pub baseline: Baseline,
    /// Seconds that a plain GET took.
    pub plain_s: f64,
    /// Whether the resource that takes a body answers with it.
    pub echo: bool,
    /// Whether it takes whatever it is sent, not only the body that was given for it.
    pub takes_anything: bool,
    /// Why cases that need it are not applicable, where one was named.
    pub post_refused: Option<String>,
}

/// How soon a server that closes after every response does so.
const CLOSING: Duration = Duration::from_millis(300);

/// The URL of a server that may be probed, and its address: the one that was given, or the first that answers.
///
/// # Errors
/// When it is not an `http` URL, its host has no address, or it is not on this machine and not among the allowed ones.
pub fn locate(
    text: &str,
    address: Option<SocketAddr>,
    allowed: &[String],
) -> Result<(Url, SocketAddr), TargetError> {
    let url = Url::parse(text)?;
    if url.tls {
        return Err(TargetError::Tls(text.into()));
    }
    let found = address.map_or_else(|| url.addresses(), |address| Ok(vec![address]));
    let mut found = found.map_err(|error| TargetError::Resolve(url.authority.clone(), error))?;
    found.retain(|address| url.is_allowed(*address, allowed));
    let Some(address) = first_that_answers(&found).or(found.first().copied()) else {
        return Err(TargetError::NotLoopback(url.host));
    };
    Ok((url, address))
}

impl Target {
    /// Asks the server for its plain answers.
    ///
    /// # Errors
    /// When a plain GET gets no 2xx answer. A POST that is refused only costs the cases that need it.
    pub fn meet(
        address: SocketAddr,
        mut values: Values,
        patience: Duration,
    ) -> Result<Target, TargetError> {
        let get = format!(
            "GET {} HTTP/1.1\r\n{}Host: {}\r\n\r\n",
            values.path, values.fields, values.host
        );
        let start = Instant::now();
        let answer = exchange(address, get.as_bytes(), patience)?;
        let plain_s = start.elapsed().as_secs_f64();
        if answer.finals.is_empty() {
            return Err(introduction::silence(address, &answer, patience));
        }
        let first = success(answer, &values.path)?;
        let second = success(exchange(address, get.as_bytes(), patience)?, &values.path)?;
        let length = first.values("content-length").next().map(str::to_owned);
        let same = first.body == second.body;
        let posting = Posting::try_out(address, &values, patience)?;
        if posting.refused.is_some() {
            values.post = None;
        }
        let baseline = Baseline {
            status: first.status,
            body: same.then_some(first.body),
            length,
            takes_body: values.post.is_some(),
            closes: closes(address, get.as_bytes(), patience)?,
        };
        Ok(Target {
            address,
            values,
            baseline,
            plain_s,
            echo: posting.echo,
            takes_anything: posting.takes_anything,
            post_refused: posting.refused,
        })
    }

    /// The target as this case finds it: a resource that takes only its own body does not get other
    /// content, whose refusal would say nothing about HTTP. GET carries it instead.
    pub fn for_case(&self, case: &Case) -> Cow<'_, Target> {
        let foreign = case.posts() && !case.posts_own_body();
        let Some(post) = self
            .values
            .post
            .as_ref()
            .filter(|_| foreign && !self.takes_anything)
        else {
            return Cow::Borrowed(self);
        };
        let why = format!("POST {post} takes no content but the body that was given for it");
        let mut target = self.clone();
        target.values.post = None;
        target.baseline.takes_body = false;
        target.echo = false;
        target.post_refused = Some(why);
        Cow::Owned(target)
    }

    /// The target without the body of a plain GET as a yardstick: what is compared is the status alone.
    pub fn without_body(mut self) -> Target {
        self.baseline.body = None;
        self
    }

    /// Sends a plain GET on a fresh connection and compares the answer with those before the first case.
    pub fn control(&self, patience: Duration) -> Control {
        let get = format!(
            "GET {} HTTP/1.1\r\n{}Host: {}\r\nConnection: close\r\n\r\n",
            self.values.path, self.values.fields, self.values.host
        );
        let start = Instant::now();
        let reading = match exchange(self.address, get.as_bytes(), patience) {
            Ok(reading) => reading,
            Err(TargetError::Connect(_, error)) if error.kind() == ErrorKind::TimedOut => {
                return Control::Mute;
            }
            Err(TargetError::Connect(_, error)) => return Control::Gone(error.to_string()),
            Err(error) => return Control::Gone(error.to_string()),
        };
        let seconds = start.elapsed().as_secs_f64();
        let wanted = self.baseline.status;
        match reading.finals.into_iter().next() {
            Some(response) if response.status == wanted => {
                let body = self.baseline.body.as_ref();
                Control::Answers(seconds, body.is_none_or(|body| *body == response.body))
            }
            Some(response) => Control::Differs(format!(
                "was answered {} in place of {wanted}",
                response.status
            )),
            None if start.elapsed() < patience => {
                Control::Differs("had its connection closed or reset without an answer".into())
            }
            None => Control::Mute,
        }
    }
}

/// What a plain request on a fresh connection finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// The status that it always had, after this number of seconds; and whether the body is the same, too.
    Answers(f64, bool),
    /// Another answer, or the connection's end, in words that follow `a plain GET`.
    Differs(String),
    /// A connection, but no answer in time.
    Mute,
    /// No connection, and why.
    Gone(String),
}

/// Whether the connection ends with the response, though the request did not ask for it.
fn closes(address: SocketAddr, request: &[u8], patience: Duration) -> Result<bool, TargetError> {
    let deadline = Instant::now() + patience;
    let mut connection = Connection::open(address, patience)
        .map_err(|error| TargetError::Connect(address, error))?;
    connection.send(request, deadline);
    while connection.ended().is_none() && Instant::now() < deadline {
        let reading = response::read(connection.received(), &[], false);
        if !reading.finals.is_empty() && connection.quiet() >= CLOSING {
            break;
        }
        connection.listen(CLOSING);
    }
    Ok(connection.ended().is_some())
}

fn success(reading: Reading, path: &str) -> Result<Response, TargetError> {
    let what = format!("GET {path}");
    match reading.finals.into_iter().next() {
        Some(response) if response.status / 100 == 2 => Ok(response),
        Some(response) if matches!(response.status, 401 | 403) => {
            Err(TargetError::Credentials(what, response.status))
        }
        Some(response) => Err(TargetError::Unfit(
            what,
            format!("status {}", response.status),
        )),
        None => Err(TargetError::Unfit(
            what,
            format!("no response ({:?})", reading.tail),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_without_leave() {
        assert!(locate("http://127.0.0.1:8080/x", None, &[]).is_ok());
        assert!(matches!(
            locate("http://192.0.2.1:80", None, &[]),
            Err(TargetError::NotLoopback(_))
        ));
        assert!(locate("http://192.0.2.1:80", None, &["192.0.2.1".into()]).is_ok());
        assert!(matches!(
            locate("ftp://127.0.0.1", None, &[]),
            Err(TargetError::Url(_))
        ));
        assert!(matches!(
            locate("https://127.0.0.1", None, &[]),
            Err(TargetError::Tls(_))
        ));
        let (url, _) = locate("http://127.0.0.1/\u{e4}", None, &[]).unwrap();
        assert_eq!(url.path, "/%C3%A4");
    }
}
