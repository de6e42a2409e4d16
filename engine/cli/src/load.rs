//! `touchstone-engine load`: a job from JSON or from flags in, a result out.

mod cross_check;
mod flags;
mod http2;
mod human;
mod live;
mod mix;
mod place;
mod stream;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use touchstone_load::control::Control;
use touchstone_load::error::Error;
use touchstone_load::event::Event;
use touchstone_load::export;
use touchstone_load::job::{Job, Loop};
use touchstone_load::knee::{self, Objective, Trial};
use touchstone_load::processes::serve;
use touchstone_load::run::run as run_load;

use self::live::Live;
use crate::failure::{Failure, Outcome};
use crate::job::{Output, print, read, write_result};
use crate::worker;

/// Put load on a server: `load [FLAGS] URL...`, or `load --job FILE`.
#[derive(clap::Args)]
pub struct Args {
    /// Do the share of a load that standard input orders, for a load process that has too many connections.
    #[arg(long, hide = true, exclusive = true)]
    worker: bool,
    /// A whole job as JSON, or - for standard input, in place of a URL and the flags that describe a load.
    #[arg(
        long,
        value_name = "FILE|-",
        conflicts_with = "urls",
        help_heading = "Output"
    )]
    job: Option<PathBuf>,
    /// Write the JSON result here (by a temporary name, then renamed) and not to standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Write events of the run to standard error, one JSON object a line.
    #[arg(long, help_heading = "Output")]
    progress: bool,
    /// Write the result as JSON to standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Write the series as CSV.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    csv: Option<PathBuf>,
    /// Write the latencies as an HdrHistogram log, one line an interval of the series.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    hdr: Option<PathBuf>,
    /// Find the highest rate at which an objective such as "p99<20ms" holds; each trial lasts the duration, and --rate
    /// is where the search begins.
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Load", conflicts_with_all = ["steps", "ramp", "requests"])]
    knee: Option<String>,
    /// Put the same load on by another tool afterwards, and say whether the two agree.
    #[arg(long, value_enum, value_name = "TOOL", help_heading = "Output")]
    cross_check: Option<cross_check::Tool>,
    #[command(flatten)]
    flags: flags::Flags,
}

/// The flags that `--job` may have beside it: where the result goes, and what is done with it.
const WITH_A_JOB: [&str; 8] = [
    "job",
    "out",
    "progress",
    "json",
    "csv",
    "hdr",
    "knee",
    "cross_check",
];

/// Refuses a flag that describes a load beside a job, which describes the load itself.
///
/// # Errors
/// A sentence that names the flags.
pub fn refuse_flags_beside_a_job(command: &Command, given: &ArgMatches) -> Result<(), Failure> {
    let typed = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    if !typed("job") {
        return Ok(());
    }
    let ignored: Vec<_> = command
        .get_arguments()
        .filter(|arg| !WITH_A_JOB.contains(&arg.get_id().as_str()) && typed(arg.get_id().as_str()))
        .filter_map(|arg| arg.get_long().map(|name| format!("--{name}")))
        .collect();
    if ignored.is_empty() {
        return Ok(());
    }
    let why = format!(
        "--job describes the load itself: write {} into it",
        ignored.join(", ")
    );
    Err(Failure::Malformed(why))
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
    let output = Output {
        out: args.out.clone(),
        progress: args.progress,
    };
    let interrupt = crate::interrupt::flag();
    let quiet = output.progress || args.json || from_file;
    let live = RefCell::new(if quiet { None } else { Live::on_terminal() });
    let mut on_event = |event: Event| {
        output.event(&event);
        if let Some(live) = live.borrow_mut().as_mut() {
            live.show(&event);
        }
    };
    let process_command = worker::command("load");
    let mut control = Control {
        interrupt,
        on_event: &mut on_event,
        process_command: &process_command,
    };
    if let Some(objective) = &args.knee {
        return find_knee(&args, &job, objective, &mut control, &live);
    }
    let result = run_load(&job, &mut control).map_err(|error| failure(&error))?;
    clear(&live);
    if let Some(path) = &args.out {
        write_result(Some(path), &result)?;
    }
    write_text(args.csv.as_deref(), || export::csv(&result))?;
    write_text(args.hdr.as_deref(), || export::hdr_log(&result))?;
    if (from_file && args.out.is_none()) || args.json {
        write_result(None, &result)?;
    } else if !from_file {
        print(human::report(&result))?;
    }
    if result.interrupted {
        return Ok(Outcome::Interrupted);
    }
    if let Some(tool) = args.cross_check {
        eprint!("{}", cross_check::compare(tool, &job, &result)?);
    }
    Ok(Outcome::Done)
}

fn find_knee(
    args: &Args,
    job: &Job,
    objective: &str,
    control: &mut Control<'_>,
    live: &RefCell<Option<Live>>,
) -> Result<Outcome, Failure> {
    let objective = Objective::parse(objective).map_err(|error| failure(&error))?;
    let first = match job.arrival {
        Loop::Open { rate, .. } => rate,
        _ => 1_000.0,
    };
    let mut on_trial = |trial: &Trial| {
        clear(live);
        if !args.json {
            let _ = print(human::trial(trial) + "\n"); // the end of the search will tell what is wrong
        }
    };
    let knee = knee::find(job, objective, first, control, &mut on_trial)
        .map_err(|error| failure(&error))?;
    clear(live);
    if let Some(path) = &args.out {
        write_result(Some(path), &knee)?;
    }
    if args.json {
        write_result(None, &knee)?;
    } else {
        print(human::knee(&knee) + "\n")?;
    }
    Ok(Outcome::after(knee.interrupted))
}

fn clear(live: &RefCell<Option<Live>>) {
    if let Some(live) = live.borrow_mut().as_mut() {
        live.clear();
    }
}

fn write_text(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text())
        .map_err(|error| Failure::Failed(format!("{} cannot be written: {error}", path.display())))
}

/// An error of the load engine as the way in which a subcommand ends.
pub fn failure(error: &Error) -> Failure {
    match error.exit_code() {
        2 => Failure::malformed(error),
        _ => Failure::failed(error),
    }
}
