//! Connections on which nothing more is sent: when the server closes them.

use crate::client::Client;
use crate::job::Plan;
use crate::result::Quiet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_exchange::{Progress, Reader};
use touchstone_probe::connection::Ended;

/// Connections of each kind: servers look at their timers now and then, so that one connection's time is a matter of luck.
const OF_EACH: u32 = 3;
/// How long after each other they are opened. No divisor of a second, in which most timers tick.
const APART: Duration = Duration::from_millis(370);

/// What was sent before a connection became quiet.
#[derive(Clone, Copy)]
pub(crate) enum Before {
    Request,
    Nothing,
    HalfOfAHead,
}

/// Watches connections, one after another opened, until all are closed or the time is up.
pub(crate) fn watch(plan: &Plan, before: Before, interrupt: &AtomicBool) -> io::Result<Vec<Quiet>> {
    std::thread::scope(|scope| {
        let one = |number: u32| {
            scope.spawn(move || {
                std::thread::sleep(APART * number);
                watch_one(plan, before, interrupt)
            })
        };
        let all: Vec<_> = (0..OF_EACH).map(one).collect();
        let ended = all.into_iter().map(|thread| thread.join());
        ended
            .map(|quiet| quiet.expect("a watch does not panic"))
            .collect()
    })
}

fn watch_one(plan: &Plan, before: Before, interrupt: &AtomicBool) -> io::Result<Quiet> {
    let mut client = Client::open(plan)?;
    let bytes = plan.bytes(0, b"");
    match before {
        Before::Nothing => {}
        Before::HalfOfAHead => client.send(&bytes[..bytes.len() / 2]),
        // A server that gives no response here fails the plain request as well, which says so.
        Before::Request => drop(client.ask(&bytes)),
    }
    let since = Instant::now();
    while client.ended().is_none()
        && since.elapsed() < plan.watch
        && !interrupt.load(Ordering::Relaxed)
    {
        client.listen();
    }
    Ok(Quiet {
        closed_s: client.ended().map(|_| since.elapsed().as_secs_f64()),
        reset: client.ended() == Some(Ended::Reset),
        status: status(client.news()),
    })
}

fn status(bytes: &[u8]) -> Option<u16> {
    let mut reader = Reader::new(false);
    match reader.push(bytes) {
        Ok(Progress::Complete(response)) => Some(response.status),
        Ok(Progress::Partial) => reader.close().ok().map(|response| response.status),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_to_nobody_gives_its_status() {
        let late = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
        assert_eq!(status(late), Some(408));
        assert_eq!(status(b""), None);
        assert_eq!(status(b"nonsense\r\n\r\n"), None);
    }
}
