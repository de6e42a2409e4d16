//! Carrying out orders while bytes move.

use crate::order::{Answer, Order};
use crate::relay::Relay;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{SystemTime, UNIX_EPOCH};
use touchstone_sys::poll::Bell;

/// Relays until the orders end, and answers each.
///
/// # Errors
/// When an answer cannot be written.
pub fn run(
    mut relay: Relay,
    bell: Arc<Bell>,
    orders: impl BufRead + Send + 'static,
    mut answers: impl Write,
) -> io::Result<()> {
    let lines = read(orders, Arc::clone(&bell));
    loop {
        if !relay.turn(&bell) {
            continue;
        }
        loop {
            match lines.try_recv() {
                Ok(line) => {
                    let text = serde_json::to_string(&answer(&mut relay, &line))?;
                    writeln!(answers, "{text}")?;
                    answers.flush()?;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// Lines from a thread of their own, which rings the bell for each and for the end.
fn read(orders: impl BufRead + Send + 'static, bell: Arc<Bell>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in orders.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
            bell.ring();
        }
        drop(sender);
        bell.ring();
    });
    receiver
}

fn answer(relay: &mut Relay, line: &str) -> Answer {
    let done = match serde_json::from_str::<Order>(line) {
        Ok(order) => relay
            .obey(&order)
            .map_err(|error| format!("the order could not be carried out: {error}: {line}")),
        Err(error) => Err(format!("the order cannot be read: {error}: {line}")),
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Answer {
        at_unix_s: since.map_or(0.0, |since| since.as_secs_f64()),
        counts: relay.counts(),
        error: done.err(),
    }
}
