//! Settings of the echo, and its faults.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};
use touchstone_sys::clock::Nanos;

/// What the echo is like while nothing is wrong.
#[derive(Debug, Clone)]
pub struct Settings {
    /// From a request's arrival to its answer.
    pub delay: Nanos,
    /// The body of an answer.
    pub body: String,
    /// Its content type.
    pub content_type: String,
}

/// A way to fail, for the contract check of its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// None.
    Off,
    /// This status, after the usual delay.
    Status(u16),
    /// No listener, and all connections reset.
    Refuse,
    /// The right answer after this long.
    Slow(Nanos),
}

/// A fault that is not understood.
#[derive(Debug, thiserror::Error)]
#[error("{0}; use mode=off, mode=status&code=500, mode=refuse or mode=slow&delay_ms=6000")]
pub struct FaultError(String);

impl Fault {
    /// From a query: `mode=slow&delay_ms=6000`.
    pub fn parse(query: &str) -> Result<Self, FaultError> {
        let value = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let number = |name: &str, default: u64| match value(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| FaultError(format!("{name} is {text:?}, not a number"))),
        };
        match value("mode") {
            Some("off") => Ok(Self::Off),
            Some("status") => match number("code", 500)? {
                code @ 200..=599 => Ok(Self::Status(code as u16)),
                code => Err(FaultError(format!("code is {code}, not a final status"))),
            },
            Some("refuse") => Ok(Self::Refuse),
            Some("slow") => Ok(Self::Slow(Nanos(
                number("delay_ms", 6000)?.saturating_mul(1_000_000),
            ))),
            Some(other) => Err(FaultError(format!("mode is {other:?}"))),
            None => Err(FaultError("mode is missing".into())),
        }
    }

    /// As the statistics show it.
    pub fn describe(self) -> serde_json::Value {
        match self {
            Self::Off => serde_json::json!({"mode": "off"}),
            Self::Status(code) => serde_json::json!({"mode": "status", "code": code}),
            Self::Refuse => serde_json::json!({"mode": "refuse"}),
            Self::Slow(time) => serde_json::json!({"mode": "slow", "delay_ms": time.0 / 1_000_000}),
        }
    }
}

/// The current fault, read by the workers at every request without a lock.
#[derive(Debug, Default)]
pub struct FaultCell {
    mode: AtomicU8,
    code: AtomicU16,
    delay: AtomicU64,
}

impl FaultCell {
    pub fn set(&self, fault: Fault) {
        let mode = match fault {
            Fault::Off => 0,
            Fault::Status(code) => {
                self.code.store(code, Ordering::Relaxed);
                1
            }
            Fault::Refuse => 2,
            Fault::Slow(time) => {
                self.delay.store(time.0, Ordering::Relaxed);
                3
            }
        };
        // The release makes the code or delay visible with the mode.
        self.mode.store(mode, Ordering::Release);
    }

    pub fn get(&self) -> Fault {
        match self.mode.load(Ordering::Acquire) {
            1 => Fault::Status(self.code.load(Ordering::Relaxed)),
            2 => Fault::Refuse,
            3 => Fault::Slow(Nanos(self.delay.load(Ordering::Relaxed))),
            _ => Fault::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed_kept_and_described() {
        for (query, fault) in [
            ("mode=off", Fault::Off),
            ("mode=status", Fault::Status(500)),
            ("mode=status&code=503", Fault::Status(503)),
            ("mode=refuse", Fault::Refuse),
            ("delay_ms=7&mode=slow", Fault::Slow(Nanos::from_millis(7))),
        ] {
            assert_eq!(Fault::parse(query).unwrap(), fault);
            let cell = FaultCell::default();
            cell.set(fault);
            assert_eq!(cell.get(), fault);
        }
        for wrong in ["", "mode=x", "mode=status&code=700", "mode=slow&delay_ms=x"] {
            assert!(
                Fault::parse(wrong)
                    .unwrap_err()
                    .to_string()
                    .contains("use mode=off"),
                "{wrong}"
            );
        }
    }
}
