//! Carrying out a bounds job.

use crate::client::{Client, LOOK, fault};
use crate::job::{Job, Plan};
use crate::quiet::{Before, watch};
use crate::result::{BoundsResult, Instead, Limit, Responses, SCHEMA};
use crate::search::{Refusal, search};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use touchstone_exchange::{JobError, Response};
use touchstone_http::field_value;

/// The preface of HTTP/2, and an empty SETTINGS frame (RFC 9113 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The type of a SETTINGS frame, with which a server's side begins.
const SETTINGS: u8 = 4;
/// What is around a field's value: `x-bound: ` and its end.
const AROUND: u32 = 11;
/// The smallest field that is tried.
const LEAST: u32 = 64;

/// Looks for the bounds of a service.
///
/// # Errors
/// When the job is malformed; what the service does is in the result.
pub fn bounds(job: &Job, interrupt: &AtomicBool) -> Result<BoundsResult, JobError> {
    let plan = job.plan()?;
    let mut result = BoundsResult {
        schema: SCHEMA.into(),
        job: job.clone(),
        interrupted: false,
        failure: None,
        idle: Vec::new(),
        silent: Vec::new(),
        half_sent: Vec::new(),
        keep_alive: None,
        responses: None,
        field: None,
        fields: None,
        target: None,
        h2c: false,
    };
    if let Err(why) = (Looking {
        job,
        plan: &plan,
        interrupt,
    })
    .carry_out(&mut result)
    {
        result.failure = Some(why);
    }
    result.interrupted = interrupt.load(Ordering::Relaxed);
    Ok(result)
}

struct Looking<'a> {
    job: &'a Job,
    plan: &'a Plan,
    interrupt: &'a AtomicBool,
}

impl Looking<'_> {
    fn carry_out(&self, result: &mut BoundsResult) -> Result<(), String> {
        let first = self.once(&self.plan.bytes(0, b""));
        if let Some(why) = fault(self.plan, &first) {
            return Err(format!(
                "the plain request was not answered as expected: {why}"
            ));
        }
        result.keep_alive = first.ok().and_then(|response| {
            let value = field_value(&response.head, "keep-alive")?;
            Some(String::from_utf8_lossy(&value).into_owned())
        });
        let (plan, interrupt) = (self.plan, self.interrupt);
        let watched = std::thread::scope(|scope| {
            let start = |before| scope.spawn(move || watch(plan, before, interrupt));
            let watches = [Before::Request, Before::Nothing, Before::HalfOfAHead].map(start);
            result.responses = Some(self.responses());
            result.field = Some(self.field());
            result.fields = Some(self.fields());
            result.target = Some(self.target());
            result.h2c = self.h2c().unwrap_or(false);
            watches.map(|one| one.join().expect("a watch does not panic"))
        });
        let refused = |error: io::Error| format!("a connection was refused: {error}");
        let [idle, silent, half_sent] = watched;
        result.idle = idle.map_err(refused)?;
        result.silent = silent.map_err(refused)?;
        result.half_sent = half_sent.map_err(refused)?;
        Ok(())
    }

    /// Sends a request on a connection of its own.
    fn once(&self, bytes: &[u8]) -> Result<Response, Instead> {
        let opened = Client::open(self.plan);
        opened.map_or(Err(Instead::Closed), |mut client| client.ask(bytes))
    }

    fn responses(&self) -> Responses {
        let bytes = self.plan.bytes(0, b"");
        let mut found = Responses::default();
        let Ok(mut client) = Client::open(self.plan) else {
            return found;
        };
        while found.count < self.job.responses && !self.interrupt.load(Ordering::Relaxed) {
            let answered = client.ask(&bytes);
            let wrong = fault(self.plan, &answered).is_some();
            found.count += u32::from(!wrong);
            found.announced = answered.is_ok_and(|response| !response.keep_alive);
            // A wrong response does not end the connection that it comes on.
            found.ended = found.announced || client.ended().is_some();
            if wrong || found.ended {
                break;
            }
        }
        found
    }

    /// Whether a request is refused, and how. After an interruption all is accepted, so that a search ends.
    fn refusal(&self, bytes: &[u8]) -> Option<Refusal> {
        if self.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        let answered = self.once(bytes);
        fault(self.plan, &answered)?;
        Some(answered.map(|response| response.status))
    }

    fn field(&self) -> Limit {
        search(LEAST, self.job.bytes.max(LEAST), |size| {
            let value = "a".repeat((size - AROUND) as usize);
            self.refusal(
                &self
                    .plan
                    .bytes(0, format!("x-bound: {value}\r\n").as_bytes()),
            )
        })
    }

    fn fields(&self) -> Limit {
        let own = self.plan.fields.split(|&byte| byte == b'\n').count() as u32 - 1;
        search(own, own + self.job.fields, |count| {
            let further: String = (own..count)
                .map(|number| format!("x{number}: a\r\n"))
                .collect();
            self.refusal(&self.plan.bytes(0, further.as_bytes()))
        })
    }

    fn target(&self) -> Limit {
        let line = &self.plan.line;
        let own = line
            .split(|&byte| byte == b' ')
            .nth(1)
            .map_or(1, <[u8]>::len) as u32;
        search(own, self.job.bytes.max(own), |size| {
            self.refusal(&self.plan.bytes((size - own) as usize, b""))
        })
    }

    fn h2c(&self) -> io::Result<bool> {
        let mut client = Client::open(self.plan)?;
        client.send(PREFACE);
        let deadline = Instant::now() + self.plan.answer.min(10 * LOOK);
        while client.news().len() < 9 && client.ended().is_none() && Instant::now() < deadline {
            client.listen();
        }
        Ok(client.news().get(3) == Some(&SETTINGS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    /// A server that gives three responses a connection, takes 20 fields of 500 bytes at most, and closes what is quiet for
    /// 0.7 s: on a busy machine a request may be late.
    fn serve(mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(std::time::Duration::from_millis(700)))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        for _ in 0..3 {
            let (mut fields, mut refused) = (0, false);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                if line == "\r\n" {
                    break;
                }
                fields += 1;
                refused |= line.len() > 500 || fields > 21;
            }
            if refused {
                return stream.write_all(b"HTTP/1.1 431 Too large\r\nContent-Length: 0\r\n\r\n");
            }
            stream.write_all(ANSWER)?;
        }
        Ok(())
    }

    #[test]
    fn the_bounds_of_a_server_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                std::thread::spawn(move || stream.and_then(serve));
            }
        });
        let job = serde_json::json!({
            "url": format!("http://{address}"), "request": {"target": "/"}, "watch_s": 5.0, "bytes": 5_000
        });
        let job: Job = serde_json::from_value(job).unwrap();
        let found = bounds(&job, &AtomicBool::new(false)).unwrap();
        assert_eq!(found.failure, None);
        let responses = found.responses.unwrap();
        assert_eq!(
            (responses.count, responses.ended, responses.announced),
            (3, true, false)
        );
        let field = found.field.unwrap();
        assert_eq!(
            (field.accepted, field.refused, field.status),
            (500, Some(501), Some(431))
        );
        assert_eq!(found.fields.unwrap().accepted, 20);
        // GET, two spaces, HTTP/1.1 and the line's end are 15 of the 500.
        assert_eq!(found.target.unwrap().accepted, 485);
        assert!(!found.h2c);
        for quiet in found
            .idle
            .iter()
            .chain(&found.silent)
            .chain(&found.half_sent)
        {
            assert!(quiet.closed_s.is_some_and(|at| at >= 0.6), "{quiet:?}");
        }
        assert_eq!(found.idle.len(), 3);
    }

    /// The responses on one connection of a server that gives the same answer again and again, and behind these another.
    fn responses_of(answer: Vec<u8>, right: u32) -> Responses {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut reader = BufReader::new(stream.try_clone()?);
            let (mut line, mut given) = (String::new(), 0);
            while reader.read_line(&mut line)? > 0 {
                if line == "\r\n" {
                    let other = b"HTTP/1.1 429 Too many\r\nContent-Length: 0\r\n\r\n";
                    stream.write_all(if given < right { &answer } else { other })?;
                    given += 1;
                }
                line.clear();
            }
            io::Result::Ok(())
        });
        let job = serde_json::json!({
            "url": format!("http://{address}"), "request": {"target": "/"}, "responses": 200
        });
        let job: Job = serde_json::from_value(job).unwrap();
        let looking = Looking {
            job: &job,
            plan: &job.plan().unwrap(),
            interrupt: &AtomicBool::new(false),
        };
        looking.responses()
    }

    #[test]
    fn a_wrong_response_does_not_end_the_connection_that_gives_it() {
        let found = responses_of(ANSWER.to_vec(), 3);
        assert_eq!(
            (found.count, found.ended, found.announced),
            (3, false, false)
        );
    }

    #[test]
    fn all_responses_of_one_connection_together_may_be_large() {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 64 << 10);
        let answer = [head.into_bytes(), vec![b'a'; 64 << 10]].concat();
        let found = responses_of(answer, u32::MAX);
        assert_eq!((found.count, found.ended), (200, false));
    }
}
