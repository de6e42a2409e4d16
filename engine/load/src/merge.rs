//! From the threads' reports to one result. Histograms are added; percentiles are never averaged.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::by_connection::by_connection;
use crate::clock::{self, Nanos, seconds};
use crate::closes::ClosedByServer;
use crate::distribution::Distribution;
use crate::error::Error;
use crate::failure::{ERROR_CLASSES, ErrorClass, FirstError, KEPT, by_class, status_name};
use crate::h2::Http2Use;
use crate::held_up::held_up;
use crate::histogram::{Histogram, Packed};
use crate::job::{Job, Journey, Loop};
use crate::mix::Mix;
use crate::recorder::{EventFigures, Parts, Trials};
use crate::report::{ProcessReport, ThreadReport};
use crate::result::{
    Bytes, ClockUse, Connections, Counts, Engine, Generator, InParts, JourneyResult, LoadResult,
    MediaTypeCount, Queue, Rate, RequestResult, SCHEMA, SeriesPoint, Silence, StepRequest,
    StepResult, TailResult, ThreadUse, Totals, Window,
};
use crate::schedule::offered_rate;
use crate::self_check;
use touchstone_tls::TlsUse;
use touchstone_watch::quotas;

/// What the processes reported, with what only the coordinator knows.
pub struct Reports {
    /// The processes' reports.
    pub processes: Vec<ProcessReport>,
    /// Wall-clock time of the first intended send.
    pub start_unix_s: f64,
    /// Watching the server, where it was asked for.
    pub watch: Option<touchstone_watch::Report>,
}

/// Merges everything into the result.
///
/// # Errors
/// [`Error::Worker`] if a report does not hold together.
pub fn merge(job: &Job, mix: &Mix, reports: Reports) -> Result<LoadResult, Error> {
    let mut result = combine(job, mix, reports)?;
    conclude(&mut result);
    Ok(result)
}

/// Says whether the generator's own figures let the result stand.
pub fn conclude(result: &mut LoadResult) {
    result.generator.reasons = self_check::reasons(result);
    result.generator.stands = result.generator.reasons.is_empty();
}

/// Merges everything, and leaves open whether the result stands.
///
/// # Errors
/// [`Error::Worker`] if a report does not hold together.
pub fn combine(job: &Job, mix: &Mix, reports: Reports) -> Result<LoadResult, Error> {
    let processes = &reports.processes;
    let threads: Vec<&ThreadReport> = processes
        .iter()
        .flat_map(|process| &process.threads)
        .collect();
    let first = threads
        .first()
        .ok_or_else(|| Error::Worker("no thread reported".to_owned()))?;
    let end = end_of_window(job, &threads, first.begin);
    let window = window(job, &threads, (first.begin, end), reports.start_unix_s);
    let merged = requests(mix, &threads, window.measured_s)?;
    let (series, interval_histograms) =
        series(job, &threads, seconds(end.saturating_sub(first.start)))?;
    let queued: u64 = processes.iter().map(|process| process.queued).sum();
    let sum = |field: fn(&ThreadReport) -> u64| total(&threads, field);
    Ok(LoadResult {
        schema: SCHEMA.to_owned(),
        engine: Engine {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend: processes[0].backend.clone(),
            processes: processes.len() as u32,
        },
        job: job.clone(),
        interrupted: processes.iter().any(|process| process.interrupted),
        counts: counts(&threads, queued),
        totals: totals(
            &series,
            sum(|thread| thread.completed) - sum(|thread| thread.ok),
        ),
        requests: merged.rows,
        journeys: journeys(job, &threads)?,
        bytes: bytes(&threads),
        rate: Rate {
            offered: offered_rate(job),
            achieved: rate(sum(|thread| thread.ok_inside), window.measured_s),
        },
        silence: silence(&threads),
        by_connection: by_connection(job, &threads)?,
        held_up: held_up(&threads, &merged.kinds, job.keepalive)?,
        latency: Distribution::of(&merged.latency),
        service: Distribution::of(&merged.service),
        connect: distribution(threads.iter().map(|thread| &thread.connect))?,
        lateness: lateness(job, &threads)?,
        queue: job.is_open().then(|| Queue {
            peak: processes.iter().map(|process| process.queue_peak).sum(),
            mean: processes.iter().map(|process| process.queue_mean).sum(),
        }),
        connections: connections(job, &threads),
        events: merged.events.map(|events| events.result(window.measured_s)),
        tls: tls(&threads),
        http2: http2(&threads),
        tail: tail(job, &threads, processes),
        window,
        generator: generator(processes, &threads),
        generators: job
            .generators
            .iter()
            .map(|node| node.part(processes))
            .collect(),
        first_errors: first_errors(&threads),
        series,
        steps: steps(job, mix, &threads)?,
        machine: reports
            .watch
            .as_ref()
            .and_then(|report| report.machine.clone()),
        watch: reports.watch.map(|report| report.watch),
        interval_histograms,
    })
}

/// The stamps of all threads together, if they were kept: the slowest of all, and of those at random as many from each thread
/// as its share of the requests.
fn tail(job: &Job, threads: &[&ThreadReport], processes: &[ProcessReport]) -> Option<TailResult> {
    let asked = job.tail.as_ref()?;
    let origin = threads.first()?.start;
    let requests = total(threads, |thread| thread.ok);
    let mut slowest = Vec::new();
    let mut sampled = Vec::new();
    for thread in threads {
        let kept = thread.kept.as_ref()?;
        slowest.extend(kept.slowest(origin));
        let share = thread.ok as f64 / requests.max(1) as f64;
        let most = (share * f64::from(asked.sampled)).round() as usize;
        sampled.extend(kept.sampled(origin).take(most));
    }
    slowest.sort_by_key(|stamps| Reverse(stamps.latency()));
    slowest.truncate(asked.slowest as usize);
    Some(TailResult {
        requests,
        slowest,
        sampled,
        timeline: processes.first()?.timeline.clone()?,
    })
}

/// How late sends were by the engine's own doing; none in a closed loop.
fn lateness(job: &Job, threads: &[&ThreadReport]) -> Result<Option<Distribution>, Error> {
    if !job.is_open() {
        return Ok(None);
    }
    distribution(threads.iter().map(|thread| &thread.lateness))
}

fn total(threads: &[&ThreadReport], field: fn(&ThreadReport) -> u64) -> u64 {
    threads.iter().map(|thread| field(thread)).sum()
}

/// When measuring ended: by the clock, or with the last answer where the number of requests was bounded.
fn end_of_window(job: &Job, threads: &[&ThreadReport], begin: Nanos) -> Nanos {
    let end = threads.iter().map(|thread| thread.end).max();
    let end = end.unwrap_or(begin);
    let last = threads.iter().map(|thread| thread.last_completion).max();
    let bounded_out = job
        .max_requests
        .is_some_and(|limit| total(threads, |thread| thread.sent) >= limit);
    if bounded_out {
        last.unwrap_or_default().clamp(begin, end)
    } else {
        end
    }
}

fn window(
    job: &Job,
    threads: &[&ThreadReport],
    (begin, end): (Nanos, Nanos),
    start_unix_s: f64,
) -> Window {
    let finished = threads.iter().map(|thread| thread.finished).max();
    Window {
        start_unix_s,
        warmup_s: job.warmup_s,
        measured_s: seconds(end.saturating_sub(begin)),
        drain_s: seconds(finished.unwrap_or(end).saturating_sub(end)),
    }
}

/// The requests of a mix, and the times of all of them together.
#[derive(Default)]
struct Merged {
    rows: Vec<RequestResult>,
    /// By request.
    kinds: Vec<Histogram>,
    latency: Histogram,
    service: Histogram,
    events: Option<EventFigures>,
}

fn requests(mix: &Mix, threads: &[&ThreadReport], measured_s: f64) -> Result<Merged, Error> {
    let mut merged = Merged::default();
    for (index, compiled) in mix.requests().iter().enumerate() {
        let mut own = Histogram::default();
        let mut row = RequestResult {
            name: compiled.name.clone(),
            sent: 0,
            ok: 0,
            errors: 0,
            latency: None,
            media_types: media_types(threads, index),
            in_parts: in_parts(threads, index),
            events: None,
        };
        let parts = threads.iter().filter_map(|thread| thread.kinds.get(index));
        if let Some(events) =
            EventFigures::over_threads(parts.filter_map(|kind| kind.events.as_ref()))?
        {
            row.events = Some(events.result(measured_s));
            merged.events.get_or_insert_default().absorb(&events);
        }
        for kind in threads.iter().filter_map(|thread| thread.kinds.get(index)) {
            row.sent += kind.sent;
            row.ok += kind.ok;
            row.errors += kind.errors;
            own.add_packed([&kind.both, &kind.latency])?;
            merged.service.add_packed([&kind.both, &kind.service])?;
        }
        row.latency = Distribution::of(&own);
        merged.latency.add(&own);
        merged.rows.push(row);
        merged.kinds.push(own);
    }
    Ok(merged)
}

/// The responses to one request of the mix that came in parts; none if there is none.
fn in_parts(threads: &[&ThreadReport], index: usize) -> Option<InParts> {
    let (mut parts, mut trials) = (Parts::default(), Trials::default());
    for kind in threads.iter().filter_map(|thread| thread.kinds.get(index)) {
        parts.add(&kind.parts);
        trials.add(&kind.trials);
    }
    (parts.responses + trials.responses > 0).then(|| InParts {
        responses: parts.responses,
        long: parts.long,
        seconds: seconds(parts.waited),
        trials: trials.responses,
        trials_long: trials.long,
    })
}

/// The media types of the responses to one request of the mix, the most frequent first.
fn media_types(threads: &[&ThreadReport], index: usize) -> Vec<MediaTypeCount> {
    let mut sums = BTreeMap::new();
    let kinds = threads.iter().filter_map(|thread| thread.kinds.get(index));
    for one in kinds.flat_map(|kind| &kind.media_types) {
        *sums.entry((one.status, &one.name)).or_insert(0) += one.responses;
    }
    let mut counts: Vec<MediaTypeCount> = sums
        .into_iter()
        .filter(|(_, responses)| *responses > 0)
        .map(|((status, name), responses)| MediaTypeCount {
            status,
            media_type: name.clone(),
            responses,
        })
        .collect();
    counts.sort_by_key(|count| Reverse(count.responses));
    counts
}

fn counts(threads: &[&ThreadReport], queued: u64) -> Counts {
    let mut status = BTreeMap::new();
    for (code, count) in threads.iter().flat_map(|thread| &thread.status) {
        *status.entry(status_name(*code)).or_insert(0) += count;
    }
    let of_class = |class| errors_of(threads, class);
    let sum = |holds: fn(ErrorClass) -> bool| -> u64 {
        let classes = ERROR_CLASSES.iter().map(|(class, _)| *class);
        classes.filter(|class| holds(*class)).map(of_class).sum()
    };
    let unanswered = total(threads, |thread| thread.unanswered);
    Counts {
        sent: total(threads, |thread| thread.sent),
        completed: total(threads, |thread| thread.completed),
        ok: total(threads, |thread| thread.ok),
        wrong: sum(ErrorClass::is_wrong_response),
        failed: sum(|class| class.is_of_request() && !class.is_wrong_response()) + unanswered,
        unanswered,
        repeated: total(threads, |thread| thread.repeated),
        unsent: total(threads, |thread| thread.unsent) + queued,
        outstanding_at_start: total(threads, |thread| thread.outstanding),
        errors: by_class(of_class).0,
        status,
    }
}

fn errors_of(threads: &[&ThreadReport], class: ErrorClass) -> u64 {
    let counts = threads.iter();
    counts
        .filter_map(|thread| thread.errors.get(class as usize))
        .sum()
}

fn bytes(threads: &[&ThreadReport]) -> Bytes {
    Bytes {
        sent: total(threads, |thread| thread.bytes_sent),
        received: total(threads, |thread| thread.bytes_received),
        body: total(threads, |thread| thread.bytes_body),
    }
}

fn connections(job: &Job, threads: &[&ThreadReport]) -> Connections {
    let mut closed = ClosedByServer::default();
    threads.iter().for_each(|thread| closed.add(&thread.closed));
    Connections {
        asked: u64::from(job.connections),
        established: total(threads, |thread| thread.established),
        held: total(threads, |thread| thread.held),
        opened: total(threads, |thread| thread.opened),
        reconnects: total(threads, |thread| thread.reconnects),
        errors: by_class(|class| errors_of(threads, class)).1,
        closed,
    }
}

/// What all threads did over HTTP/2; none over HTTP/1.1.
fn http2(threads: &[&ThreadReport]) -> Option<Http2Use> {
    let parts = threads.iter().filter_map(|thread| thread.http2.clone());
    parts.reduce(|sum, part| sum.with(&part))
}

/// Handshakes of all threads; none without TLS.
fn tls(threads: &[&ThreadReport]) -> Option<TlsUse> {
    let mut parts = threads.iter().filter_map(|thread| thread.tls.as_ref());
    let mut sum = parts.next()?.clone();
    parts.for_each(|part| sum.add(part));
    Some(sum)
}

fn distribution<'a>(
    parts: impl IntoIterator<Item = &'a Packed>,
) -> Result<Option<Distribution>, Error> {
    let mut sum = Histogram::default();
    sum.add_packed(parts)?;
    Ok(Distribution::of(&sum))
}

fn journeys(job: &Job, threads: &[&ThreadReport]) -> Result<Vec<JourneyResult>, Error> {
    let row = |(index, journey): (usize, &Journey)| {
        let parts = || {
            threads
                .iter()
                .filter_map(|thread| thread.journeys.get(index))
        };
        let mut duration = Histogram::default();
        duration.add_packed(parts().map(|part| &part.duration))?;
        Ok(JourneyResult {
            name: journey.name.clone(),
            completed: parts().map(|part| part.completed).sum(),
            failed: parts().map(|part| part.failed).sum(),
            duration: Distribution::of(&duration),
        })
    };
    job.journeys.iter().enumerate().map(row).collect()
}

/// Sums the whole series, in which warm-up and drain stand too. `wrong` are the window's answers that came whole and were
/// not right; those of the warm-up are not known apart, and count as not completed.
fn totals(series: &[SeriesPoint], wrong: u64) -> Totals {
    let sum = |field: fn(&SeriesPoint) -> u64| series.iter().map(field).sum::<u64>();
    let ok = sum(|point| point.ok);
    Totals {
        sent: sum(|point| point.sent),
        completed: ok + wrong,
        ok,
    }
}

/// Silence of all threads: none heard less of it than the service was silent. Who heard nothing at all had no connection.
fn silence(threads: &[&ThreadReport]) -> Silence {
    let least = threads
        .iter()
        .map(|thread| thread.silence)
        .filter(|silence| silence.heard)
        .min_by_key(|silence| silence.total)
        .unwrap_or_default();
    Silence {
        seconds: seconds(least.total),
        longest_s: seconds(least.longest),
        longer: least
            .longer()
            .map(|(length, sum)| (seconds(length), seconds(sum)))
            .collect(),
        deaf_s: least.deaf.map(seconds),
    }
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

fn generator(processes: &[ProcessReport], threads: &[&ThreadReport]) -> Generator {
    let places = processes
        .iter()
        .flat_map(|process| process.threads.iter().map(|_| process.generator.clone()));
    let rows: Vec<ThreadUse> = threads
        .iter()
        .zip(places)
        .map(|(thread, generator)| {
            let usage = &thread.usage;
            let cpu_s = usage.user_s + usage.system_s;
            ThreadUse {
                cpu: thread.cpu,
                user_s: usage.user_s,
                system_s: usage.system_s,
                busy: usage.busy(),
                delayed_s: usage.delayed_s,
                blocked_s: usage
                    .delayed_s
                    .map(|delayed| (seconds(usage.wall) - cpu_s - delayed).max(0.0)),
                throttled_s: usage.throttled_s,
                generator,
            }
        })
        .collect();
    Generator {
        cpu_s: rows.iter().map(|row| row.user_s + row.system_s).sum(),
        threads: rows,
        rss_peak: processes.iter().map(|process| process.rss_peak).sum(),
        syscalls: Some(threads.iter().map(|thread| thread.syscalls).sum()),
        clock: ClockUse {
            source: clock::source(),
            cost_ns: clock::cost_ns(),
        },
        quotas: quotas::directories(),
        stands: true,
        reasons: Vec::new(),
    }
}

fn first_errors(threads: &[&ThreadReport]) -> Vec<FirstError> {
    let mut all: Vec<&FirstError> = threads
        .iter()
        .flat_map(|thread| &thread.first_errors)
        .collect();
    all.sort_by(|left, right| left.t.total_cmp(&right.t));
    let mut kept = [0; ERROR_CLASSES.len()];
    all.retain(|error| {
        kept[error.class as usize] += 1;
        kept[error.class as usize] <= KEPT
    });
    all.into_iter().cloned().collect()
}

type Series = (Vec<SeriesPoint>, Vec<Packed>);

fn series(job: &Job, threads: &[&ThreadReport], end_s: f64) -> Result<Series, Error> {
    let length = threads
        .iter()
        .map(|thread| thread.series.len())
        .max()
        .unwrap_or(0);
    let (mut points, mut histograms) = (Vec::with_capacity(length), Vec::with_capacity(length));
    for index in 0..length {
        let parts: Vec<_> = threads
            .iter()
            .filter_map(|thread| thread.series.get(index))
            .collect();
        let mut latency = Histogram::default();
        latency.add_packed(parts.iter().map(|part| &part.latency))?;
        let begin = index as f64 * job.series_interval_s;
        let t = begin + job.series_interval_s;
        let middle =
            |quantile: f64| (!latency.is_empty()).then(|| seconds(latency.quantile(quantile)));
        let phase = match () {
            () if t <= job.warmup_s + 1e-6 => "warmup",
            () if begin >= end_s - 1e-6 => "drain",
            () => "load",
        };
        points.push(SeriesPoint {
            t,
            phase: phase.to_owned(),
            sent: parts.iter().map(|part| part.sent).sum(),
            ok: parts.iter().map(|part| part.ok).sum(),
            errors: parts.iter().map(|part| part.errors).sum(),
            p50: middle(0.5),
            p99: middle(0.99),
            max: (!latency.is_empty()).then(|| seconds(latency.max())),
            connections: parts.iter().map(|part| part.connections).sum(),
            // Threads of a process look at the same queue.
            queue: parts.iter().map(|part| part.queue).max().unwrap_or(0),
        });
        histograms.push(Packed::of(&latency));
    }
    Ok((points, histograms))
}

fn steps(
    job: &Job,
    mix: &Mix,
    threads: &[&ThreadReport],
) -> Result<Option<Vec<StepResult>>, Error> {
    let Loop::Steps { steps, .. } = &job.arrival else {
        return Ok(None);
    };
    let mut rows = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let parts: Vec<_> = threads
            .iter()
            .filter_map(|thread| thread.steps.get(index))
            .collect();
        let mut latency = Histogram::default();
        let mut inside = 0;
        let mut requests = Vec::with_capacity(mix.requests().len());
        for (kind, compiled) in mix.requests().iter().enumerate() {
            let own: Vec<_> = parts
                .iter()
                .filter_map(|part| part.kinds.get(kind))
                .collect();
            let mut taken = Histogram::default();
            taken.add_packed(own.iter().map(|part| &part.latency))?;
            latency.add(&taken);
            inside += own.iter().map(|part| part.ok_inside).sum::<u64>();
            requests.push(StepRequest {
                name: compiled.name.clone(),
                sent: own.iter().map(|part| part.sent).sum(),
                ok: own.iter().map(|part| part.ok).sum(),
                errors: own.iter().map(|part| part.errors).sum(),
                latency: Distribution::of(&taken),
            });
        }
        rows.push(StepResult {
            rate: step.rate,
            seconds: step.seconds,
            achieved: rate(inside, step.seconds),
            sent: requests.iter().map(|one| one.sent).sum(),
            ok: requests.iter().map(|one| one.ok).sum(),
            errors: requests.iter().map(|one| one.errors).sum(),
            latency: Distribution::of(&latency),
            requests,
        });
    }
    Ok(Some(rows))
}
