//! The users, in PostgreSQL: a bounded pool of sessions, each with its statements prepared once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::config::DatabaseConfig;
use crate::user::NewUser;

const INSERT: &str = "INSERT INTO users (name, email, age) VALUES ($1, $2, $3) RETURNING id";
const SELECT: &str = "SELECT id, name, email, age FROM users WHERE id = $1";
const DELETE: &str = "DELETE FROM users WHERE id = $1";

pub struct Store {
    settings: tokio_postgres::Config,
    timeout: Duration,
    /// A request holds one for as long as it uses a session, so that there are never more sessions than these.
    permits: Semaphore,
    idle: Mutex<Vec<Session>>,
}

struct Session {
    client: Client,
    insert: Statement,
    select: Statement,
    delete: Statement,
}

/// Why a user could not be passed through.
pub enum Failure {
    /// The database cannot serve now.
    Away,
    /// A statement is wrong.
    Statement(tokio_postgres::Error),
}

impl Store {
    /// Makes the pool; its sessions are opened when they are first needed.
    pub fn open(config: &DatabaseConfig) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            settings: config.url.parse()?,
            timeout: config.timeout,
            permits: Semaphore::new(config.pool),
            idle: Mutex::default(),
        })
    }

    /// Inserts the user, reads it back and deletes it, on one session; each statement commits by itself.
    pub async fn pass_through(&self, user: &NewUser) -> Result<Row, Failure> {
        timeout(self.timeout, async {
            let _permit = self.permits.acquire().await.map_err(|_| Failure::Away)?;
            let session = match self.take_idle() {
                Some(session) => session,
                None => Session::open(&self.settings).await?,
            };
            let row = session.insert_select_delete(user).await;
            if !session.client.is_closed() {
                self.idle().push(session);
            }
            Ok(row?)
        })
        .await
        .unwrap_or(Err(Failure::Away))
    }

    fn take_idle(&self) -> Option<Session> {
        let mut idle = self.idle();
        idle.retain(|session| !session.client.is_closed());
        idle.pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    async fn open(settings: &tokio_postgres::Config) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = settings.connect(NoTls).await?;
        // Ends when the client is dropped or the server goes; the client then says that it is closed.
        tokio::spawn(connection);
        let insert = client.prepare(INSERT).await?;
        let select = client.prepare(SELECT).await?;
        let delete = client.prepare(DELETE).await?;
        Ok(Self {
            client,
            insert,
            select,
            delete,
        })
    }

    async fn insert_select_delete(&self, user: &NewUser) -> Result<Row, tokio_postgres::Error> {
        let Self { client, .. } = self;
        let age = i32::from(user.age);
        let inserted = client
            .query_one(&self.insert, &[&user.name, &user.email, &age])
            .await?;
        let id: i32 = inserted.try_get(0)?;
        let found = client.query_one(&self.select, &[&id]).await?;
        client.execute(&self.delete, &[&id]).await?;
        Ok(found)
    }
}

impl From<tokio_postgres::Error> for Failure {
    /// Classes 08, 53, 55 and 57 are connection exceptions, insufficient resources, a database that takes no
    /// connections, and operator intervention.
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code().map(|code| &code.code()[..2]) {
            None | Some("08" | "53" | "55" | "57") => Self::Away,
            Some(_) => Self::Statement(error),
        }
    }
}
