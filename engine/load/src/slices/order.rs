//! Orders: what the lab asks for while the job goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use touchstone_exchange::ask::Send;

use crate::error::Error;

/// The longest slice, in seconds.
const LONGEST_S: f64 = 3_600.0;

/// One line of standard input. Orders queue up, so that the next can be sent before the last has ended. One that cannot be
/// read, or names a contender that the job has not, ends the job with exit code 2.
#[derive(Debug, Clone, JsonSchema, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Turns, in this order. A turn begins with settling, before its clock starts: what the contender's sockets signalled
    /// since its last turn is looked at, and lost connections are replaced, for at most one second; those that the
    /// server had closed count as `closed_idle` of the slice, and as `reconnects`. Then all connections are filled (closed
    /// loop), or the arrivals go on where the last turn left them (open loop: its clock runs only in its own turns, and
    /// late requests of the turn are still sent). After `seconds` sending stops. Responses under way are awaited, at most
    /// `timeout_s`; what has none by then is a `timeout` of the slice, and its connection is replaced. A turn that finds
    /// not one connection passes at once. `gap_s` of rest follow. The threads of a contender that is not loaded sleep
    /// without any wake-up.
    Slices {
        /// What they belong to.
        phase: LapPhase,
        /// Whose turn it is, and for how long.
        turns: Vec<TurnOrder>,
    },
    /// Asks a contender between the requests of its load, on the load's own connections and as often as those are free: in
    /// its turns, and in no count of theirs. It is answered by an event while other orders are followed. Not where requests
    /// are pipelined, go over HTTP/2 or over connections that are not kept, or come from other machines.
    Ask {
        /// The contender's place in the job.
        contender: usize,
        /// What is sent, as in a session of `ask`; a lane is one of the load's connections.
        send: Box<Send>,
    },
    /// The job is to end, as it does when standard input ends. After SIGINT it ends with the slice under way.
    End {},
}

/// What a lap belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LapPhase {
    /// Warm-up: recorded, and not part of the figures.
    Warmup,
    /// The measured load.
    Load,
}

/// One turn.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnOrder {
    /// The contender's place in the job.
    pub contender: usize,
    /// How long requests are sent.
    pub seconds: f64,
}

impl LapPhase {
    /// Its name in the series.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Load => "load",
        }
    }
}

impl Order {
    /// Reads an order.
    ///
    /// # Errors
    /// [`Error::Job`] with the line and the reason.
    pub fn parse(line: &str) -> Result<Self, Error> {
        serde_json::from_str(line).map_err(|error| {
            Error::Job(format!(
                "an order cannot be read: {error}: {}",
                line.trim_end()
            ))
        })
    }

    /// Checks its turns against the number of contenders.
    ///
    /// # Errors
    /// [`Error::Job`] that names the turn.
    pub fn validate(&self, contenders: usize) -> Result<(), Error> {
        let Self::Slices { turns, .. } = self else {
            return Ok(());
        };
        for (index, turn) in turns.iter().enumerate() {
            if turn.contender >= contenders {
                return Err(Error::Job(format!(
                    "turns[{index}].contender is {}, and the job has {contenders} contenders",
                    turn.contender
                )));
            }
            if !(turn.seconds > 0.0 && turn.seconds <= LONGEST_S) {
                return Err(Error::Job(format!(
                    "turns[{index}].seconds must be above 0 and at most {LONGEST_S}"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_the_protocol_has_them() {
        let line = r#"{"order":"slices","phase":"load","turns":[{"contender":2,"seconds":0.25}]}"#;
        let order = Order::parse(line).unwrap();
        assert!(
            matches!(&order, Order::Slices { phase: LapPhase::Load, turns } if turns[0].contender == 2)
        );
        assert!(order.validate(3).is_ok() && order.validate(2).is_err());
        assert!(matches!(
            Order::parse(r#"{"order":"end"}"#).unwrap(),
            Order::End {}
        ));
        for wrong in [
            "",
            "{}",
            r#"{"order":"stop"}"#,
            r#"{"order":"end","now":true}"#,
            r#"{"order":"slices","phase":"idle","turns":[]}"#,
        ] {
            assert!(Order::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_turn_without_a_length_is_refused() {
        for seconds in [0.0, -1.0, f64::NAN, 1e9] {
            let turns = vec![TurnOrder {
                contender: 0,
                seconds,
            }];
            let order = Order::Slices {
                phase: LapPhase::Load,
                turns,
            };
            assert!(order.validate(1).is_err(), "{seconds}");
        }
    }
}
