//! The server that is probed: its address, its resources, and how it answers when nothing is wrong.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use touchstone_http::{Url, first_that_answers};
use touchstone_tls::{Materials, Protocol, Tls};

use crate::case::Case;
use crate::dial::Dial;
use crate::exchange::{TargetError, connect, exchange, get};
use crate::introduction::{self, Posting};
use crate::matching::Baseline;
use crate::response::{Reading, Response};
use crate::template::Values;

/// A server that answers, with the yardstick of its plain answers.
#[derive(Clone, Debug)]
pub struct Target {
    /// How connections to it come about.
    pub dial: Dial,
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

/// The URL of a server that may be probed, and how connections to it come about: to the address that was given, or to
/// the first one that answers.
///
/// # Errors
/// When the URL does not fit the protocol, its host has no address, it is not on this machine and not among the allowed
/// ones, or the files of TLS cannot be used.
pub fn locate(
    text: &str,
    protocol: Protocol,
    tls: &Tls,
    address: Option<SocketAddr>,
    allowed: &[String],
) -> Result<(Url, Dial), TargetError> {
    let url = Url::parse(text)?;
    if let Some(why) = protocol.misfit(url.tls).or(tls.misfit(url.tls)) {
        return Err(TargetError::Tls(format!("{text}: {why}")));
    }
    let found = address.map_or_else(|| url.addresses(), |address| Ok(vec![address]));
    let mut found = found.map_err(|error| TargetError::Resolve(url.authority.clone(), error))?;
    found.retain(|address| url.is_allowed(*address, allowed));
    let Some(address) = first_that_answers(&found).or(found.first().copied()) else {
        return Err(TargetError::NotLoopback(url.host));
    };
    let settings = || {
        let local = address.ip().is_loopback();
        let materials = Materials::read(tls, protocol, &url.host, local)?;
        materials.settings().map(Arc::new)
    };
    let tls = url.tls.then(settings).transpose();
    let tls = tls.map_err(|error| TargetError::Tls(error.to_string()))?;
    let dial = Dial {
        address,
        protocol,
        tls,
    };
    Ok((url, dial))
}

impl Target {
    /// Asks the server for its plain answers.
    ///
    /// # Errors
    /// When a plain GET gets no 2xx answer. A POST that is refused only costs the cases that need it.
    pub fn meet(dial: Dial, mut values: Values, patience: Duration) -> Result<Target, TargetError> {
        let get = get(&dial, &values, false);
        let start = Instant::now();
        let answer = exchange(&dial, &get, patience)?;
        let plain_s = start.elapsed().as_secs_f64();
        if answer.finals.is_empty() {
            return Err(introduction::silence(&dial, &answer, patience));
        }
        values.limits = answer.signals.limits;
        let first = success(answer, &values.path)?;
        let second = success(exchange(&dial, &get, patience)?, &values.path)?;
        let length = first.values("content-length").next().map(str::to_owned);
        let same = first.body == second.body;
        let posting = Posting::try_out(&dial, &values, patience)?;
        if posting.refused.is_some() {
            values.post = None;
        }
        let baseline = Baseline {
            status: first.status,
            body: same.then_some(first.body),
            length,
            takes_body: values.post.is_some(),
            closes: !dial.protocol.is_h2() && closes(&dial, &get, patience)?,
        };
        Ok(Target {
            dial,
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

    /// Whether a plain GET gets content that a window of a few octets divides.
    pub fn has_content(&self) -> bool {
        const ENOUGH: usize = 6;
        let body = self.baseline.body.as_ref();
        body.is_some_and(|body| body.len() >= ENOUGH)
    }

    /// The target without the body of a plain GET as a yardstick: what is compared is the status alone.
    pub fn without_body(mut self) -> Target {
        self.baseline.body = None;
        self
    }

    /// Sends a plain GET on a fresh connection and compares the answer with those before the first case.
    pub fn control(&self, patience: Duration) -> Control {
        let get = get(&self.dial, &self.values, true);
        let start = Instant::now();
        let reading = match exchange(&self.dial, &get, patience) {
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
fn closes(dial: &Dial, request: &[u8], patience: Duration) -> Result<bool, TargetError> {
    let deadline = Instant::now() + patience;
    let mut connection = connect(dial, patience)?;
    connection.send(request, deadline);
    while connection.ended().is_none() && Instant::now() < deadline {
        let reading = dial.read(connection.received(), &[], false);
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
        let locate = |url, allowed: &[String]| {
            super::locate(url, Protocol::H1, &Tls::default(), None, allowed)
        };
        assert!(locate("http://127.0.0.1:8080/x", &[]).is_ok());
        assert!(matches!(
            locate("http://192.0.2.1:80", &[]),
            Err(TargetError::NotLoopback(_))
        ));
        assert!(locate("http://192.0.2.1:80", &["192.0.2.1".into()]).is_ok());
        assert!(matches!(
            locate("ftp://127.0.0.1", &[]),
            Err(TargetError::Url(_))
        ));
        assert!(locate("https://127.0.0.1", &[]).is_ok_and(|(_, dial)| dial.tls.is_some()));
        let (url, _) = locate("http://127.0.0.1/\u{e4}", &[]).unwrap();
        assert_eq!(url.path, "/%C3%A4");
    }
}
