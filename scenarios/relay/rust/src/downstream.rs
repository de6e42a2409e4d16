//! The service that is called, by a pool of kept connections.

use crate::config::DownstreamConfig;
use anyhow::Result;
use bytes::Bytes;
use form_urlencoded::byte_serialize;
use http_body_util::{BodyExt, Empty};
use hyper::{StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Why a call brought nothing.
#[derive(Debug)]
pub enum Failure {
    TooSlow,
    Failed(String),
}

pub struct Downstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    uri: Uri,
    /// The client keeps connections and does not bound their number: this does.
    slots: Semaphore,
    timeout: Duration,
}

impl Downstream {
    pub fn new(config: &DownstreamConfig) -> Result<Self> {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(config.timeout));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(90))
            .pool_max_idle_per_host(config.pool)
            .build(connector);
        Ok(Self {
            client,
            uri: format!("{}/echo", config.url).parse()?,
            slots: Semaphore::new(config.pool),
            timeout: config.timeout,
        })
    }

    /// Gets /echo.
    pub async fn call(&self) -> Result<(), Failure> {
        self.get(self.uri.clone()).await
    }

    /// Gets /echo with a message's id.
    pub async fn call_for(&self, id: &str) -> Result<(), Failure> {
        let id: String = byte_serialize(id.as_bytes()).collect();
        let uri = format!("{}?id={id}", self.uri)
            .parse()
            .map_err(|e| Failure::Failed(format!("its id makes no URI: {e}")))?;
        self.get(uri).await
    }

    /// Any status but 200 is a failure. The time runs from here: waiting for a connection is part of it.
    async fn get(&self, uri: Uri) -> Result<(), Failure> {
        let exchange = async {
            let _slot = self.slots.acquire().await.map_err(|e| e.to_string())?;
            let response = self.client.get(uri).await.map_err(|e| e.to_string())?;
            let status = response.status();
            // A connection is kept only when its answer was read to the end.
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                frame.map_err(|e| e.to_string())?;
            }
            match status {
                StatusCode::OK => Ok(()),
                other => Err(format!("the downstream answered {other}")),
            }
        };
        match timeout(self.timeout, exchange).await {
            Ok(done) => done.map_err(Failure::Failed),
            Err(_) => Err(Failure::TooSlow),
        }
    }
}
