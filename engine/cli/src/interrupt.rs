//! SIGINT and SIGTERM as a flag that the measuring loops look at.

pub use touchstone_sys::signal::flag_on_termination as flag;
