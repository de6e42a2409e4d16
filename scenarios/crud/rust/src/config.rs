//! The settings, from the environment.

use std::env;
use std::str::FromStr;
use std::time::Duration;

pub struct Config {
    pub host: String,
    pub port: u16,
    pub read_timeout: Duration,
    pub idle_timeout: Duration,
    pub database: DatabaseConfig,
}

pub struct DatabaseConfig {
    pub url: String,
    pub pool: usize,
    pub timeout: Duration,
}

impl Config {
    pub fn from_env() -> Result<Self, String> {
        let pool = parsed("DATABASE_POOL", 8)?;
        if pool == 0 {
            return Err("DATABASE_POOL is 0: give a whole number above 0".into());
        }
        Ok(Self {
            host: parsed("HOST", "127.0.0.1".to_owned())?,
            port: parsed("PORT", 8080)?,
            read_timeout: milliseconds("HTTP_READ_TIMEOUT_MS", 10_000)?,
            idle_timeout: milliseconds("HTTP_IDLE_TIMEOUT_MS", 60_000)?,
            database: DatabaseConfig {
                url: env::var("DATABASE_URL").map_err(
                    |_| "DATABASE_URL is not set: give postgres://user:password@host:port/database",
                )?,
                pool,
                timeout: milliseconds("DATABASE_TIMEOUT_MS", 10_000)?,
            },
        })
    }
}

fn milliseconds(name: &str, otherwise: u64) -> Result<Duration, String> {
    parsed(name, otherwise).map(Duration::from_millis)
}

fn parsed<T: FromStr>(name: &str, otherwise: T) -> Result<T, String> {
    match env::var(name) {
        Ok(value) => value
            .parse()
            .map_err(|_| format!("{name} is {value:?}: that is no value for it")),
        Err(_) => Ok(otherwise),
    }
}
