//! `touchstone-engine schema`: the protocol's documents as JSON Schema, made from the types that read and write them.

use crate::failure::{Failure, Outcome};
use crate::job::write_result;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `schema`.
#[derive(clap::Args)]
pub struct Args {
    /// Write the schemas here (by a temporary name, then renamed) and not to standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes all schemas as one JSON document.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    write_result(args.out.as_deref(), &documents())?;
    Ok(Outcome::Done)
}

/// One schema for each document, by subcommand and document: jobs and orders as they are read, results and events as they
/// are written.
fn documents() -> Value {
    json!({
        "load": {
            "job": read::<touchstone_load::job::Job>(),
            "result": written::<touchstone_load::result::LoadResult>(),
            "event": written::<touchstone_load::event::Event>(),
        },
        "slices": {
            "job": read::<touchstone_load::slices::job::SlicesJob>(),
            "order": read::<touchstone_load::slices::order::Order>(),
            "result": written::<touchstone_load::slices::result::SlicesResult>(),
            "event": written::<touchstone_load::slices::event::SliceEvent>(),
        },
        "ask": {
            "order": read::<touchstone_exchange::ask::Order>(),
            "answer": written::<touchstone_exchange::ask::Answer>(),
        },
        "boot": {
            "job": read::<touchstone_boot::Job>(),
            "result": written::<touchstone_boot::BootResult>(),
            "event": written::<touchstone_boot::Event>(),
        },
        "hold": {
            "job": read::<touchstone_hold::Job>(),
            "result": written::<touchstone_hold::HoldResult>(),
            "event": written::<touchstone_hold::Event>(),
        },
        "stop": {
            "job": read::<touchstone_stop::Job>(),
            "result": written::<touchstone_stop::StopResult>(),
        },
        "relay": {
            "order": read::<touchstone_relay::Order>(),
            "answer": written::<touchstone_relay::Answer>(),
        },
        "bounds": {
            "job": read::<touchstone_bounds::Job>(),
            "result": written::<touchstone_bounds::BoundsResult>(),
        },
    })
}

fn read<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<T>()
}

fn written<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}
