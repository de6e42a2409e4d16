//! Jobs in, results and events out: the same for every subcommand that carries out a job.

use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Where a job comes from and where its result goes.
#[derive(clap::Args)]
pub struct JobArgs {
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-")]
    pub job: PathBuf,
    /// Write the result here (by a temporary name, then renamed) and not to standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write progress to standard error, one JSON object a line.
    #[arg(long)]
    pub events: bool,
}

impl JobArgs {
    /// Reads and parses the job.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let mut text = String::new();
        let read = if self.job == Path::new("-") {
            std::io::stdin().read_to_string(&mut text)
        } else {
            std::fs::File::open(&self.job).and_then(|mut file| file.read_to_string(&mut text))
        };
        read.map_err(|e| {
            Failure::Malformed(format!("{} cannot be read: {e}", self.job.display()))
        })?;
        serde_json::from_str(&text)
            .map_err(|e| Failure::Malformed(format!("{}: {e}", self.job.display())))
    }

    /// Writes the result as one JSON document.
    pub fn write<T: Serialize>(&self, result: &T) -> Result<(), Failure> {
        write_result(self.out.as_deref(), result)
    }

    /// Writes an event, when events are wanted. A reader that has gone is no reason to stop measuring.
    pub fn event<T: Serialize>(&self, event: &T) {
        if self.events {
            write_event(event);
        }
    }
}

/// Writes a result to a file, under a temporary name first, or to standard output.
pub fn write_result<T: Serialize>(out: Option<&Path>, result: &T) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(result).map_err(Failure::failed)?;
    text.push(b'\n');
    let Some(path) = out else {
        return std::io::stdout()
            .lock()
            .write_all(&text)
            .map_err(|e| Failure::Failed(format!("standard output: {e}")));
    };
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    std::fs::write(&partial, &text)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&partial);
            Failure::Failed(format!(
                "the result cannot be written to {}: {e}",
                path.display()
            ))
        })
}

/// Writes one event line to standard error.
pub fn write_event<T: Serialize>(event: &T) {
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        let _ = std::io::stderr().lock().write_all(&line);
    }
}
