//! The knee: the highest rate at which a latency objective holds, found by doubling and then halving the distance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::Error;
use crate::job::{Arrivals, Job, Loop};
use crate::result::LoadResult;
use crate::run::run;
use crate::self_check;

/// A latency objective: a quantile (0 to 1) must lie below a bound in seconds.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Objective {
    /// The quantile.
    pub quantile: f64,
    /// The bound in seconds.
    pub below_s: f64,
}

/// One rate that was tried.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Trial {
    /// Requests a second offered.
    pub rate: f64,
    /// Right responses a second.
    pub achieved: f64,
    /// The latency at the objective's quantile, in seconds; none if no response came.
    pub latency: Option<f64>,
    /// Failed requests.
    pub errors: u64,
    /// Whether the objective held.
    pub holds: bool,
}

/// What the search came to.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct Knee {
    /// `touchstone.knee/1`.
    pub schema: String,
    /// What had to hold.
    pub objective: Objective,
    /// The highest rate at which it held; none if it held at none.
    pub rate: Option<f64>,
    /// Every rate that was tried, in order.
    pub trials: Vec<Trial>,
    /// Whether the search was ended from outside.
    pub interrupted: bool,
}

/// The search ends when the knee is known within this share, or after this many trials.
const CLOSE_ENOUGH: f64 = 1.05;
const MOST_TRIALS: usize = 24;

/// The share of requests that may fail.
const ERRORS: f64 = 0.001;

impl Objective {
    /// Parses `p99<20ms`.
    ///
    /// # Errors
    /// [`Error::Job`] with an example.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = || {
            Error::Job(format!(
                "the objective {text:?} must read like p99<20ms or p99.9<1s"
            ))
        };
        let (quantile, bound) = text.split_once('<').ok_or_else(bad)?;
        let percent: f64 = quantile
            .trim()
            .strip_prefix('p')
            .ok_or_else(bad)?
            .parse()
            .map_err(|_| bad())?;
        let bound = bound.trim();
        let digits = bound.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = match &bound[digits.len()..] {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => return Err(bad()),
        };
        let below_s = digits.parse::<f64>().map_err(|_| bad())? * unit;
        if percent > 0.0 && percent < 100.0 && below_s > 0.0 {
            Ok(Self {
                quantile: percent / 100.0,
                below_s,
            })
        } else {
            Err(bad())
        }
    }

    fn trial(self, rate: f64, result: &LoadResult) -> Trial {
        let latency = result
            .latency
            .as_ref()
            .map(|latency| latency.at(self.quantile));
        let errors = result.counts.wrong + result.counts.failed;
        let holds = latency.is_some_and(|latency| latency < self.below_s)
            && self_check::reached(result, rate)
            && errors as f64 <= ERRORS * result.counts.sent as f64
            && result.counts.unsent == 0;
        Trial {
            rate,
            achieved: result.rate.achieved,
            latency,
            errors,
            holds,
        }
    }
}

/// The next rate to try after those that were tried, or `None` when the knee is known.
fn next(first: f64, trials: &[Trial]) -> Option<f64> {
    let held = trials
        .iter()
        .filter(|trial| trial.holds)
        .map(|trial| trial.rate)
        .fold(0.0, f64::max);
    let failed = trials
        .iter()
        .filter(|trial| !trial.holds)
        .map(|trial| trial.rate)
        .fold(f64::INFINITY, f64::min);
    match (held, failed) {
        _ if trials.len() >= MOST_TRIALS => None,
        _ if trials.is_empty() => Some(first),
        (held, failed) if failed.is_infinite() => Some(held * 2.0),
        (0.0, failed) => (failed > 1.0).then_some(failed / 2.0),
        // A rate that failed once below one that held: the bounds have crossed, and noise decides.
        (held, failed) if failed / held <= CLOSE_ENOUGH => None,
        (held, failed) => Some((held * failed).sqrt()),
    }
}

/// Searches the capacity; each trial is the job at one rate. `on_trial` is called for each.
///
/// # Errors
/// As [`run`].
pub fn find(
    job: &Job,
    objective: Objective,
    first: f64,
    control: &mut Control<'_>,
    on_trial: &mut dyn FnMut(&Trial),
) -> Result<Knee, Error> {
    let arrivals = match &job.arrival {
        Loop::Open { arrivals, .. } => *arrivals,
        _ => Arrivals::Uniform,
    };
    let mut knee = Knee {
        schema: "touchstone.knee/1".to_owned(),
        objective,
        rate: None,
        trials: Vec::new(),
        interrupted: false,
    };
    while let Some(rate) = next(first, &knee.trials) {
        let mut trial_job = job.clone();
        trial_job.arrival = Loop::Open { rate, arrivals };
        let result = run(&trial_job, control)?;
        if result.interrupted {
            knee.interrupted = true;
            break;
        }
        let trial = objective.trial(rate, &result);
        on_trial(&trial);
        knee.trials.push(trial);
    }
    let held = knee
        .trials
        .iter()
        .filter(|trial| trial.holds)
        .map(|trial| trial.rate)
        .fold(0.0, f64::max);
    knee.rate = (held > 0.0).then_some(held);
    Ok(knee)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_read_as_it_is_written() {
        assert_eq!(
            Objective::parse("p99<20ms").unwrap(),
            Objective {
                quantile: 0.99,
                below_s: 0.02
            }
        );
        assert_eq!(
            Objective::parse("p50 < 1s").unwrap(),
            Objective {
                quantile: 0.5,
                below_s: 1.0
            }
        );
        for bad in ["p99", "99<20ms", "p99<20", "p100<1s", "p0<1s", "p99<0ms"] {
            assert!(Objective::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_search_closes_in_on_the_knee() {
        for knee in [3.0, 777.0, 12_345.0, 1e6] {
            let mut trials: Vec<Trial> = Vec::new();
            while let Some(rate) = next(1_000.0, &trials) {
                trials.push(Trial {
                    rate,
                    achieved: rate,
                    latency: None,
                    errors: 0,
                    holds: rate <= knee,
                });
            }
            let found = trials
                .iter()
                .filter(|trial| trial.holds)
                .map(|trial| trial.rate)
                .fold(0.0, f64::max);
            assert!(
                found <= knee && found * CLOSE_ENOUGH >= knee,
                "{knee}: {found} after {}",
                trials.len()
            );
            assert!(trials.len() < MOST_TRIALS);
        }
    }
}
