//! The first frames of a connection, and the answers that every client owes.

use touchstone_h2::frame::{
    Kind, PREFACE, flag, setting, write, write_settings, write_window_update,
};

use crate::h2::frames::Signals;

/// Window of the connection and of each stream: larger than any response that a case waits for.
const WINDOW: u32 = 8 << 20;
/// A connection's window before anything changes it (RFC 9113 6.9.2).
const FIRST_WINDOW: u32 = 65_535;

/// The preface, SETTINGS and a larger window.
pub fn opening() -> Vec<u8> {
    let mut out = PREFACE.to_vec();
    let settings = [
        (setting::ENABLE_PUSH, 0),
        (setting::INITIAL_WINDOW_SIZE, WINDOW),
    ];
    write_settings(&settings, &mut out);
    write_window_update(0, WINDOW - FIRST_WINDOW, &mut out);
    out
}

/// What was answered so far.
#[derive(Default)]
pub struct Answered {
    settings: usize,
    pings: usize,
}

impl Answered {
    /// Acknowledgements of what has come since.
    pub fn answer(&mut self, signals: &Signals) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in self.settings..signals.settings {
            write(Kind::SETTINGS, flag::ACK, 0, b"", &mut out);
        }
        for payload in &signals.pings[self.pings..] {
            write(Kind::PING, flag::ACK, 0, payload, &mut out);
        }
        self.settings = signals.settings;
        self.pings = signals.pings.len();
        out
    }
}
