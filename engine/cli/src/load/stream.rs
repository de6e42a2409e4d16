//! Streamed responses: the flags of a person, and how their events came.

use std::fmt::Write;

use touchstone_load::job::{Stream, StreamKind};
use touchstone_load::result::LoadResult;

use super::human::thousands;
use crate::failure::Failure;

/// What a person types of a stream.
#[derive(clap::Args)]
pub struct StreamFlags {
    /// The response is a stream of events: server-sent events, lines, chunks (DATA frames over HTTP/2), or the messages of a
    /// gRPC method that streams its responses.
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Stream")]
    stream: Option<Kind>,
    /// With --stream: how many events must come; the stream is left after them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Stream")]
    events: Option<u32>,
    /// Where a number is that rises by one from event to event: id, data, or json.NAME.
    #[arg(
        long,
        value_name = "PLACE",
        requires = "stream",
        help_heading = "Stream"
    )]
    counter: Option<String>,
    /// Where the Unix time is at which the service sent the event (s, ms, us or ns, by its size): data, or json.NAME.
    #[arg(
        long,
        value_name = "PLACE",
        requires = "stream",
        help_heading = "Stream"
    )]
    stamp: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Kind {
    Sse,
    Lines,
    Chunks,
    Messages,
}

impl StreamFlags {
    /// The stream that the flags describe, without what its events must be.
    pub fn stream(&self) -> Result<Option<Stream>, Failure> {
        let Some(kind) = self.stream else {
            return match self.events {
                None => Ok(None),
                Some(_) => Err(Failure::Malformed(
                    "--events needs --stream: sse, lines, chunks or messages".to_owned(),
                )),
            };
        };
        let events = self.events.ok_or_else(|| {
            Failure::Malformed(
                "--stream needs --events: a stream is right when that number of events has come"
                    .to_owned(),
            )
        })?;
        Ok(Some(Stream {
            kind: match kind {
                Kind::Sse => StreamKind::Sse,
                Kind::Lines => StreamKind::Lines,
                Kind::Chunks => StreamKind::Chunks,
                Kind::Messages => StreamKind::Messages,
            },
            events,
            expect: None,
            counter: self.counter.clone(),
            first: None,
            stamp: self.stamp.clone(),
            event: None,
        }))
    }
}

/// How the events of streams came; nothing if no response is a stream.
pub fn lines(result: &LoadResult) -> String {
    let mut out = String::new();
    let Some(events) = &result.events else {
        return out;
    };
    let faults = [
        (events.wrong, "wrong"),
        (events.lost, "lost"),
        (events.doubled, "doubled"),
        (events.disordered, "out of order"),
    ];
    let faults: String = faults
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!(", {} {what}", thousands(*count as f64)))
        .collect();
    let (rate, count) = (thousands(events.rate), thousands(events.count as f64));
    let _ = if result.job.is_websocket() {
        writeln!(out, "\n  echoes     {rate}/s, {count} came{faults}")
    } else {
        let most = thousands(events.open_most as f64);
        writeln!(
            out,
            "\n  events     {rate}/s, {count} came{faults}; at most {most} streams at once"
        )
    };
    if events.in_burst > 0 {
        let _ = writeln!(
            out,
            "  in a burst {} of {} streams that lasted: all events within a tenth of the time",
            thousands(events.in_burst as f64),
            thousands(events.lasting as f64)
        );
    }
    if events.ahead > 0 {
        let _ = writeln!(
            out,
            "  stamps     {} ahead of this machine's clock: compare the clocks",
            thousands(events.ahead as f64)
        );
    }
    out
}
