//! The timeline as the result holds it. Times are whole microseconds since the first intended send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_sys::clock::Nanos;

/// Where a request was that had not been answered, as its connection's server end showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketWait {
    /// The server's kernel has no such connection: its accept queue was full, or the handshake was lost.
    Absent,
    /// In the accept queue.
    Unaccepted,
    /// In the socket, not read.
    Unread,
    /// Read by the server.
    Read,
    /// A part of the response is in the server's socket until the client acknowledges what came before.
    Unacknowledged,
}

/// What the server did at each moment. Intervals are `[begin, end, ...]` in µs since the first intended send; a process is 0
/// for the server, 1 for the load generator, and from 2 on a dependency by its place in the job.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
pub struct Timeline {
    /// The origin of all times: seconds of `CLOCK_MONOTONIC`.
    pub origin_s: f64,
    /// Seconds between two looks, as asked for.
    pub interval_s: f64,
    /// At each look: the time, then CPU µs so far of the server and of each dependency.
    pub looks: Vec<Vec<i64>>,
    /// Threads that could run and waited for a CPU: begin, end, process.
    pub cpu_waits: Vec<(i64, i64, u32)>,
    /// CPU of the server's threads: time of the look, kind of thread, µs.
    pub runs: Vec<(i64, u32, i64)>,
    /// Names of threads without their numbers: what kinds are.
    pub kinds: Vec<String>,
    /// Sleeps of threads that do not wait for work: begin, end, process, place.
    pub sleeps: Vec<(i64, i64, u32, u32)>,
    /// The kernel's functions in which threads slept: what places are.
    pub places: Vec<String>,
    /// The server was kept off its CPUs by a quota.
    pub throttled: Vec<(i64, i64)>,
    /// Sockets of requests under way: begin, end, local port of the client, where the request was.
    pub sockets: Vec<(i64, i64, u16, SocketWait)>,
    /// Requests of the server to its dependencies that were long enough to be seen: begin, end, index of the address in the
    /// job, the server's local port.
    pub exchanges: Vec<(i64, i64, u32, u16)>,
    /// Major page faults of the server: time of the look, number.
    pub major_faults: Vec<(i64, i64)>,
    /// Why something could not be seen, in words.
    pub unseen: Vec<String>,
    /// CPU seconds of the thread that looked.
    pub cost_s: f64,
}

impl Timeline {
    /// The part from `begin` on, with times counted from `origin`. All times are absolute nanoseconds before.
    #[must_use]
    pub fn settled(mut self, origin: Nanos, begin: Nanos) -> Self {
        let least = begin.0 as i64;
        self.looks.retain(|look| look[0] >= least);
        self.runs.retain(|run| run.0 >= least);
        self.major_faults.retain(|look| look.0 >= least);
        self.cpu_waits.retain(|wait| wait.1 >= least);
        self.sleeps.retain(|sleep| sleep.1 >= least);
        self.throttled.retain(|span| span.1 >= least);
        self.sockets.retain(|span| span.1 >= least);
        self.exchanges.retain(|span| span.1 >= least);
        let micros = |at: &mut i64| *at = (*at - origin.0 as i64).div_euclid(1000);
        self.looks.iter_mut().for_each(|look| micros(&mut look[0]));
        self.runs.iter_mut().for_each(|run| micros(&mut run.0));
        self.major_faults
            .iter_mut()
            .for_each(|look| micros(&mut look.0));
        for (begin, end) in self
            .cpu_waits
            .iter_mut()
            .map(|one| (&mut one.0, &mut one.1))
            .chain(self.sleeps.iter_mut().map(|one| (&mut one.0, &mut one.1)))
            .chain(
                self.throttled
                    .iter_mut()
                    .map(|one| (&mut one.0, &mut one.1)),
            )
            .chain(self.sockets.iter_mut().map(|one| (&mut one.0, &mut one.1)))
            .chain(
                self.exchanges
                    .iter_mut()
                    .map(|one| (&mut one.0, &mut one.1)),
            )
        {
            micros(begin);
            micros(end);
        }
        self.origin_s = touchstone_sys::clock::seconds(origin);
        self
    }
}
