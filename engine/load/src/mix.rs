//! The mix of a load, compiled: requests that are each drawn by weight, or journeys.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::nanos;
use crate::error::Error;
use crate::job::{Job, Request};
use crate::random::Random;
use crate::request::{CompiledRequest, Origin};
use crate::rows::Rows;
use crate::target::Target;
use crate::template::{Scope, fresh_of};

/// The compiled mix.
#[derive(Debug, Clone)]
pub struct Mix {
    /// The requests, or the steps of all journeys.
    requests: Vec<CompiledRequest>,
    journeys: Vec<Route>,
    /// Upper ends of the shares of the weights' sum, of requests or of journeys.
    bounds: Vec<u64>,
}

/// A journey, whose steps lie among the requests of the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The first step's place.
    pub first: u16,
    /// How many steps there are.
    pub steps: u16,
    /// How many values they capture.
    pub captures: usize,
}

impl Mix {
    /// Compiles a job's requests or journeys for its target.
    ///
    /// # Errors
    /// [`Error::Job`] that names the request and the part that does not hold together.
    pub fn compile(job: &Job, target: &Target) -> Result<Self, Error> {
        let rows = job.rows.as_deref().map(Rows::read).transpose();
        Self::compile_with(job, target, rows.map_err(Error::Job)?)
    }

    /// Compiles them with the job's rows, which were read before.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compile_with(job: &Job, target: &Target, rows: Option<Rows>) -> Result<Self, Error> {
        let fresh = job.fresh.clone().unwrap_or_else(|| fresh_of(job.seed));
        let rows = rows.map(Arc::new);
        let scope = Scope {
            fresh: &fresh,
            rows: rows.as_ref(),
            captured: Some(&job.captured),
            ..Scope::default()
        };
        let mut mix = Self {
            requests: Vec::new(),
            journeys: Vec::new(),
            bounds: Vec::new(),
        };
        if job.journeys.is_empty() {
            mix.add_requests(job, target, scope)?;
        } else {
            mix.add_journeys(job, target, scope)?;
        }
        Ok(mix)
    }

    fn add_requests(&mut self, job: &Job, target: &Target, scope: Scope<'_>) -> Result<(), Error> {
        let implied = Job::implied_request();
        let listed = if job.requests.is_empty() {
            std::slice::from_ref(&implied)
        } else {
            &job.requests
        };
        for (index, request) in listed.iter().enumerate() {
            let place = match &request.name {
                Some(name) => format!("requests[{index}] ({name})"),
                None => format!("requests[{index}]"),
            };
            let compiled = CompiledRequest::compile(&request.bare(), origin(job, target), scope);
            let compiled = compiled.and_then(|compiled| streamed(compiled, request, scope));
            self.requests.push(named(compiled, request, &place)?);
            self.weigh(request.weight);
        }
        Ok(())
    }

    fn add_journeys(&mut self, job: &Job, target: &Target, scope: Scope<'_>) -> Result<(), Error> {
        for (index, journey) in job.journeys.iter().enumerate() {
            let mut captured = Vec::new();
            let first = self.requests.len() as u16;
            for (number, step) in journey.steps.iter().enumerate() {
                let place = format!("journeys[{index}] ({}).steps[{number}]", journey.name);
                let known = captured.clone();
                let own = Scope {
                    captures: &known,
                    ..scope
                };
                let compiled = CompiledRequest::compile_step(
                    &step.request.bare(),
                    &step.captures,
                    origin(job, target),
                    scope,
                    &mut captured,
                );
                let compiled = compiled.and_then(|compiled| streamed(compiled, &step.request, own));
                let mut compiled = named(compiled, &step.request, &place)?;
                compiled.name = format!("{}/{}", journey.name, compiled.name);
                compiled.think = nanos(step.think_s);
                self.requests.push(compiled);
            }
            self.journeys.push(Route {
                first,
                steps: journey.steps.len() as u16,
                captures: captured.len(),
            });
            self.weigh(journey.weight);
        }
        Ok(())
    }

    fn weigh(&mut self, weight: u32) {
        let sum = self.bounds.last().copied().unwrap_or(0);
        self.bounds.push(sum + u64::from(weight));
    }

    /// The requests in the job's order, or the steps of all journeys.
    #[must_use]
    pub fn requests(&self) -> &[CompiledRequest] {
        &self.requests
    }

    /// The journeys in the job's order; none in a mix of requests.
    #[must_use]
    pub fn journeys(&self) -> &[Route] {
        &self.journeys
    }

    /// Draws the next request's or journey's index by weight.
    #[inline]
    pub fn pick(&self, random: &mut Random) -> u16 {
        if self.bounds.len() == 1 {
            return 0;
        }
        let sum = self.bounds[self.bounds.len() - 1];
        let drawn = random.next() % sum;
        self.bounds.partition_point(|bound| *bound <= drawn) as u16
    }
}

fn origin<'a>(job: &Job, target: &'a Target) -> Origin<'a> {
    Origin {
        url: &target.url,
        closes: !job.keepalive,
        is_h2: job.protocol.is_h2(),
        timeout: Duration::from_secs_f64(job.timeout_s),
    }
}

/// A compiled request whose response is a stream, if the job says so.
fn streamed(
    compiled: CompiledRequest,
    request: &Request,
    scope: Scope<'_>,
) -> Result<CompiledRequest, String> {
    compiled.streamed(&request.bare(), request.stream.as_ref(), scope)
}

/// A compiled request under the name that the job gives it; or the error at its place in the job.
fn named(
    compiled: Result<CompiledRequest, String>,
    request: &Request,
    place: &str,
) -> Result<CompiledRequest, Error> {
    let mut compiled = compiled.map_err(|why| Error::Job(format!("{place}.{why}")))?;
    if let Some(name) = &request.name {
        compiled.name.clone_from(name);
    }
    Ok(compiled)
}
