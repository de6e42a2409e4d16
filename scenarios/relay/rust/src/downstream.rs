//! The service that is called, by a bounded pool of kept connections.

use crate::config::DownstreamConfig;
use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleError, RecycleResult};
use form_urlencoded::byte_serialize;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

/// A connection that nobody has used for so long is closed, as the other stacks do.
const IDLE_LIMIT: Duration = Duration::from_secs(90);

/// Why a call brought nothing.
#[derive(Debug)]
pub enum Failure {
    TooSlow,
    Failed(String),
}

/// The pool bounds what is open; the client of hyper-util would bound what is kept, and open as many as are asked for.
pub struct Downstream {
    pool: Pool<Connector>,
    timeout: Duration,
}

impl Downstream {
    /// Must be called within a runtime.
    pub fn new(config: &DownstreamConfig) -> Result<Self> {
        let url: Uri = config.url.parse().context("DOWNSTREAM_URL is no URL")?;
        let (Some("http"), Some(authority), "" | "/") =
            (url.scheme_str(), url.authority(), url.path())
        else {
            bail!("DOWNSTREAM_URL is {url}: give http://host:port");
        };
        let port = authority.port_u16().unwrap_or(80);
        let connector = Connector {
            authority: format!("{}:{port}", authority.host()),
        };
        let pool = Pool::builder(connector).max_size(config.pool).build()?;
        tokio::spawn(close_idle(pool.clone()));
        Ok(Self {
            pool,
            timeout: config.timeout,
        })
    }

    /// Gets /echo.
    pub async fn call(&self) -> Result<(), Failure> {
        self.get("/echo").await
    }

    /// Gets /echo with a message's id.
    pub async fn call_for(&self, id: &str) -> Result<(), Failure> {
        let id: String = byte_serialize(id.as_bytes()).collect();
        self.get(&format!("/echo?id={id}")).await
    }

    /// Any status but 200 is a failure. The time runs from here: waiting for a connection is part of it.
    async fn get(&self, target: &str) -> Result<(), Failure> {
        match timeout(self.timeout, self.exchange(target)).await {
            Ok(done) => done.map_err(|error| Failure::Failed(format!("{error:#}"))),
            Err(_) => Err(Failure::TooSlow),
        }
    }

    /// A kept connection may be one that the downstream is just closing: then the next one is tried.
    async fn exchange(&self, target: &str) -> Result<()> {
        loop {
            let mut connection = self.pool.get().await.map_err(|error| anyhow!("{error}"))?;
            let was_kept = Object::metrics(&connection).recycle_count > 0;
            match ask(&mut connection, &self.pool.manager().authority, target).await {
                Ok(StatusCode::OK) => return Ok(()),
                Ok(other) => bail!("the downstream answered {other}"),
                Err(error) => {
                    drop(Object::take(connection));
                    if !(was_kept && unanswered(&error)) {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// The answer is read to its end: only then can the connection be used again.
async fn ask(connection: &mut Connection, authority: &str, target: &str) -> Result<StatusCode> {
    let request = Request::get(target)
        .header(HOST, authority)
        .body(Empty::new())?;
    let response = connection.send_request(request).await?;
    let status = response.status();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(status)
}

/// Whether the connection ended before there was an answer: a GET may then be sent again (RFC 9110, section 9.2.2).
fn unanswered(error: &anyhow::Error) -> bool {
    error.downcast_ref::<hyper::Error>().is_some_and(|error| {
        error.is_canceled() || error.is_closed() || error.is_incomplete_message()
    })
}

type Connection = SendRequest<Empty<Bytes>>;

struct Connector {
    authority: String,
}

impl Manager for Connector {
    type Type = Connection;
    type Error = anyhow::Error;

    async fn create(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let (mut connection, driver) = handshake(TokioIo::new(stream)).await?;
        // Its errors reach the sender.
        tokio::spawn(async move { driver.await.ok() });
        connection.ready().await?;
        Ok(connection)
    }

    /// A call that was given up has closed its connection: hyper does so when nobody waits for the response any more.
    async fn recycle(
        &self,
        connection: &mut Connection,
        _: &Metrics,
    ) -> RecycleResult<Self::Error> {
        connection
            .ready()
            .await
            .map_err(|error| RecycleError::Backend(error.into()))
    }
}

async fn close_idle(pool: Pool<Connector>) {
    let mut turns = interval(IDLE_LIMIT / 10);
    loop {
        turns.tick().await;
        pool.retain(|_, metrics| metrics.last_used() < IDLE_LIMIT);
    }
}
