//! The load result: what `docs/engine-protocol.md` calls the load result, as types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::generators::GeneratorUse;
use crate::histogram::Packed;
use crate::job::Job;
use crate::recorder::FirstError;

/// The result's schema and version.
pub const SCHEMA: &str = "touchstone.load/1";

/// One load result. Counts and distributions cover the measured window. Times in seconds, sizes in bytes.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)] // Each field is described in docs/engine-protocol.md, under the same name.
pub struct LoadResult {
    pub schema: String,
    pub engine: Engine,
    pub job: Job,
    pub interrupted: bool,
    pub window: Window,
    pub counts: Counts,
    pub totals: Totals,
    pub requests: Vec<RequestResult>,
    pub journeys: Vec<JourneyResult>,
    pub bytes: Bytes,
    pub rate: Rate,
    pub silence: Silence,
    pub held_up: HeldUp,
    pub latency: Option<Distribution>,
    pub service: Option<Distribution>,
    pub connect: Option<Distribution>,
    pub lateness: Option<Distribution>,
    pub queue: Option<Queue>,
    pub connections: Connections,
    pub generator: Generator,
    /// Each generator's part, if the load came from other machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorUse>,
    pub first_errors: Vec<FirstError>,
    pub series: Vec<SeriesPoint>,
    pub steps: Option<Vec<StepResult>>,
    pub watch: Option<touchstone_watch::Watch>,
    pub machine: Option<touchstone_watch::Machine>,
    /// The intervals' histograms, for the log export; not part of the document.
    #[serde(skip)]
    pub interval_histograms: Vec<Packed>,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Engine {
    pub version: String,
    pub backend: String,
    pub processes: u32,
}

#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Window {
    pub start_unix_s: f64,
    pub warmup_s: f64,
    pub measured_s: f64,
    pub drain_s: f64,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub sent: u64,
    pub completed: u64,
    pub ok: u64,
    pub unanswered: u64,
    pub unsent: u64,
    pub outstanding_at_start: u64,
    pub errors: BTreeMap<String, u64>,
    pub status: BTreeMap<String, u64>,
}

/// Requests of the whole job, warm-up and drain included: what a proof of work is held against.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Totals {
    pub sent: u64,
    pub completed: u64,
    pub ok: u64,
}

/// Where no response came at all, in gaps of 50 ms and more.
#[derive(Debug, Clone, Copy, Default, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Silence {
    pub seconds: f64,
    pub longest_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaf_s: Option<f64>,
}

/// Responses that were long in coming while others came.
#[derive(Debug, Clone, Copy, Default, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HeldUp {
    pub answers: u64,
    pub seconds: f64,
    pub longest_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RequestResult {
    pub name: String,
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub latency: Option<Distribution>,
    #[serde(default)]
    pub media_types: Vec<MediaTypeCount>,
}

/// How many responses had a status and a media type.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct MediaTypeCount {
    pub status: u16,
    pub media_type: Option<String>,
    pub responses: u64,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct JourneyResult {
    pub name: String,
    pub completed: u64,
    pub failed: u64,
    pub duration: Option<Distribution>,
}

#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Bytes {
    pub sent: u64,
    pub received: u64,
    pub body: u64,
}

#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Rate {
    pub offered: Option<f64>,
    pub achieved: f64,
}

#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Queue {
    pub peak: u64,
    pub mean: f64,
}

#[derive(Debug, Clone, Copy, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Connections {
    pub asked: u64,
    pub established: u64,
    pub held: u64,
    pub opened: u64,
    pub reconnects: u64,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Generator {
    pub threads: Vec<ThreadUse>,
    pub cpu_s: f64,
    pub rss_peak: u64,
    pub syscalls: Option<u64>,
    pub clock: ClockUse,
    pub stands: bool,
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ThreadUse {
    pub cpu: Option<u32>,
    pub user_s: f64,
    pub system_s: f64,
    pub busy: f64,
    pub delayed_s: Option<f64>,
    pub blocked_s: Option<f64>,
    /// The generator that it ran on, if that was another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ClockUse {
    pub source: String,
    pub cost_ns: f64,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SeriesPoint {
    pub t: f64,
    pub phase: String,
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
    pub connections: u64,
    pub queue: u64,
}

#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StepResult {
    pub rate: f64,
    pub seconds: f64,
    pub achieved: f64,
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub latency: Option<Distribution>,
}
