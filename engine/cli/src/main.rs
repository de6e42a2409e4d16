//! `touchstone-engine`: everything that happens inside a measured window. `docs/engine-protocol.md` has the contract.

#![forbid(unsafe_code)]

mod ask;
mod boot;
mod bounds;
mod certificate;
mod echo;
mod failure;
mod hold;
mod interrupt;
mod job;
mod load;
mod null;
mod probe;
mod relay;
mod schema;
mod serving;
mod slices;
mod stop;
mod tls_flags;
mod worker;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Outcome;
use std::process::ExitCode;

/// `0.1.0`, or the value of `TOUCHSTONE_VERSION` at build time (the Makefile adds the revision: `0.1.0 (1a2b3c4)`).
const VERSION: &str = match option_env!("TOUCHSTONE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// touchstone's engine: load, first responses, memory at many connections, conformance, and the lab's own servers.
#[derive(Parser)]
#[command(name = "touchstone-engine", version = VERSION, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Put load on a server and record latencies, errors and its process tree.
    Load(Box<load::Args>),
    /// Load several servers in turn, in short slices, as orders on standard input ask.
    Slices(slices::Args),
    /// Send requests and check their responses, as orders on standard input ask.
    Ask,
    /// Start a server and time its first valid response.
    Boot(job::JobArgs),
    /// Hold many connections and read the memory at each level.
    Hold(hold::Args),
    /// End a server under load, and count the requests that it loses.
    Stop(job::JobArgs),
    /// Look for idle times, responses a connection, and the largest head of a request.
    Bounds(job::JobArgs),
    /// Check HTTP/1.1 conformance case by case.
    Probe(Box<probe::Args>),
    /// Print the protocol's jobs, results and events as JSON Schema.
    Schema(schema::Args),
    /// Make a self-signed certificate and its key.
    Certificate(certificate::Args),
    /// Serve canned responses at the least cost: the tare.
    Null(null::Args),
    /// Serve a response after an exact delay: the downstream.
    Echo(echo::Args),
    /// Pass bytes between a service and its dependency; hold, slow, cut or refuse them as orders on standard input ask.
    Relay(relay::Args),
}

fn main() -> ExitCode {
    let command = Cli::command();
    let matches = command.clone().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let (Some(load), Some(given)) = (
        command.find_subcommand("load"),
        matches.subcommand_matches("load"),
    ) && let Err(failure) = load::refuse_flags_beside_a_job(load, given)
    {
        return failed(&failure);
    }
    let result = match cli.command {
        Command::Load(args) => load::run(*args),
        Command::Slices(args) => slices::run(args),
        Command::Ask => ask::run(),
        Command::Boot(args) => boot::run(args),
        Command::Hold(args) => hold::run(args),
        Command::Stop(args) => stop::run(args),
        Command::Bounds(args) => bounds::run(args),
        Command::Probe(args) => probe::run(*args),
        Command::Schema(args) => schema::run(args),
        Command::Certificate(args) => certificate::run(args),
        Command::Null(args) => null::run(args),
        Command::Echo(args) => echo::run(args),
        Command::Relay(args) => relay::run(args),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Ok(Outcome::Breached) => ExitCode::from(3),
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &failure::Failure) -> ExitCode {
    eprintln!("touchstone-engine: {failure}");
    failure.exit_code()
}
