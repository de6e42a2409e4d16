//! How a subcommand ends, as exit codes: 0 carried out, 1 could not be, 2 malformed, 3 gate breached, 130 interrupted.

use std::fmt;
use std::process::ExitCode;
use touchstone_exchange::JobError;

/// The subcommand did its work.
pub enum Outcome {
    /// To the end, whatever the server did.
    Done,
    /// Up to a signal; what was measured has been written.
    Interrupted,
    /// To the end, and a gate that the caller set was breached (exit code 3).
    Breached,
}

impl Outcome {
    /// After work that a signal may have interrupted.
    pub const fn after(interrupted: bool) -> Self {
        if interrupted {
            Self::Interrupted
        } else {
            Self::Done
        }
    }
}

/// The subcommand could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The job or the flags make no sense (exit code 2).
    Malformed(String),
    /// The job is sound and could not be carried out (exit code 1).
    Failed(String),
}

impl Failure {
    /// The process's exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Malformed(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::from(1),
        }
    }

    /// Wraps any error as "could not be carried out".
    pub fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Wraps any error as "malformed".
    pub fn malformed(error: impl fmt::Display) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Malformed(why) => Self::Malformed(why),
            JobError::Engine(why) => Self::Failed(why),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "malformed job: {why}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}
