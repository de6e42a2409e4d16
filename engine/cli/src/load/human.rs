//! A result as a person reads it.

use std::fmt::Write;

use touchstone_exchange::closes::ClosedByServer;
use touchstone_load::distribution::Distribution;
use touchstone_load::job::Loop;
use touchstone_load::knee::{Knee, Trial};
use touchstone_load::result::TlsUse;
use touchstone_load::result::{Counts, LoadResult};

use super::http2;
use super::stream;

/// The whole report.
pub fn report(result: &LoadResult) -> String {
    let mut out = String::new();
    head(&mut out, result);
    rate(&mut out, result);
    latency(&mut out, result);
    out.push_str(&stream::lines(result));
    shares(&mut out, result);
    steps(&mut out, result);
    errors(&mut out, result);
    closes(&mut out, &result.connections.closed);
    generator(&mut out, result);
    out
}

fn head(out: &mut String, result: &LoadResult) {
    let job = &result.job;
    let how = match &job.arrival {
        Loop::Closed => "closed loop".to_owned(),
        Loop::Open { rate, .. } => format!("open loop at {} requests/s", thousands(*rate)),
        Loop::Steps { steps, .. } => format!("open loop in {} steps", steps.len()),
        Loop::Ramp { from, to, .. } => format!(
            "open loop from {} to {} requests/s",
            thousands(*from),
            thousands(*to)
        ),
    };
    let connections = &result.connections;
    let url = if job.is_websocket() {
        job.url.replacen("http", "ws", 1)
    } else {
        job.url.clone()
    };
    let _ = writeln!(
        out,
        "{url}  {how}, {} connections{}, {} threads, {}, {:.1} s",
        connections.asked,
        http2::spoken(job),
        result.generator.threads.len(),
        result.engine.backend,
        result.window.measured_s
    );
    if connections.established != connections.asked && job.keepalive {
        let _ = writeln!(
            out,
            "  {} of {} connections were established",
            connections.established, connections.asked
        );
    }
    if let Some(tls) = &result.tls {
        negotiated(out, tls);
    }
    out.push_str(&http2::lines(result));
    if result.interrupted {
        let _ = writeln!(out, "  interrupted: what follows was measured until then");
    }
}

/// What was negotiated, and how many handshakes were full.
fn negotiated(out: &mut String, tls: &TlsUse) {
    let mut begin = format!(
        "{} full and {} resumed handshakes: ",
        thousands(tls.full as f64),
        thousands(tls.resumed as f64)
    );
    for one in &tls.negotiated {
        let group = one.group.as_deref().unwrap_or("no key exchange");
        let alpn = one
            .alpn
            .as_deref()
            .map_or(String::new(), |alpn| format!(", ALPN {alpn}"));
        let times = match tls.negotiated.len() {
            1 => String::new(),
            _ => format!(", {} times", thousands(one.handshakes as f64)),
        };
        let _ = writeln!(
            out,
            "  {begin}TLS {}, {}, {group}{alpn}{times}",
            one.version, one.cipher
        );
        begin = " ".repeat(4);
    }
    if tls.negotiated.is_empty() {
        let _ = writeln!(out, "  no handshake was completed");
    }
}

fn rate(out: &mut String, result: &LoadResult) {
    let offered = result.rate.offered.map_or(String::new(), |offered| {
        format!(" of {} offered", thousands(offered))
    });
    let counts = &result.counts;
    let _ = writeln!(
        out,
        "\n  rate       {} requests/s{offered}",
        thousands(result.rate.achieved)
    );
    let _ = writeln!(
        out,
        "  requests   {} sent, {} right, {} wrong, {} failed{}",
        thousands(counts.sent as f64),
        thousands(counts.ok as f64),
        thousands(counts.wrong as f64),
        thousands(counts.failed as f64),
        besides(counts)
    );
    let seconds = result.window.measured_s.max(1e-9);
    let _ = writeln!(
        out,
        "  received   {}/s ({}/s of bodies)",
        bytes(result.bytes.received as f64 / seconds),
        bytes(result.bytes.body as f64 / seconds)
    );
    if let Some(queue) = result.queue.filter(|queue| queue.peak > 0) {
        let _ = writeln!(
            out,
            "  queue      at most {}, mean {:.1}",
            queue.peak, queue.mean
        );
    }
}

/// What else became of requests, where it occurred.
fn besides(counts: &Counts) -> String {
    let words = [
        (counts.unanswered, "of them unanswered at the end"),
        (counts.repeated, "repeated"),
        (counts.unsent, "never sent"),
    ];
    let occurred = words.iter().filter(|(count, _)| *count > 0);
    occurred
        .map(|(count, what)| format!(", {} {what}", thousands(*count as f64)))
        .collect()
}

fn latency(out: &mut String, result: &LoadResult) {
    if result.latency.is_none() && result.events.is_none() {
        return;
    }
    let width = name_width(result);
    let _ = writeln!(
        out,
        "\n  {:<width$}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "", "p50", "p90", "p99", "p99.9", "p99.99", "max", "mean"
    );
    if let Some(total) = &result.latency {
        row(out, width, "latency", total);
        let differs =
            |service: &&Distribution| service.p99 != total.p99 || service.p50 != total.p50;
        if let Some(service) = result.service.as_ref().filter(differs) {
            row(out, width, "service time", service);
        }
    }
    if result.requests.len() > 1 {
        for request in &result.requests {
            if let Some(latency) = &request.latency {
                row(out, width, &shortened(&request.name), latency);
            }
        }
    }
    for journey in &result.journeys {
        if let Some(duration) = &journey.duration {
            row(out, width, &shortened(&journey.name), duration);
        }
    }
    if let Some(events) = &result.events {
        let rows = [
            ("first event", &events.first),
            ("between events", &events.gap),
            ("on the way", &events.delay),
        ];
        for (name, times) in rows {
            if let Some(times) = times {
                row(out, width, name, times);
            }
        }
    }
    if let Some(lateness) = &result.lateness {
        row(out, width, "sent late by", lateness);
    }
    if let Some(connect) = &result.connect {
        row(out, width, "connecting", connect);
    }
}

/// URLs begin alike: what is cut short could be any of them.
const LONGEST_NAME: usize = 48;

fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

/// How wide the column of names is: as the longest of several requests or journeys, with a gap.
fn name_width(result: &LoadResult) -> usize {
    let journeys = result.journeys.iter().map(|journey| &journey.name);
    let requests = result.requests.iter().map(|request| &request.name);
    let named = requests
        .filter(|_| result.requests.len() > 1)
        .chain(journeys);
    let longest = named
        .map(|name| name.chars().count().min(LONGEST_NAME))
        .max();
    longest.map_or(0, |longest| longest + 2).max(18)
}

/// How often each of several requests was sent, and had no correct response.
fn shares(out: &mut String, result: &LoadResult) {
    if result.requests.len() < 2 {
        return;
    }
    let width = name_width(result);
    let all: u64 = result.requests.iter().map(|request| request.sent).sum();
    let _ = writeln!(
        out,
        "\n  {:<width$}{:>10}{:>10}{:>10}",
        "", "sent", "share", "errors"
    );
    for request in &result.requests {
        let _ = writeln!(
            out,
            "  {:<width$}{:>10}{:>8.1} %{:>10}",
            shortened(&request.name),
            thousands(request.sent as f64),
            request.sent as f64 / all.max(1) as f64 * 100.0,
            thousands(request.errors as f64)
        );
    }
}

fn row(out: &mut String, width: usize, name: &str, of: &Distribution) {
    let cells = [of.p50, of.p90, of.p99, of.p99_9, of.p99_99, of.max, of.mean];
    let cells: String = cells
        .iter()
        .map(|value| format!("{:>10}", time(*value)))
        .collect();
    let _ = writeln!(out, "  {name:<width$}{cells}");
}

fn steps(out: &mut String, result: &LoadResult) {
    let Some(steps) = &result.steps else { return };
    let _ = writeln!(
        out,
        "\n  {:>12}{:>12}{:>10}{:>10}{:>10}{:>8}",
        "offered", "achieved", "p50", "p99", "max", "errors"
    );
    for step in steps {
        let cell = |value: Option<f64>| value.map_or("-".to_owned(), time);
        let of = step.latency.as_ref();
        let _ = writeln!(
            out,
            "  {:>12}{:>12}{:>10}{:>10}{:>10}{:>8}",
            thousands(step.rate),
            thousands(step.achieved),
            cell(of.map(|of| of.p50)),
            cell(of.map(|of| of.p99)),
            cell(of.map(|of| of.max)),
            step.errors
        );
    }
}

fn errors(out: &mut String, result: &LoadResult) {
    let found: Vec<_> = result
        .counts
        .errors
        .iter()
        .chain(&result.connections.errors)
        .filter(|(class, count)| **count > 0 && *class != "closed_idle")
        .collect();
    if found.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  errors");
    for (class, count) in found {
        let _ = writeln!(
            out,
            "    {:<24}{:>12}",
            class.replace('_', " "),
            thousands(*count as f64)
        );
        let first = result.first_errors.iter().find(|first| {
            serde_json::to_value(first.class).is_ok_and(|name| name.as_str() == Some(class))
        });
        if let Some(first) = first {
            let _ = writeln!(out, "      first at {:.3} s: {}", first.t, first.why);
            if let Some(received) = &first.received {
                let _ = writeln!(
                    out,
                    "      received {:?}",
                    received.chars().take(160).collect::<String>()
                );
            }
        }
    }
}

/// Connections that the server closed by right: no request failed by it.
fn closes(out: &mut String, closed: &ClosedByServer) {
    let kinds = [
        (&closed.idle, "at rest", true),
        (&closed.unused, "at rest, before a first request", true),
        (&closed.notified, "at rest, with a notice", true),
        (&closed.announced, "with a response that said so", false),
        (&closed.under_request, "as a request came", true),
    ];
    let occurred = kinds
        .iter()
        .filter_map(|(closes, what, rests)| Some((closes.as_ref()?, what, rests)));
    let lines: String = occurred
        .map(|(closes, what, rests)| {
            let status: Vec<&str> = closes.status.keys().map(String::as_str).collect();
            let notice = if status.is_empty() {
                String::new()
            } else {
                format!(" ({})", status.join(", "))
            };
            let rested = if *rests {
                range(
                    time(closes.rested_least_s),
                    &time(closes.rested_most_s),
                    "of rest",
                )
            } else {
                String::new()
            };
            let (least, most) = (closes.responses_least, closes.responses_most);
            let responses = range(
                thousands(least as f64),
                &thousands(most as f64),
                "responses",
            );
            let count = thousands(closes.count as f64);
            format!("    {count:>8} {what}{notice}{rested}{responses}\n")
        })
        .collect();
    if !lines.is_empty() {
        let _ = write!(out, "\n  connections closed by the server\n{lines}");
    }
}

fn range(least: String, most: &str, what: &str) -> String {
    if most == "1" {
        ", after 1 response".to_owned()
    } else if least == most {
        format!(", after {least} {what}")
    } else {
        format!(", after {least} to {most} {what}")
    }
}

fn generator(out: &mut String, result: &LoadResult) {
    let generator = &result.generator;
    let per_request = generator.cpu_s / (result.counts.completed.max(1) as f64);
    let busy = generator
        .threads
        .iter()
        .map(|thread| thread.busy)
        .fold(0.0, f64::max);
    let _ = writeln!(
        out,
        "\n  generator  {} of CPU a request, busiest thread {:.0} %, {} of memory",
        time(per_request),
        busy * 100.0,
        bytes(generator.rss_peak as f64)
    );
    if generator.stands {
        let _ = writeln!(out, "  The result stands: the generator did its part.");
    } else {
        let _ = writeln!(out, "  The result does not stand:");
        for reason in &generator.reasons {
            let _ = writeln!(out, "    - {reason}");
        }
    }
}

/// One trial of the search for the knee, as a line.
pub fn trial(trial: &Trial) -> String {
    format!(
        "  {:>10} requests/s offered, {:>10} answered, {:>8}, {} errors: {}",
        thousands(trial.rate),
        thousands(trial.achieved),
        trial.latency.map_or("-".to_owned(), time),
        trial.errors,
        if trial.holds {
            "holds"
        } else {
            "does not hold"
        }
    )
}

/// What the search for the knee came to.
pub fn knee(knee: &Knee) -> String {
    let objective = format!(
        "p{} below {}",
        knee.objective.quantile * 100.0,
        time(knee.objective.below_s)
    );
    match knee.rate {
        Some(rate) => format!("\n  {objective} holds up to {} requests/s", thousands(rate)),
        None => format!("\n  {objective} held at none of the rates"),
    }
}

/// A time with three digits and its unit.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{unit}")
}

fn bytes(count: f64) -> String {
    let (value, unit) = match count {
        c if c >= 1e9 => (c / 1e9, "GB"),
        c if c >= 1e6 => (c / 1e6, "MB"),
        c if c >= 1e3 => (c / 1e3, "kB"),
        c => (c, "B"),
    };
    format!("{value:.1} {unit}")
}

/// A number with commas between the thousands.
pub fn thousands(number: f64) -> String {
    let text = if number >= 100.0 || number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.1}")
    };
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(1_234_567.0), "1,234,567");
        assert_eq!(thousands(12.34), "12.3");
        assert_eq!(thousands(999.6), "1,000");
        assert_eq!(
            (
                time(0.000_012_34).as_str(),
                time(0.25).as_str(),
                time(2.0).as_str()
            ),
            ("12.3us", "250ms", "2.00s")
        );
    }
}
