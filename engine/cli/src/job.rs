//! Jobs in, results and events out: the same for every subcommand that carries out a job.

use crate::failure::{Failure, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use touchstone_exchange::JobError;

/// Flags of a subcommand that carries out one job.
#[derive(clap::Args)]
pub struct JobArgs {
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-")]
    job: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

impl JobArgs {
    /// Reads the job, does the work and writes its result, which `interrupted` tells from a whole one.
    pub fn carry_out<J: DeserializeOwned, R: Serialize>(
        &self,
        work: impl FnOnce(&J) -> Result<R, JobError>,
        interrupted: impl FnOnce(&R) -> bool,
    ) -> Result<Outcome, Failure> {
        let result = work(&parse(&self.job)?)?;
        self.output.write(&result)?;
        Ok(Outcome::after(interrupted(&result)))
    }
}

/// Where a result goes, and whether events are printed before it.
#[derive(clap::Args)]
pub struct Output {
    /// Write the JSON result here (by a temporary name, then renamed) and not to standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write events of the run to standard error, one JSON object a line.
    #[arg(long)]
    pub progress: bool,
}

impl Output {
    /// Writes the result as one JSON document.
    pub fn write<T: Serialize>(&self, result: &T) -> Result<(), Failure> {
        write_result(self.out.as_deref(), result)
    }

    /// Writes an event line to standard error, when events are wanted. A reader that has gone is not a reason to stop
    /// measuring.
    pub fn event<T: Serialize>(&self, event: &T) {
        if !self.progress {
            return;
        }
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            let _ = std::io::stderr().lock().write_all(&line);
        }
    }
}

/// Reads a job's text from a file, or from standard input.
pub fn read(path: &Path) -> Result<String, Failure> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    text.map_err(|error| Failure::Malformed(format!("{} cannot be read: {error}", path.display())))
}

/// Reads and parses a job.
pub fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    serde_json::from_str(&read(path)?)
        .map_err(|e| Failure::Malformed(format!("{}: {e}", path.display())))
}

/// Writes a result to a file, under a temporary name first, or to standard output.
pub fn write_result<T: Serialize>(out: Option<&Path>, result: &T) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(result).map_err(Failure::failed)?;
    text.push(b'\n');
    match out {
        Some(path) => replace(path, &text),
        None => print(&text),
    }
}

/// Prints to standard output; a reader that goes away (`| head`) ends the printing and is not a failure.
pub fn print(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_ref()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file under a temporary name and renames it, so that nobody reads half of it. A link keeps its place. Devices
/// and pipes, such as /dev/stdout, are written to, never replaced.
pub fn replace(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let target = match std::fs::canonicalize(path) {
        _ if path.starts_with("/dev") => None,
        Ok(target) => target.is_file().then_some(target),
        // A link may lead to a pipe without a name, or to a file that is not there yet.
        Err(why) if why.kind() == ErrorKind::NotFound && path.is_symlink() => None,
        Err(_) => Some(path.to_owned()),
    };
    let written = match target {
        Some(target) => rename_over(&target, text),
        None => std::fs::write(path, text),
    };
    written.map_err(|e| {
        Failure::Failed(format!(
            "the result cannot be written to {}: {e}",
            path.display()
        ))
    })
}

fn rename_over(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};

    use super::replace;

    #[test]
    fn a_pipe_is_written_to_and_a_link_keeps_its_place() {
        let folder = std::env::temp_dir().join(format!("touchstone-out-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (pipe, file, link) = (
            folder.join("pipe"),
            folder.join("file"),
            folder.join("link"),
        );
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
        };
        replace(&pipe, b"whole").unwrap();
        assert_eq!(reader.join().unwrap(), "whole");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        std::fs::write(&file, "older").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, b"newer").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "newer");
        std::fs::remove_file(&file).unwrap();
        replace(&link, b"first").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "first");
        let circle = folder.join("circle");
        symlink(&circle, &circle).unwrap();
        replace(&circle, b"whole").unwrap();
        assert_eq!(std::fs::read_to_string(&circle).unwrap(), "whole");
        assert!(replace(&folder, b"whole").is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
