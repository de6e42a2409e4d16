//! `--cross-check`: the same closed loop by another tool, and whether the two agree.

use std::process::Command;

use touchstone_load::job::{Job, Loop, Protocol};
use touchstone_load::result::LoadResult;

use super::human::thousands;
use crate::failure::Failure;

/// Rates within this share of each other agree.
const AGREE: f64 = 0.10;

/// A tool that people know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Tool {
    Wrk,
    Hey,
    Ab,
    Oha,
}

impl Tool {
    const fn program(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Hey => "hey",
            Self::Ab => "ab",
            Self::Oha => "oha",
        }
    }

    fn arguments(self, job: &Job, url: &str) -> Vec<String> {
        let (connections, threads) = (
            job.connections.to_string(),
            job.threads.min(job.connections).to_string(),
        );
        let seconds = (job.duration_s.ceil() as u64).max(1).to_string();
        let time = format!("{seconds}s");
        let words: Vec<&str> = match self {
            Self::Wrk => vec![
                "-c",
                &connections,
                "-t",
                &threads,
                "-d",
                &time,
                "--latency",
                url,
            ],
            Self::Hey => vec!["-c", &connections, "-z", &time, "-cpus", &threads, url],
            Self::Ab => vec![
                "-k",
                "-q",
                "-c",
                &connections,
                "-t",
                &seconds,
                "-n",
                "100000000",
                url,
            ],
            Self::Oha => vec!["--no-tui", "-c", &connections, "-z", &time, url],
        };
        words.into_iter().map(str::to_owned).collect()
    }
}

/// Runs the tool with the job's load and says whether its rate agrees with the engine's.
pub fn compare(tool: Tool, job: &Job, result: &LoadResult) -> Result<String, Failure> {
    let request = job.requests.first();
    let plain = request.is_none_or(|request| {
        request.method == "GET"
            && request.headers.is_empty()
            && request.stream.is_none()
            && request.websocket.is_none()
    });
    if job.arrival != Loop::Closed
        || !plain
        || job.requests.len() > 1
        || !job.journeys.is_empty()
        || job.pipeline != 1
        || job.protocol != Protocol::H1
        || !job.keepalive
        || job.max_requests.is_some()
    {
        let why = "--cross-check compares a closed loop of one plain GET over HTTP/1.1 with keep-alive and a duration";
        return Err(Failure::Malformed(why.to_owned()));
    }
    let target = request
        .and_then(|request| request.target.as_deref())
        .unwrap_or("/");
    if target.contains('{') {
        return Err(Failure::Malformed(
            "--cross-check cannot send templates with another tool".to_owned(),
        ));
    }
    let url = format!("{}{target}", job.url);
    let cpus = job.cpus.as_deref().unwrap_or_default();
    let mut command = if cpus.is_empty() {
        Command::new(tool.program())
    } else {
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let mut command = Command::new("taskset");
        command.args(["-c", &list.join(","), tool.program()]);
        command
    };
    let output = command
        .args(tool.arguments(job, &url))
        .output()
        .map_err(|error| {
            Failure::Failed(format!(
                "{} cannot be run: {error}; install it first",
                tool.program()
            ))
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(rate) = rate_in(&text) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Failed(format!(
            "{} gave no rate: {}",
            tool.program(),
            errors.trim()
        )));
    };
    Ok(verdict(tool.program(), rate, result))
}

/// The rate in a tool's output: `Requests/sec: 123.4` (wrk, hey, oha) or `Requests per second: 123.4 [#/sec]` (ab).
fn rate_in(text: &str) -> Option<f64> {
    let line = text.lines().map(str::trim).find_map(|line| {
        line.strip_prefix("Requests/sec:")
            .or_else(|| line.strip_prefix("Requests per second:"))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

fn verdict(name: &str, rate: f64, result: &LoadResult) -> String {
    let own = result.rate.achieved;
    let ratio = rate / own.max(f64::MIN_POSITIVE);
    let both = format!(
        "{name} {} requests/s, touchstone {}: ratio {ratio:.2}",
        thousands(rate),
        thousands(own)
    );
    let failed = result.counts.wrong + result.counts.failed;
    if (1.0 / (1.0 + AGREE)..=1.0 + AGREE).contains(&ratio) {
        format!("\n  cross-check  {both}. The two agree within 10 %.\n")
    } else if failed > 0 {
        format!(
            "\n  cross-check  {both}. The two disagree: {failed} responses were wrong, and {name} counts those as well.\n"
        )
    } else if !result.generator.stands || ratio < 1.0 {
        format!(
            "\n  cross-check  {both}. The two disagree: the cheaper generator reaches the higher rate where the generator's CPU is the limit, or the machine was busy with something else in one of the runs. Compare with more CPUs or fewer connections.\n"
        )
    } else {
        format!(
            "\n  cross-check  {both}. The two disagree: run both again, and distrust both until they agree.\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tools_rate_is_found() {
        assert_eq!(
            rate_in("Running 1s test\nRequests/sec:  48123.45\nTransfer/sec: 5MB"),
            Some(48_123.45)
        );
        assert_eq!(rate_in("Summary:\n  Requests/sec:\t1234.5\n"), Some(1234.5));
        assert_eq!(
            rate_in("Requests per second:    987.65 [#/sec] (mean)"),
            Some(987.65)
        );
        assert_eq!(rate_in("nothing"), None);
    }
}
