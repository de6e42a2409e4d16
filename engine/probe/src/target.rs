//! The server that is probed: its address, its resources, and how it answers when nothing is wrong.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::connection::Connection;
use crate::matching::Baseline;
use crate::response::{self, Reading, Response};
use crate::template::Values;

/// Why a server cannot be probed.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The URL is not of the form that the probe takes.
    #[error("{0:?} is no URL such as http://127.0.0.1:8080")]
    Url(String),
    /// The name does not resolve.
    #[error("cannot resolve {0}: {1}")]
    Resolve(String, std::io::Error),
    /// The server is not on this machine.
    #[error(
        "{0} is not on this machine; probing sends malformed requests, so allow it by --allow-host {0}"
    )]
    NotLoopback(String),
    /// Nobody listens.
    #[error("cannot connect to {0}: {1}; is the server up?")]
    Connect(SocketAddr, std::io::Error),
    /// A plain request does not get a plain answer.
    #[error("a plain {0} got {1}; the probe needs a resource that answers 2xx, give it by {2}")]
    Unfit(String, String, &'static str),
}

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
}

/// How soon a server that closes after every response does so.
const CLOSING: Duration = Duration::from_millis(300);

/// Authority and address of an `http` URL; the path, if any, is ignored by the caller's choice.
pub fn locate(url: &str, allowed: &[String]) -> Result<(String, String, SocketAddr), TargetError> {
    let wrong = || TargetError::Url(url.into());
    let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    if authority.is_empty() || authority.contains(['@', '?', '#', ' ', '{', '}']) {
        return Err(wrong());
    }
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let full = if has_port {
        authority.to_owned()
    } else {
        format!("{authority}:80")
    };
    let addresses: Vec<SocketAddr> = full
        .to_socket_addrs()
        .map_err(|error| TargetError::Resolve(full.clone(), error))?
        .collect();
    let host = full
        .rsplit_once(':')
        .map_or(full.as_str(), |(host, _)| host);
    if !addresses.iter().all(|address| address.ip().is_loopback())
        && !allowed.iter().any(|name| name == host)
    {
        return Err(TargetError::NotLoopback(host.into()));
    }
    let address = *addresses.first().ok_or_else(wrong)?;
    Ok((authority.into(), path.into(), address))
}

impl Target {
    /// Asks the server for its plain answers.
    pub fn meet(
        address: SocketAddr,
        values: Values,
        patience: Duration,
    ) -> Result<Target, TargetError> {
        let get = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
            values.path, values.host
        );
        let what = format!("GET {}", values.path);
        let start = Instant::now();
        let first = exchange(address, get.as_bytes(), patience)?;
        let plain_s = start.elapsed().as_secs_f64();
        let first = success(first, &what, "--path")?;
        let second = success(
            exchange(address, get.as_bytes(), patience)?,
            &what,
            "--path",
        )?;
        let length = first.values("content-length").next().map(str::to_owned);
        let same = first.body == second.body;
        let baseline = Baseline {
            status: first.status,
            body: same.then_some(first.body),
            length,
            takes_body: values.post.is_some(),
            closes: closes(address, get.as_bytes(), patience)?,
        };
        let mut echo = false;
        if let Some(post) = &values.post {
            let body = "probe";
            let request = format!(
                "POST {post} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
                values.host,
                body.len()
            );
            let answer = exchange(address, request.as_bytes(), patience)?;
            echo = success(answer, &format!("POST {post}"), "--post-path")?.body == body.as_bytes();
        }
        Ok(Target {
            address,
            values,
            baseline,
            plain_s,
            echo,
        })
    }

    /// Seconds until a plain GET on a fresh connection has its answer.
    pub fn alive(&self, patience: Duration) -> Alive {
        let get = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.values.path, self.values.host
        );
        let start = Instant::now();
        match exchange(self.address, get.as_bytes(), patience) {
            Ok(reading) if reading.finals.is_empty() => Alive::Mute,
            Ok(_) => Alive::Answers(start.elapsed().as_secs_f64()),
            Err(_) => Alive::Gone,
        }
    }
}

/// What a plain request on a fresh connection finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alive {
    /// An answer, after so many seconds.
    Answers(f64),
    /// A connection, but no answer in time.
    Mute,
    /// No connection.
    Gone,
}

fn exchange(
    address: SocketAddr,
    request: &[u8],
    patience: Duration,
) -> Result<Reading, TargetError> {
    let deadline = Instant::now() + patience;
    let mut connection = Connection::open(address, patience)
        .map_err(|error| TargetError::Connect(address, error))?;
    connection.send(request, deadline);
    loop {
        let reading = response::read(connection.received(), &[], connection.ended().is_some());
        let now = Instant::now();
        if !reading.finals.is_empty() || connection.ended().is_some() || now >= deadline {
            return Ok(reading);
        }
        connection.listen(deadline - now);
    }
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

fn success(reading: Reading, what: &str, option: &'static str) -> Result<Response, TargetError> {
    match reading.finals.into_iter().next() {
        Some(response) if response.status / 100 == 2 => Ok(response),
        Some(response) => Err(TargetError::Unfit(
            what.into(),
            format!("status {}", response.status),
            option,
        )),
        None => Err(TargetError::Unfit(
            what.into(),
            format!("no response ({:?})", reading.tail),
            option,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_without_leave() {
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
    }
}
