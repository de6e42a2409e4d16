//! One connection, on which requests follow each other.

use crate::job::{KEY, Plan};
use crate::result::Instead;
use std::io;
use std::time::{Duration, Instant};
use touchstone_exchange::{Progress, Reader, Response};
use touchstone_probe::connection::{Connection, Ended};

/// The longest that nothing is looked at but one socket.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// A connection, which holds what came since the last response.
pub(crate) struct Client<'a> {
    plan: &'a Plan,
    connection: Connection,
}

impl<'a> Client<'a> {
    pub fn open(plan: &'a Plan) -> io::Result<Self> {
        let connection = Connection::open(plan.target.address, None, plan.answer)?;
        Ok(Self { plan, connection })
    }

    /// Sends bytes and reads a response.
    pub fn ask(&mut self, bytes: &[u8]) -> Result<Response, Instead> {
        let deadline = Instant::now() + self.plan.answer;
        self.connection.send(bytes, deadline);
        let mut reader = Reader::new(self.plan.request.is_head);
        loop {
            let progress = reader.push(self.connection.received());
            self.connection.forget();
            match progress {
                Ok(Progress::Complete(response)) => return Ok(response),
                Ok(Progress::Partial) => {}
                Err(_) => return Err(Instead::NotHttp),
            }
            if let Some(ended) = self.connection.ended() {
                let instead = match (reader.begun(), ended) {
                    (true, _) => Instead::NotHttp,
                    (false, Ended::Closed) => Instead::Closed,
                    (false, Ended::Reset) => Instead::Reset,
                };
                return reader.close().map_err(|_| instead);
            }
            if Instant::now() >= deadline {
                return Err(Instead::Nothing);
            }
            self.connection.listen(LOOK);
        }
    }

    /// Sends bytes that are no whole request.
    pub fn send(&mut self, bytes: &[u8]) {
        self.connection
            .send(bytes, Instant::now() + self.plan.answer);
    }

    /// Waits for news, for a moment.
    pub fn listen(&mut self) {
        self.connection.listen(LOOK);
    }

    /// What came since the last response.
    pub fn news(&self) -> &[u8] {
        self.connection.received()
    }

    /// How the connection ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.connection.ended()
    }
}

/// Why a response is not the expected one; nothing if it is.
pub(crate) fn fault(plan: &Plan, answered: &Result<Response, Instead>) -> Option<String> {
    match answered {
        Ok(response) => {
            let faults = plan.request.faults(response, KEY);
            (!faults.is_empty()).then(|| faults.join("; "))
        }
        Err(instead) => Some(match instead {
            Instead::Closed => "the connection was closed without a response".into(),
            Instead::Reset => "the connection was reset without a response".into(),
            Instead::NotHttp => "what came is not an HTTP response".into(),
            Instead::Nothing => "no response came in time".into(),
        }),
    }
}
