//! What threads and processes hand over when they end; it can be sent through a pipe, and it merges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;
use crate::closes::ClosedByServer;
use crate::failure::FirstError;
use crate::h2::Http2Use;
use crate::histogram::Packed;
use crate::recorder::{
    EventsReport, Interval, Kept, Kind, MediaType, Parts, Recorder, Silence, StepKind, Trials,
};
use crate::usage::Usage;
use crate::worker::Worker;
use touchstone_tls::TlsUse;

/// One thread's figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // The fields are those of `Worker`, `Recorder` and `Usage`, documented there.
pub struct ThreadReport {
    pub cpu: Option<u32>,
    pub usage: Usage,
    pub syscalls: u64,
    pub start: Nanos,
    pub begun: Nanos,
    pub begin: Nanos,
    pub end: Nanos,
    pub finished: Nanos,
    pub last_completion: Nanos,
    pub silence: Silence,
    pub sent: u64,
    pub completed: u64,
    pub ok: u64,
    pub ok_inside: u64,
    pub repeated: u64,
    pub unanswered: u64,
    pub unsent: u64,
    pub errors: Vec<u64>,
    pub status: BTreeMap<u16, u64>,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub bytes_body: u64,
    pub by_connection: Packed,
    pub kinds: Vec<KindReport>,
    pub journeys: Vec<JourneyReport>,
    pub lateness: Packed,
    pub connect: Packed,
    pub steps: Vec<StepReport>,
    pub series: Vec<Interval>,
    pub first_errors: Vec<FirstError>,
    pub established: u64,
    pub outstanding: u64,
    pub held: u64,
    pub opened: u64,
    pub reconnects: u64,
    pub closed: ClosedByServer,
    pub tls: Option<TlsUse>,
    pub http2: Option<Http2Use>,
    pub kept: Option<Kept>,
}

/// Figures of one kind of request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // As in `recorder::Kind`, `HeldUp`, `InParts` and `MediaTypes`.
pub struct KindReport {
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub both: Packed,
    pub latency: Packed,
    pub service: Packed,
    pub waits: Packed,
    pub longest_waits: Vec<Nanos>,
    pub parts: Parts,
    pub trials: Trials,
    pub media_types: Vec<MediaType>,
    pub events: Option<EventsReport>,
}

impl KindReport {
    fn of(kind: &Kind) -> Self {
        Self {
            sent: kind.sent,
            ok: kind.ok,
            errors: kind.errors,
            both: Packed::of(&kind.both),
            latency: Packed::of(&kind.latency),
            service: Packed::of(&kind.service),
            waits: Packed::of(&kind.held_up.waits),
            longest_waits: kind.held_up.longest.clone(),
            parts: kind.in_parts.parts,
            trials: kind.in_parts.trials,
            media_types: kind.media_types.seen.clone(),
            events: kind.events.as_deref().map(EventsReport::of),
        }
    }
}

/// Figures of one journey.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // As in `recorder::JourneyFigures`.
pub struct JourneyReport {
    pub completed: u64,
    pub failed: u64,
    pub duration: Packed,
}

/// Figures of one step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // As in `recorder::StepFigures`.
pub struct StepReport {
    pub kinds: Vec<StepKindReport>,
}

/// Figures of one request of the mix in one step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // As in `recorder::StepKind`.
pub struct StepKindReport {
    pub sent: u64,
    pub ok: u64,
    pub ok_inside: u64,
    pub errors: u64,
    pub latency: Packed,
}

impl StepKindReport {
    fn of(kind: &StepKind) -> Self {
        Self {
            sent: kind.sent,
            ok: kind.ok,
            ok_inside: kind.ok_inside,
            errors: kind.errors,
            latency: Packed::of(&kind.latency),
        }
    }
}

/// One process's figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProcessReport {
    /// The kernel interface that was used.
    pub backend: String,
    /// Its threads.
    pub threads: Vec<ThreadReport>,
    /// Longest queue.
    pub queue_peak: u64,
    /// Mean queue.
    pub queue_mean: f64,
    /// Requests that were due and never left the queue.
    pub queued: u64,
    /// Peak resident memory in bytes.
    pub rss_peak: u64,
    /// Whether the user ended the run.
    pub interrupted: bool,
    /// What the server did meanwhile, if that was asked for.
    #[serde(default)]
    pub timeline: Option<touchstone_watch::timeline::Timeline>,
    /// The generator that it ran on, if it was another machine.
    #[serde(default)]
    pub generator: Option<String>,
}

impl ThreadReport {
    /// What a worker has to hand over.
    #[must_use]
    pub fn of(worker: &Worker, cpu: Option<u32>, finished: Nanos) -> Self {
        let recorder: &Recorder = &worker.recorder;
        Self {
            cpu,
            usage: worker.usage,
            syscalls: worker.syscalls,
            start: recorder.window.start,
            begun: worker.begun,
            begin: recorder.window.begin,
            end: recorder.window.end,
            finished,
            last_completion: recorder.last_completion,
            silence: recorder.listening.silence,
            sent: recorder.sent,
            completed: recorder.completed,
            ok: recorder.ok,
            ok_inside: recorder.ok_inside,
            repeated: recorder.repeated,
            unanswered: worker.unanswered,
            unsent: worker.unsent,
            errors: recorder.errors.to_vec(),
            status: recorder.statuses(),
            bytes_sent: recorder.bytes_sent,
            bytes_received: recorder.bytes_received,
            bytes_body: recorder.bytes_body,
            by_connection: Packed::of(
                &recorder
                    .by_connection
                    .histogram(worker.established_first as usize),
            ),
            kinds: recorder.kinds.iter().map(KindReport::of).collect(),
            journeys: recorder
                .journeys
                .iter()
                .map(|journey| JourneyReport {
                    completed: journey.completed,
                    failed: journey.failed,
                    duration: Packed::of(&journey.duration),
                })
                .collect(),
            lateness: Packed::of(&recorder.lateness),
            connect: Packed::of(&recorder.connect),
            steps: recorder
                .steps
                .iter()
                .map(|step| StepReport {
                    kinds: step.kinds.iter().map(StepKindReport::of).collect(),
                })
                .collect(),
            series: recorder.series.clone(),
            first_errors: recorder.first_errors.clone(),
            established: u64::from(worker.established_first),
            outstanding: worker.outstanding,
            held: u64::from(worker.held),
            opened: worker.opened,
            reconnects: worker.reconnects,
            closed: worker.closed.clone(),
            tls: worker.tls.clone(),
            http2: worker.http2(),
            kept: recorder.stamps.as_deref().cloned(),
        }
    }
}
