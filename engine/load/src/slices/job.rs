//! The slices job: what `docs/engine-protocol.md` calls so, as types.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::job::{
    Arrivals, BackendChoice, GeneratorNode, Job, Journey, Loop, MOST_S, Protocol, Request, Tls,
    Watch,
};

/// An open loop's arrivals have no end of their own: the turns end them. In seconds.
const ENDLESS_S: f64 = MOST_S;

/// Several contenders that are loaded in turn, in slices of 100 to 500 ms as a rule, so that neighbouring slices meet
/// the same machine. The engine opens connections to all of them, keeps them, and carries out the orders that come on
/// standard input.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
pub struct SlicesJob {
    /// CPUs to pin the threads to, in turn; empty or absent: not pinned.
    #[serde(default)]
    pub cpus: Option<Vec<u32>>,
    /// Threads of each contender's load. Its connections have to fit into the limit of open files: slices are not
    /// spread over processes, but on `generators`.
    #[serde(default = "crate::job::one")]
    pub threads: u32,
    /// Seconds of rest after each slice, in which its server falls quiet.
    #[serde(default = "default_gap")]
    pub gap_s: f64,
    /// Machines that put the load on, in a process for each contender; if there are none, this one does. Every turn
    /// begins at an instant that all know beforehand, two round trips of settling ahead, 5 to 500
    /// ms. Settling compares the clocks again: one that has moved by more than 5 ms ends the job with an error that
    /// names it, and so does a generator that is lost.
    #[serde(default)]
    pub generators: Vec<GeneratorNode>,
    /// Whom to load. Their names differ.
    pub contenders: Vec<Contender>,
}

/// A contender, and its load.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Its name in events and errors.
    pub name: String,
    /// Its load.
    pub job: Traffic,
}

/// A load without a length, CPUs and threads of its own: the fields of a load job that its turns leave open.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // As in `job::Job`.
pub struct Traffic {
    pub url: String,
    #[serde(default)]
    pub connect_to: Option<String>,
    #[serde(default)]
    pub allow_hosts: Vec<String>,
    #[serde(rename = "loop", default)]
    pub arrival: Steady,
    #[serde(default = "crate::job::default_connections")]
    pub connections: u32,
    #[serde(default)]
    pub protocol: Protocol,
    #[serde(default = "crate::job::one")]
    pub streams: u32,
    #[serde(default = "crate::job::one")]
    pub pipeline: u32,
    #[serde(default = "crate::job::yes")]
    pub keepalive: bool,
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    #[serde(default = "crate::job::yes")]
    pub repeat: bool,
    #[serde(default = "crate::job::default_timeout")]
    pub timeout_s: f64,
    #[serde(default)]
    pub backend: BackendChoice,
    #[serde(default)]
    pub sources: Option<String>,
    #[serde(default = "crate::job::default_seed")]
    pub seed: u64,
    #[serde(default)]
    pub first_counter: u64,
    #[serde(default)]
    pub pacing_slot_s: Option<f64>,
    #[serde(default)]
    pub tls: Tls,
    #[serde(default)]
    pub rows: Option<String>,
    #[serde(default)]
    pub fresh: Option<String>,
    #[serde(default)]
    pub captured: BTreeMap<String, String>,
    #[serde(default)]
    pub requests: Vec<Request>,
    #[serde(default)]
    pub journeys: Vec<Journey>,
    #[serde(default)]
    pub watch: Option<Watch>,
}

/// When requests are sent, as far as it can be cut into slices: steps and ramps cannot.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Steady {
    /// A connection sends its next request when the response to the last one has come.
    #[default]
    Closed,
    /// Requests are due at a constant rate whatever the server does.
    Open {
        /// Requests per second.
        rate: f64,
        /// How the arrivals lie around the rate.
        #[serde(default)]
        arrivals: Arrivals,
    },
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "cpus": [1],
        "contenders": [
            {"name": "go/plain", "job": {"url": "http://127.0.0.1:8080", "watch": {"pid": 4711}}},
            {"name": "rust/plain", "job": {"url": "http://127.0.0.1:8081", "watch": {"pid": 4712}}}
        ]
    })
}

const fn default_gap() -> f64 {
    0.005
}

impl SlicesJob {
    /// Reads a job from JSON and checks it.
    ///
    /// # Errors
    /// [`Error::Job`] with the place and the reason.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let job: Self =
            serde_json::from_str(text).map_err(|error| Error::Job(error.to_string()))?;
        job.validate()?;
        Ok(job)
    }

    /// Checks what the types alone do not.
    ///
    /// # Errors
    /// [`Error::Job`] with the field and the reason.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |why: String| Err(Error::Job(why));
        if self.contenders.is_empty() {
            return wrong("contenders must not be empty".to_owned());
        }
        if !(self.gap_s.is_finite() && (0.0..=10.0).contains(&self.gap_s)) {
            return wrong("gap_s must be 0 to 10".to_owned());
        }
        let mut names = HashSet::new();
        for (index, contender) in self.contenders.iter().enumerate() {
            if !names.insert(&contender.name) {
                return wrong(format!(
                    "contenders[{index}]: two contenders are called {:?}",
                    contender.name
                ));
            }
            let load = self.load(index);
            load.validate().map_err(|error| self.at(index, error))?;
        }
        Ok(())
    }

    /// The load job of one contender.
    #[must_use]
    pub fn load(&self, index: usize) -> Job {
        let Contender { job: traffic, .. } = self.contenders[index].clone();
        Job {
            url: traffic.url,
            allow_hosts: traffic.allow_hosts,
            connect_to: traffic.connect_to,
            arrival: match traffic.arrival {
                Steady::Closed => Loop::Closed,
                Steady::Open { rate, arrivals } => Loop::Open { rate, arrivals },
            },
            connections: traffic.connections,
            threads: self.threads,
            cpus: self.cpus.clone(),
            warmup_s: 0.0,
            duration_s: ENDLESS_S,
            max_requests: None,
            protocol: traffic.protocol,
            streams: traffic.streams,
            pipeline: traffic.pipeline,
            keepalive: traffic.keepalive,
            requests_per_connection: traffic.requests_per_connection,
            repeat: traffic.repeat,
            timeout_s: traffic.timeout_s,
            give_up: false,
            backend: traffic.backend,
            sources: traffic.sources,
            seed: traffic.seed,
            first_counter: traffic.first_counter,
            series_interval_s: 1.0,
            pacing_slot_s: traffic.pacing_slot_s,
            tls: traffic.tls,
            rows: traffic.rows,
            fresh: traffic.fresh,
            captured: traffic.captured,
            requests: traffic.requests,
            journeys: traffic.journeys,
            watch: traffic.watch,
            tail: None,
            generators: self.generators.clone(),
        }
    }

    /// Says in an error of a job which contender's it is.
    #[must_use]
    pub fn at(&self, index: usize, error: Error) -> Error {
        match error {
            Error::Job(why) => Error::Job(format!(
                "contenders[{index}] ({}): {why}",
                self.contenders[index].name
            )),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(load: &Value) -> Result<SlicesJob, Error> {
        SlicesJob::from_json(
            &json!({"contenders": [{"name": "go/plain", "job": load}]}).to_string(),
        )
    }

    #[test]
    fn what_only_a_whole_load_has_is_refused() {
        assert!(read(&json!({"url": "http://127.0.0.1:1"})).is_ok());
        for field in [
            "warmup_s",
            "duration_s",
            "max_requests",
            "series_interval_s",
            "threads",
            "cpus",
        ] {
            let error = read(&json!({"url": "http://127.0.0.1:1", field: 1})).unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
    }

    #[test]
    fn steps_and_ramps_are_refused_by_name() {
        for kind in ["steps", "ramp"] {
            let load = json!({"url": "http://127.0.0.1:1", "loop": {"kind": kind}});
            let error = read(&load).unwrap_err().to_string();
            assert!(
                error.contains(kind) && error.contains("`closed` or `open`"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_error_names_the_contender() {
        let error = read(&json!({"url": "http://127.0.0.1:1", "connections": 0})).unwrap_err();
        assert!(
            error.to_string().contains("contenders[0] (go/plain)"),
            "{error}"
        );
    }
}
