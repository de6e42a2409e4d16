//! `touchstone-engine hold`: memory at many connections.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use serde_json::json;
use std::time::{Duration, Instant};
use touchstone_hold::{Event, JobError, hold};

/// Between events of progress.
const BETWEEN: Duration = Duration::from_secs(1);

/// Flags of `hold`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
}

/// Carries out a hold job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = args.job.read()?;
    let mut told = Instant::now();
    let result = hold(&job, interrupt::flag(), |event| match event {
        Event::Opening { held, connections } => {
            if told.elapsed() >= BETWEEN {
                told = Instant::now();
                let event = json!({"event": "progress", "held": held, "connections": connections});
                args.job.event(&event);
            }
        }
        Event::Level(level) => args.job.event(&json!({
            "event": "level",
            "connections": level.connections,
            "held": level.held,
            "open_rate": level.open_rate,
            "refused": level.refused.as_ref().map(|r| &r.reason),
        })),
    })
    .map_err(|error| match error {
        JobError::Malformed(why) => Failure::Malformed(why),
        JobError::Engine(why) => Failure::Failed(why),
    })?;
    args.job.write(&result)?;
    Ok(if result.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}
