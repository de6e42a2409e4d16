//! What the environment says.

use anyhow::{Context, Result, bail};
use std::env;
use std::net::SocketAddr;
use std::time::Duration;

pub struct Config {
    pub address: SocketAddr,
    pub idle_timeout: Duration,
    pub downstream: DownstreamConfig,
    pub kafka: KafkaConfig,
}

pub struct DownstreamConfig {
    pub url: String,
    pub pool: usize,
    pub timeout: Duration,
}

#[derive(Clone)]
pub struct KafkaConfig {
    pub bootstrap: String,
    pub topic: String,
    pub group: String,
    pub commit_every: usize,
    pub session_timeout: Duration,
}

impl Config {
    pub fn from_env() -> Result<Self> {
        let host = text("HOST", "127.0.0.1");
        let port = text("PORT", "8080");
        Ok(Self {
            address: format!("{host}:{port}")
                .parse()
                .with_context(|| format!("HOST {host:?} and PORT {port:?} are no address"))?,
            idle_timeout: milliseconds("HTTP_IDLE_TIMEOUT_MS", 60_000)?,
            downstream: DownstreamConfig {
                url: required("DOWNSTREAM_URL", "http://host:port")?
                    .trim_end_matches('/')
                    .to_owned(),
                pool: number("DOWNSTREAM_POOL", 256)? as usize,
                timeout: milliseconds("DOWNSTREAM_TIMEOUT_MS", 5_000)?,
            },
            kafka: KafkaConfig {
                bootstrap: required("KAFKA_BOOTSTRAP", "host:port")?,
                topic: text("KAFKA_TOPIC", "benchmark-topic"),
                group: text("KAFKA_GROUP", "relay"),
                commit_every: number("KAFKA_COMMIT_EVERY", 20)? as usize,
                session_timeout: milliseconds("KAFKA_SESSION_TIMEOUT_MS", 10_000)?,
            },
        })
    }
}

fn text(name: &str, otherwise: &str) -> String {
    env::var(name)
        .ok()
        .filter(|value| !value.is_empty())
        .unwrap_or_else(|| otherwise.to_owned())
}

fn required(name: &str, example: &str) -> Result<String> {
    match text(name, "") {
        value if value.is_empty() => bail!("{name} is not set: give {example}"),
        value => Ok(value),
    }
}

fn number(name: &str, otherwise: u32) -> Result<u32> {
    let value = text(name, &otherwise.to_string());
    match value.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => bail!("{name} is {value:?}: give a whole number above 0"),
    }
}

fn milliseconds(name: &str, otherwise: u32) -> Result<Duration> {
    Ok(Duration::from_millis(number(name, otherwise)?.into()))
}
