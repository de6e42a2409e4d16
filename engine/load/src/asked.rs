//! Requests that the lab asks between those of a load, on the load's own connections: the service cannot tell them from the
//! load's. None of them is part of any count or time of the load.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use touchstone_exchange::ask::{self, Answer, LoadConnections, Outcome, Wanted};
use touchstone_exchange::client::{Answered, Unanswered};

use crate::job::Job;
use crate::target::Target;

/// A request that waits for a connection of the load, or is under way on one.
#[derive(Debug)]
pub struct Asked {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is a HEAD, whose response has no body.
    pub to_head: bool,
    /// Whether it may be sent once more if the server closes the connection under it.
    pub may_repeat: bool,
    lane: Option<u64>,
    deadline: Instant,
    /// Whether it is under way.
    taken: Arc<AtomicBool>,
    reply: Sender<Result<Answered, Unanswered>>,
}

impl Asked {
    /// Gives the answer. The asker may have given up.
    pub fn answer(self, answer: Result<Answered, Unanswered>) {
        let _ = self.reply.send(answer);
    }
}

/// The requests that wait for a connection.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<VecDeque<Asked>>,
    /// How many wait: looked at before each request of the load.
    length: AtomicUsize,
}

/// One of a load's connections.
#[derive(Debug, Clone, Copy)]
pub struct Seat {
    /// Its thread's number, and the number of threads.
    pub thread: (u32, u32),
    /// Its number in the thread, and the number of connections of the thread.
    pub slot: (u32, u32),
}

impl Seat {
    /// Whether the requests of a lane go over this connection.
    fn is_of(&self, lane: u64) -> bool {
        let ((thread, threads), (slot, slots)) = (self.thread, self.slot);
        let (threads, slots) = (u64::from(threads), u64::from(slots));
        lane % threads == u64::from(thread) && lane / threads % slots == u64::from(slot)
    }
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Asked>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any request waits.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> bool {
        self.length.load(Ordering::Relaxed) > 0
    }

    /// Takes the first request that may go over a connection. Those that nobody waits for any more are dropped.
    #[must_use]
    pub fn take(&self, seat: Seat) -> Option<Asked> {
        let mut waiting = self.waiting();
        let now = Instant::now();
        waiting.retain(|asked| asked.deadline > now);
        let place = waiting
            .iter()
            .position(|asked| asked.lane.is_none_or(|lane| seat.is_of(lane)));
        let taken = place.and_then(|place| waiting.remove(place));
        if let Some(asked) = &taken {
            asked.taken.store(true, Ordering::Relaxed);
        }
        self.length.store(waiting.len(), Ordering::Relaxed);
        taken
    }

    /// Puts a request in front of all others: its connection was gone before it was seen.
    pub fn put_back(&self, asked: Asked) {
        asked.taken.store(false, Ordering::Relaxed);
        let mut waiting = self.waiting();
        waiting.push_front(asked);
        self.length.store(waiting.len(), Ordering::Relaxed);
    }
}

impl LoadConnections for Queue {
    fn exchange(&self, wanted: Wanted<'_>) -> Result<Answered, Unanswered> {
        let (reply, answer) = channel();
        let taken = Arc::new(AtomicBool::new(false));
        let asked = Asked {
            bytes: wanted.bytes.to_vec(),
            to_head: wanted.to_head,
            may_repeat: wanted.is_idempotent,
            lane: wanted.lane,
            deadline: wanted.deadline,
            taken: Arc::clone(&taken),
            reply,
        };
        let mut waiting = self.waiting();
        waiting.push_back(asked);
        self.length.store(waiting.len(), Ordering::Relaxed);
        drop(waiting);
        let left = wanted.deadline.saturating_duration_since(Instant::now());
        answer.recv_timeout(left).unwrap_or_else(|error| {
            let late = error == RecvTimeoutError::Timeout || Instant::now() >= wanted.deadline;
            let why = match (late, taken.load(Ordering::Relaxed)) {
                (true, true) => "",
                (true, false) => "it waited for a connection of the load",
                (false, _) => "the load ended before it was answered",
            };
            Err(Unanswered {
                late,
                ..Unanswered::because(why.to_owned())
            })
        })
    }
}

/// Where a contender of a job in slices can be asked while it is loaded.
#[derive(Debug, Clone)]
struct Place {
    queue: Arc<Queue>,
    target: Target,
}

/// Carries out what the lab asks of contenders while they are loaded; for all threads.
#[derive(Debug, Default)]
pub struct Desk(Mutex<Vec<Option<Place>>>);

impl Desk {
    /// Takes in the next contender of the job, with the queue of its load; none where nothing can be asked between the
    /// requests.
    pub fn open(&self, queue: Option<Arc<Queue>>, target: &Target) {
        let place = queue.map(|queue| Place {
            queue,
            target: target.clone(),
        });
        self.places().push(place);
    }

    /// Sends what an order asks of a contender, in its turns, and waits for the responses.
    #[must_use]
    pub fn carry_out(&self, contender: usize, order: &ask::Send) -> Answer {
        let place = self.places().get(contender).cloned().flatten();
        let exchanges = place
            .ok_or_else(|| "nothing can be asked between the requests of this load".to_owned())
            .and_then(|place| ask::send_between(order, &*place.queue, place.target));
        Answer {
            id: Some(order.id),
            outcome: exchanges.map_or_else(Outcome::Error, Outcome::Exchanges),
        }
    }

    fn places(&self) -> MutexGuard<'_, Vec<Option<Place>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether others' requests can go between those of a job: each connection is kept and carries one request at a time.
#[must_use]
pub fn fits_between(job: &Job) -> bool {
    job.keepalive
        && job.depth() == 1
        && !job.protocol.is_h2()
        && !job.is_websocket()
        && job.generators.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn wanted(lane: Option<u64>, within: Duration) -> Wanted<'static> {
        Wanted {
            bytes: b"GET / HTTP/1.1\r\n\r\n",
            to_head: false,
            is_idempotent: true,
            lane,
            deadline: Instant::now() + within,
        }
    }

    fn seat(thread: (u32, u32), slot: (u32, u32)) -> Seat {
        Seat { thread, slot }
    }

    #[test]
    fn each_lane_has_one_connection() {
        for lane in 0..100 {
            let seats = (0..3).flat_map(|thread| (0..7).map(move |slot| (thread, slot)));
            let own = seats.filter(|(thread, slot)| seat((*thread, 3), (*slot, 7)).is_of(lane));
            assert_eq!(own.count(), 1, "lane {lane}");
        }
    }

    #[test]
    fn a_request_that_no_connection_took_in_time_is_late_and_is_not_sent_afterwards() {
        let queue = Queue::default();
        let answer = queue.exchange(wanted(None, Duration::from_millis(5)));
        assert!(answer.is_err_and(|why| why.late && !why.unseen));
        assert!(queue.take(seat((0, 1), (0, 1))).is_none());
        assert!(!queue.waits());
    }

    #[test]
    fn the_reason_says_whether_a_connection_took_it() {
        let queue = Queue::default();
        let taking = |within, drops: bool| {
            std::thread::scope(|scope| {
                let asking = scope.spawn(|| queue.exchange(wanted(None, within)));
                let taken = loop {
                    if let Some(asked) = queue.take(seat((0, 1), (0, 1))) {
                        break asked;
                    }
                    std::thread::yield_now();
                };
                let kept = (!drops).then_some(taken);
                let answer = asking.join().unwrap().unwrap_err();
                drop(kept);
                (answer.late, answer.why)
            })
        };
        // On a busy machine it must be taken before that.
        let soon = Duration::from_secs(1);
        assert_eq!(taking(soon, false), (true, String::new()));
        let ended = "the load ended before it was answered";
        assert_eq!(
            taking(Duration::from_secs(60), true),
            (false, ended.to_owned())
        );
        let waited = queue.exchange(wanted(None, Duration::from_millis(5)));
        let why = "it waited for a connection of the load";
        assert!(waited.is_err_and(|one| one.late && one.why == why));
    }

    #[test]
    fn a_contender_without_a_queue_is_not_asked() {
        let answer = Desk::default().carry_out(
            0,
            &serde_json::from_str(
                r#"{"id":7,"url":"http://127.0.0.1:1","asked":{"request":{}},"values":{"counter":1,"seed":1,"fresh":"a"}}"#,
            )
            .unwrap(),
        );
        assert!(matches!(answer.outcome, Outcome::Error(_)) && answer.id == Some(7));
    }
}
