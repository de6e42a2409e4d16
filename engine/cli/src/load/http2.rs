//! What a person reads of HTTP/2: the streams that were asked for and allowed, and what the server gave back.

use touchstone_load::job::{Job, Protocol};
use touchstone_load::result::LoadResult;

use super::human::thousands;

/// What is spoken, and how many requests are in flight on each connection: behind the number of connections.
pub fn spoken(job: &Job) -> String {
    let name = match job.protocol {
        Protocol::H1 => return String::new(),
        Protocol::H2c => "h2c",
        Protocol::H2 => "h2",
    };
    format!(" of {} streams over {name}", job.streams)
}

/// What limited the streams, and what the server did not process; a line each.
pub fn lines(result: &LoadResult) -> String {
    let Some(used) = &result.http2 else {
        return String::new();
    };
    let mut out = String::new();
    if let Some(allowed) = used.streams_allowed {
        out += &format!(
            "  the server allows {allowed} streams on a connection, not {}: {} requests took the last one, and others waited for them\n",
            result.job.streams,
            thousands(used.at_stream_limit as f64)
        );
    }
    if used.going_away > 0 {
        out += &format!(
            "  the server ended {} connections with GOAWAY\n",
            thousands(used.going_away as f64)
        );
    }
    if used.unprocessed > 0 {
        out += &format!(
            "  {} requests were sent once more, because the server said that it had not processed them\n",
            thousands(used.unprocessed as f64)
        );
    }
    out
}
