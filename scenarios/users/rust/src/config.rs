//! The settings, from the environment.

use std::env;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, ensure};

pub struct Config {
    pub host: String,
    pub port: u16,
    pub database: DatabaseConfig,
}

pub struct DatabaseConfig {
    pub path: PathBuf,
    pub pool: u32,
    pub busy_timeout: Duration,
}

impl Config {
    pub fn from_env() -> anyhow::Result<Self> {
        let pool = parsed("DATABASE_POOL", 10)?;
        ensure!(pool > 0, "DATABASE_POOL is 0: give a whole number above 0");
        Ok(Self {
            host: parsed("HOST", "127.0.0.1".to_owned())?,
            port: parsed("PORT", 8080)?,
            database: DatabaseConfig {
                path: env::var_os("DATABASE_PATH").map_or_else(|| "users.db".into(), PathBuf::from),
                pool,
                busy_timeout: Duration::from_millis(parsed("DATABASE_BUSY_TIMEOUT_MS", 10_000)?),
            },
        })
    }
}

fn parsed<T>(name: &str, otherwise: T) -> anyhow::Result<T>
where
    T: FromStr,
    T::Err: Display + Send + Sync + std::error::Error + 'static,
{
    match env::var(name) {
        Ok(value) => value
            .parse()
            .with_context(|| format!("{name} is {value:?}")),
        Err(_) => Ok(otherwise),
    }
}
