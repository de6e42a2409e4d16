//! The processes among which `load` and `hold` share a job too large for one: this executable once more.

use std::ffi::OsString;

/// The command that does the share of a job that standard input orders; empty where the executable is not known.
pub fn command(subcommand: &str) -> Vec<OsString> {
    match std::env::current_exe() {
        Ok(own) => vec![own.into_os_string(), subcommand.into(), "--worker".into()],
        Err(_) => Vec::new(),
    }
}
