//! `touchstone-engine load`: a job from JSON or from flags in, a result out.

mod flags;
mod human;

use std::path::{Path, PathBuf};

use touchstone_load::error::Error;
use touchstone_load::event::Event;
use touchstone_load::job::Job;
use touchstone_load::processes::serve;
use touchstone_load::run::{Control, run as run_load};

use crate::failure::{Failure, Outcome};
use crate::job::{write_event, write_result};

/// Put load on a server: `load [FLAGS] URL`, or `load --job FILE`.
#[derive(clap::Args)]
pub struct Args {
    /// Do the share of a load that standard input orders, for a load process that has too many connections.
    #[arg(long, hide = true, exclusive = true)]
    worker: bool,
    /// A whole job as JSON, or - for standard input; the flags below are then not used.
    #[arg(
        long,
        value_name = "FILE|-",
        conflicts_with = "url",
        help_heading = "Output"
    )]
    job: Option<PathBuf>,
    /// Write the JSON result here (by a temporary name, then renamed).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Write events to standard error, one JSON object a line.
    #[arg(long, help_heading = "Output")]
    events: bool,
    /// Write the result as JSON to standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    flags: flags::Flags,
}

/// Runs it.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    if args.worker {
        let served = serve(std::io::stdin(), std::io::stdout());
        return served
            .map(|()| Outcome::Done)
            .map_err(|error| failure(&error));
    }
    let from_file = args.job.is_some();
    let job = match &args.job {
        Some(path) => Job::from_json(&read(path)?).map_err(|error| failure(&error))?,
        None => args.flags.job()?,
    };
    let interrupt = crate::interrupt::flag();
    let mut on_event = |event: Event| {
        if args.events {
            write_event(&event);
        }
    };
    let process_command = match std::env::current_exe() {
        Ok(own) => vec![own.into_os_string(), "load".into(), "--worker".into()],
        Err(_) => Vec::new(),
    };
    let mut control = Control {
        interrupt,
        on_event: &mut on_event,
        process_command: &process_command,
    };
    let result = run_load(&job, &mut control).map_err(|error| failure(&error))?;
    if let Some(path) = &args.out {
        write_result(Some(path), &result)?;
    }
    if (from_file && args.out.is_none()) || args.json {
        write_result(None, &result)?;
    } else if !from_file {
        print!("{}", human::report(&result));
    }
    Ok(if result.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    text.map_err(|error| Failure::Malformed(format!("{} cannot be read: {error}", path.display())))
}

fn failure(error: &Error) -> Failure {
    match error.exit_code() {
        2 => Failure::malformed(error),
        _ => Failure::failed(error),
    }
}
