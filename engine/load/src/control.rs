//! How a run is followed and ended from outside.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::event::Event;

/// How a caller follows and ends a run.
pub struct Control<'a> {
    /// Set from outside (a signal handler) to end the run early; its result is still given.
    pub interrupt: &'a AtomicBool,
    /// Called with each event, on the calling thread.
    pub on_event: &'a mut dyn FnMut(Event),
    /// The command that runs [`crate::processes::serve`] on its standard input and output; empty if there is none, and
    /// then one process must be enough.
    pub process_command: &'a [OsString],
}

/// The coordinator looks at the interrupt flag this often.
pub(crate) const POLL: Duration = Duration::from_millis(20);
