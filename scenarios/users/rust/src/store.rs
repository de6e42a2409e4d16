//! The users, in SQLite.

use std::sync::{Arc, Mutex, PoisonError};

use r2d2::Pool;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{ErrorCode, OptionalExtension, params};

use crate::config::DatabaseConfig;

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS users(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, UNIQUE(name))";

/// What became of a registration.
pub enum Added {
    Registered,
    Taken,
}

/// A handle on the users; clones share one pool.
#[derive(Clone)]
pub struct Store {
    pool: Pool<SqliteConnectionManager>,
    /// SQLite has one writer at a time. Waiting here is fair and ends at once;
    /// waiting in SQLite's busy handler is a sleep that others overtake.
    writing: Arc<Mutex<()>>,
}

impl Store {
    pub fn open(config: &DatabaseConfig) -> anyhow::Result<Self> {
        let busy_timeout = config.busy_timeout;
        let manager = SqliteConnectionManager::file(&config.path).with_init(move |connection| {
            connection.busy_timeout(busy_timeout)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")
        });
        let pool = Pool::builder()
            .max_size(config.pool)
            // A file in this process does not go away between two queries.
            .test_on_check_out(false)
            .build(manager)?;
        pool.get()?.execute_batch(SCHEMA)?;
        Ok(Self {
            pool,
            writing: Arc::default(),
        })
    }

    /// Registers a name.
    pub async fn add(&self, name: String) -> anyhow::Result<Added> {
        let store = self.clone();
        tokio::task::spawn_blocking(move || {
            let connection = store.pool.get()?;
            let mut insert = connection.prepare_cached("INSERT INTO users(name) VALUES (?)")?;
            let _turn = store.writing.lock().unwrap_or_else(PoisonError::into_inner);
            match insert.execute(params![name]) {
                Ok(_) => Ok(Added::Registered),
                Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Ok(Added::Taken)
                }
                Err(e) => Err(e.into()),
            }
        })
        .await?
    }

    /// The registered name, or `None` if there is none.
    pub async fn find(&self, name: String) -> anyhow::Result<Option<String>> {
        let store = self.clone();
        tokio::task::spawn_blocking(move || {
            let connection = store.pool.get()?;
            let mut find = connection.prepare_cached("SELECT name FROM users WHERE name = ?")?;
            Ok(find.query_row(params![name], |row| row.get(0)).optional()?)
        })
        .await?
    }
}
