//! The load result: what `docs/engine-protocol.md` calls the load result, as types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closes::ClosedByServer;
use crate::distribution::Distribution;
use crate::failure::FirstError;
use crate::generators::GeneratorUse;
use crate::h2::Http2Use;
use crate::histogram::Packed;
use crate::job::Job;
use crate::recorder::Stamps;
pub use touchstone_tls::TlsUse;

/// The result's schema and version.
pub const SCHEMA: &str = "touchstone.load/2";

/// One load result. Counts and distributions cover the measured window: requests whose intended send lies inside it.
/// Warm-up is in `series` under its own phase, and what comes after the window's end under `drain`. If not one
/// connection can be established there is no result, and the exit code is 1.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct LoadResult {
    /// `touchstone.load/2`.
    pub schema: String,
    /// What measured.
    pub engine: Engine,
    /// The job as it was understood, defaults filled in.
    pub job: Job,
    /// Whether a signal ended the job.
    pub interrupted: bool,
    /// When it was measured, and for how long.
    pub window: Window,
    /// Requests and connections of the window, by what became of them.
    pub counts: Counts,
    /// Requests of the whole job.
    pub totals: Totals,
    /// A row for each request of the mix, or for each step of a journey, which is named `JOURNEY/STEP`.
    pub requests: Vec<RequestResult>,
    /// A row for each journey.
    pub journeys: Vec<JourneyResult>,
    /// What went over the wire.
    pub bytes: Bytes,
    /// Requests per second.
    pub rate: Rate,
    /// Where no response came at all.
    pub silence: Silence,
    /// Where some responses were long in coming while others came.
    pub held_up: HeldUp,
    /// How right responses were spread over connections; null in an open loop, and without keep-alive.
    pub by_connection: Option<ByConnection>,
    /// From the intended send to the last byte, less `lateness`: what a request waited for a free connection is in it,
    /// what the generator slept too long is not. In a closed loop that is `service`, but where a connection had to be
    /// opened first: its opening is part of the latency. A request that timed out stays in it with the time that it had
    /// waited; other failed requests are not in it.
    pub latency: Option<Distribution>,
    /// From the actual send to the last byte.
    pub service: Option<Distribution>,
    /// Opening a connection.
    pub connect: Option<Distribution>,
    /// How late sends left although a connection was free, by the generator's doing; null in a closed loop.
    pub lateness: Option<Distribution>,
    /// Requests that waited because no connection was free; null in a closed loop.
    pub queue: Option<Queue>,
    /// What became of the connections.
    pub connections: Connections,
    /// Handshakes and what they agreed on; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsUse>,
    /// What was done over HTTP/2; absent over HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Use>,
    /// The events of all streamed responses; absent if none is a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// What the engine itself used, and whether it stood the load.
    pub generator: Generator,
    /// What each generator did in the window, if the load came from other machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorUse>,
    /// The first 20 errors of each class, in the order of their times.
    pub first_errors: Vec<FirstError>,
    /// Intervals of `series_interval_s`.
    pub series: Vec<SeriesPoint>,
    /// Each step of a stepped load; null for other loops.
    pub steps: Option<Vec<StepResult>>,
    /// What was seen of the watched process tree.
    pub watch: Option<touchstone_watch::Watch>,
    /// Stamps of the slowest requests and of some at random, with what the server did meanwhile; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailResult>,
    /// What the whole machine used in the window; null in slices, which have their own.
    pub machine: Option<touchstone_watch::Machine>,
    /// The intervals' histograms, for the log export; not part of the document.
    #[serde(skip)]
    pub interval_histograms: Vec<Packed>,
}

/// Where slow requests' time went.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct TailResult {
    /// Right responses of the window.
    pub requests: u64,
    /// The slowest of them, the slowest first.
    pub slowest: Vec<Stamps>,
    /// Some of all, drawn at random.
    pub sampled: Vec<Stamps>,
    /// What the server did meanwhile.
    pub timeline: touchstone_watch::timeline::Timeline,
}

/// The engine that measured.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Engine {
    /// Its version.
    pub version: String,
    /// `epoll` or `io_uring`.
    pub backend: String,
    /// Processes that put the load on.
    pub processes: u32,
}

/// When a load was measured. Seconds.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct Window {
    /// The first intended send, on the wall clock.
    pub start_unix_s: f64,
    /// Load before the measured window.
    pub warmup_s: f64,
    /// The measured window.
    pub measured_s: f64,
    /// What responses under way, and the queue, were waited for after its end: at most `timeout_s`.
    pub drain_s: f64,
}

/// Requests of the measured window. `sent` is always `ok`, `wrong` and `failed` together; connections are in none of them.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Counts {
    /// Requests sent; one that was repeated counts once.
    pub sent: u64,
    /// Whole responses: `ok` and `wrong`.
    pub completed: u64,
    /// Correct responses.
    pub ok: u64,
    /// Whole responses that were not correct by status, field or body.
    pub wrong: u64,
    /// Requests without a whole response.
    pub failed: u64,
    /// Those of `failed` that were under way when the job was interrupted.
    pub unanswered: u64,
    /// Requests sent once more: idempotent ones, under which the server closed a kept connection without a byte of a
    /// response, and those that an HTTP/2 server declared unprocessed. What became of them is in the other counts; their latency counts from when they were due.
    pub repeated: u64,
    /// Due in an open loop, and never out of the queue.
    pub unsent: u64,
    /// Requests of the warm-up that had no response when the window began. They are not among `sent`.
    pub outstanding_at_start: u64,
    /// `wrong` and `failed` by class, less `unanswered`: `wrong_status`, `wrong_header`, `wrong_body` (a response that is
    /// wrong in several ways counts as the first of them), `reset`, `closed_mid_response`, `closed_before_response`,
    /// `kept_connection_closed`, `timeout`, `malformed`, and over HTTP/2 `stream_reset` (`RST_STREAM`) and `going_away`
    /// (`GOAWAY`); of gRPC calls `grpc_status`, and `malformed` where framing or trailers are not gRPC's. `kept_connection_closed`: the server closed a kept connection
    /// without a byte of a response, and the request was not repeated, since it is not idempotent, `repeat` is false, or
    /// no connection could be opened. `malformed` is what RFC 9112 or 9113 does not allow, a body with two ends included
    /// (sections 6.1 and 6.3); the connection is given up. With pipelining, a timeout fails every request in flight on
    /// the connection; another failure fails the oldest, and those behind it are repeated, or fail as
    /// `kept_connection_closed` or, where the failed response was why the connection ended, `closed_before_response`.
    pub errors: BTreeMap<String, u64>,
    /// Responses by status; those of gRPC calls by the name of their code.
    pub status: BTreeMap<String, u64>,
}

/// Requests of the whole job, warm-up and drain included: what a proof of work is held against.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct Totals {
    /// Requests sent.
    pub sent: u64,
    /// Whole responses.
    pub completed: u64,
    /// Correct responses.
    pub ok: u64,
}

/// Where no response came at all, in gaps of 50 ms and more. A gap that begins before sending ends counts whole. With
/// several threads it is that of the thread with the least.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
pub struct Silence {
    /// All gaps.
    pub seconds: f64,
    /// The longest.
    pub longest_s: f64,
    /// Pairs of a length, and the sum of all gaps of at least that length: from 50 ms on, each half as long again as the
    /// one before, as far as there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longer: Vec<(f64, f64)>,
    /// Time subtracted from the gaps because the thread waited for a CPU and heard no answer: the time
    /// waited since it last looked up and nothing had come, at most 10 ms before where it had a CPU. Absent if the
    /// kernel does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaf_s: Option<f64>,
}

/// Correct responses that were long in coming while others came: by 20 ms and more, and 10 times the median of their
/// request and more, without the time in which no response came at all (in gaps of 10 ms and more, and twice that
/// median). In slices also the responses to a turn's first requests, which are in no distribution: a response that
/// takes longer than a turn is always one of those.
#[derive(Debug, Clone, Copy, Default, JsonSchema, Serialize, Deserialize)]
pub struct HeldUp {
    /// How many.
    pub answers: u64,
    /// By how much, summed.
    pub seconds: f64,
    /// The longest.
    pub longest_s: f64,
    /// How many connections had one; absent without keep-alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
}

/// How the window's right responses were spread over connections, in numbers that are exact to 1 %. In a closed loop a
/// connection that is served slowly gets few, and too few for a percentile to show them.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct ByConnection {
    /// What the connection in the middle got; of two in the middle, the one with more.
    pub median: u64,
    /// What one got that got no more than any other.
    pub fewest: u64,
    /// How many connections got less than half of the median.
    pub behind: u64,
    /// The share of all right responses that these got.
    pub share: f64,
}

/// One request of the mix, or one step of a journey.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct RequestResult {
    /// Its name.
    pub name: String,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// `wrong` and `failed` together.
    pub errors: u64,
    /// As that of the result.
    pub latency: Option<Distribution>,
    /// Media types of its complete responses, right or wrong; 16 per thread at most, further ones count as the last.
    #[serde(default)]
    pub media_types: Vec<MediaTypeCount>,
    /// Its complete responses that came in parts; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_parts: Option<InParts>,
    /// The events of its streamed responses; absent if they are not streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
}

/// The events of streamed responses whose requests were due in the window. A stream is `ok` when all its events came, each
/// right and in order. `latency` goes to its last event.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Events {
    /// Events that came, each once.
    pub count: u64,
    /// Events that came within the window, whenever their stream was due.
    pub inside: u64,
    /// Those per second.
    pub rate: f64,
    /// From when a stream was due to its first event.
    pub first: Option<Distribution>,
    /// From one event of a stream to the next. Events that are read together have a gap of 0.
    pub gap: Option<Distribution>,
    /// From the time that an event names (`stamp`) to its arrival, by the clocks of both machines; null without `stamp`.
    pub delay: Option<Distribution>,
    /// Events whose stamp was ahead of this machine's clock; they are not in `delay`.
    pub ahead: u64,
    /// Events that were not as expected.
    pub wrong: u64,
    /// Events that did not come: by the counter, and those that a response owed when it ended. What a stream still owed
    /// that was reset, or timed out, is not among them.
    pub lost: u64,
    /// Events whose number had come.
    pub doubled: u64,
    /// Events that came after one with a higher number, or whose number belongs to another stream.
    pub disordered: u64,
    /// Streams of at least 3 events that took 50 ms and more.
    pub lasting: u64,
    /// Those of `lasting` whose events all came within the last tenth of their time: something gathered them.
    pub in_burst: u64,
    /// The most requests under way at once when an event came; with several threads their sum.
    pub open_most: u64,
}

/// Responses that came in parts, and how long the rest was in coming after the first part. For a few that part was
/// acknowledged to the server at once, as a trial, and not when there was something to send along: a rest that then
/// comes at once had waited for the acknowledgement.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct InParts {
    /// How many, without the trials.
    pub responses: u64,
    /// Those whose rest took 20 ms and more.
    pub long: u64,
    /// How long those rests took, summed.
    pub seconds: f64,
    /// Trials, those of the warm-up included: at most 16 per thread.
    pub trials: u64,
    /// Those whose rest took 20 ms and more all the same.
    pub trials_long: u64,
}

/// How many responses had a status and a media type.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct MediaTypeCount {
    /// The status.
    pub status: u16,
    /// Without parameters; null where a response has no `Content-Type`.
    pub media_type: Option<String>,
    /// How many.
    pub responses: u64,
}

/// Passes of one journey that ended in the window.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct JourneyResult {
    /// Its name.
    pub name: String,
    /// Passes to the end.
    pub completed: u64,
    /// Passes that a wrong response ended.
    pub failed: u64,
    /// Duration of completed ones, pauses included.
    pub duration: Option<Distribution>,
}

/// Bytes of the measured window.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct Bytes {
    /// Requests, whole.
    pub sent: u64,
    /// Responses, whole.
    pub received: u64,
    /// Bodies of responses.
    pub body: u64,
}

/// Requests per second.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct Rate {
    /// Due, in an open loop; null in a closed one.
    pub offered: Option<f64>,
    /// Correct responses that came inside the window: a queue that is worked off afterwards does not count as
    /// throughput.
    pub achieved: f64,
}

/// Requests that waited for a free connection.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
pub struct Queue {
    /// The most at a time.
    pub peak: u64,
    /// Over the window.
    pub mean: f64,
}

/// What became of the connections.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Connections {
    /// As the job asks.
    pub asked: u64,
    /// Established at first.
    pub established: u64,
    /// Established at the window's end.
    pub held: u64,
    /// Sockets opened in all.
    pub opened: u64,
    /// Opened again after one was lost.
    pub reconnects: u64,
    /// Errors of the measured window, by class; no request is in these: `refused` and `connect_failed` are attempts;
    /// `closed_idle`, closes by the server that it had not announced, at rest or as a request came that may be repeated;
    /// `unasked_bytes`, bytes on a connection that carried no request, and no notice of its end.
    pub errors: BTreeMap<String, u64>,
    /// Those that the server closed, with the bounds that it shows: how many responses a connection gives, and how long
    /// it may rest.
    pub closed: ClosedByServer,
}

/// What the engine itself used in the window, and whether it stood the load.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Generator {
    /// Each load thread.
    pub threads: Vec<ThreadUse>,
    /// CPU seconds of the load threads.
    pub cpu_s: f64,
    /// Resident bytes of the engine's processes at the most.
    pub rss_peak: u64,
    /// System calls of the window; null where they were not counted.
    pub syscalls: Option<u64>,
    /// The clock that was read.
    pub clock: ClockUse,
    /// The cgroups of this engine, and above them, that have a CPU quota.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<String>,
    /// Whether the figures are the server's: false for the `reasons` given.
    pub stands: bool,
    /// Interrupted; a thread busier than 95 %; a CPU quota, or another process on its CPU, that kept a thread waiting for
    /// more than 10 % of the window; 1 % of the sends later than the slot and 1 ms; under 99 % of the offered rate reached, and with Poisson arrivals by more
    /// than three standard deviations; connections missing; no response.
    pub reasons: Vec<String>,
}

/// One load thread in the window.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Where it was pinned.
    pub cpu: Option<u32>,
    /// CPU seconds, the user part.
    pub user_s: f64,
    /// CPU seconds, the system part.
    pub system_s: f64,
    /// The share of the window that it worked.
    pub busy: f64,
    /// Seconds that it waited for a CPU.
    pub delayed_s: Option<f64>,
    /// Seconds that it waited for something to do.
    pub blocked_s: Option<f64>,
    /// Seconds for which CPU quotas kept its process's cgroups off the CPU, summed over CPUs and the same for each thread
    /// of a machine; absent without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// The generator that it ran on, if that was another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
}

/// The clock that was read.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct ClockUse {
    /// Its name.
    pub source: String,
    /// Nanoseconds per reading.
    pub cost_ns: f64,
}

/// One interval of the series. Seconds and counts.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Its end, since the first intended send.
    pub t: f64,
    /// `warmup`, `load` or `drain`; in slices `warmup` or `load`.
    pub phase: String,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests that ended wrong or failed.
    pub errors: u64,
    /// Median latency; null without a response.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Greatest latency.
    pub max: Option<f64>,
    /// Open at its end.
    pub connections: u64,
    /// Requests that were due and unsent at its end.
    pub queue: u64,
}

/// One step of a stepped load.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct StepResult {
    /// Requests per second that were due.
    pub rate: f64,
    /// Its length.
    pub seconds: f64,
    /// Correct responses per second.
    pub achieved: f64,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests that ended wrong or failed.
    pub errors: u64,
    /// As that of the result.
    pub latency: Option<Distribution>,
    /// The same of each request of the mix, in the order of the result's.
    pub requests: Vec<StepRequest>,
}

/// One request of the mix in one step of a load.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct StepRequest {
    /// Its name.
    pub name: String,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests that ended wrong or failed.
    pub errors: u64,
    /// As that of the result.
    pub latency: Option<Distribution>,
}
