//! Plays many cases, some at a time, and keeps an eye on the server's life.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::breach;
use crate::case::{Case, Need};
use crate::observation::Observation;
use crate::risk::Risk;
use crate::script::{self, Timing};
use crate::target::{Alive, Target};
use crate::verdict::{self, Verdict};
use crate::words;

/// How a run goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Cases played at the same time, those that mostly wait apart.
    pub jobs: usize,
    /// Whether cases that need much time are played.
    pub slow: bool,
    /// The probe's patience.
    pub timing: Timing,
    /// Raised when the run is to end: cases not yet begun are inconclusive then.
    pub stop: Option<&'static AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            jobs: 8,
            slow: false,
            timing: Timing::default(),
            stop: None,
        }
    }
}

/// What came of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for any verdict but right and tolerated.
    pub reason: Option<String>,
    /// What a wrong answer or a crash does to others.
    pub risk: Option<Risk>,
    /// What was seen, if the case was played.
    pub seen: Option<Observation>,
}

/// Cases with more patience than this mostly wait, so they get threads of their own.
const WAITING: f64 = 4.0;
/// Most waiting cases at a time; each holds one connection.
const WAITING_JOBS: usize = 24;
/// Most plays of a case that looked wrong.
const REPLAYS: usize = 5;
/// How long a fresh connection may take to answer a plain GET after a case.
const REVIVAL: Duration = Duration::from_secs(5);

/// Plays the cases and returns their outcomes in the same order. `progress` is told of each.
pub fn run(
    cases: &[Case],
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(&Outcome) + Sync),
) -> Vec<Outcome> {
    let waiting = |case: &Case| case.patience_s.is_some_and(|seconds| seconds > WAITING);
    let (slow, quick): (Vec<_>, Vec<_>) =
        (0..cases.len()).partition(|&index| waiting(&cases[index]));
    let results: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; cases.len()]);
    let gone = AtomicBool::new(false);
    let slow_jobs = slow.len().min(WAITING_JOBS);
    let slow = Mutex::new(VecDeque::from(slow));
    let quick = Mutex::new(VecDeque::from(quick));
    let work = |queue: &Mutex<VecDeque<usize>>| {
        while let Some(index) = { queue.lock().expect("no panic holds the queue").pop_front() } {
            let outcome = one(&cases[index], target, options, &gone);
            progress(&outcome);
            results.lock().expect("no panic holds the results")[index] = Some(outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 0..slow_jobs {
            scope.spawn(|| work(&slow));
        }
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| work(&quick));
        }
    });
    let results = results.into_inner().expect("no panic holds the results");
    results
        .into_iter()
        .map(|outcome| outcome.expect("every case was taken from a queue"))
        .collect()
}

fn one(case: &Case, target: &Target, options: &Options, gone: &AtomicBool) -> Outcome {
    let target = &*target.for_case(case);
    if let Some(why) = unmet(case, target, options) {
        return said(case, Verdict::NotApplicable, why, None);
    }
    if options
        .stop
        .is_some_and(|stop| stop.load(Ordering::Relaxed))
    {
        return said(
            case,
            Verdict::Inconclusive,
            "the run was interrupted before this case".into(),
            None,
        );
    }
    if gone.load(Ordering::SeqCst) {
        return said(
            case,
            Verdict::Inconclusive,
            "the server had gone before this case".into(),
            None,
        );
    }
    let (first, seen) = match judged(case, target, options.timing) {
        Ok(pair) => pair,
        Err(error) => {
            let reason = format!("no connection: {error}");
            return match revival(target) {
                Alive::Gone => crash(case, None, gone),
                _ => said(case, Verdict::Inconclusive, reason, None),
            };
        }
    };
    let plain = match revival(target) {
        Alive::Gone => return crash(case, Some(seen), gone),
        Alive::Mute => {
            let reason = format!(
                "after this case the server left a plain GET without an answer for {} s (the server {})",
                REVIVAL.as_secs(),
                words::seen(&seen)
            );
            return said(case, Verdict::Inconclusive, reason, Some(seen));
        }
        Alive::Answers(seconds) => seconds,
    };
    if first != Verdict::Wrong {
        return Outcome {
            case: case.clone(),
            verdict: first,
            reason: None,
            risk: None,
            seen: Some(seen),
        };
    }
    let patience = options.timing.patience.as_secs_f64();
    if verdict::undecided(case, &seen, &target.baseline) && plain > patience / 4.0 {
        let reason = format!(
            "the server is slower than the probe's patience: a plain GET took {plain:.2} s"
        );
        return said(case, Verdict::Inconclusive, reason, Some(seen));
    }
    confirm(case, target, options, seen, gone)
}

/// Plays a case that looked wrong again, with more patience: a busy machine must not make a server
/// look wrong. Silence has to show twice. A wrong answer or a close is the server's own doing, so
/// once is enough, and a fault that comes and goes is told with how often it came.
fn confirm(
    case: &Case,
    target: &Target,
    options: &Options,
    first: Observation,
    gone: &AtomicBool,
) -> Outcome {
    let calm = Timing {
        settle: options.timing.settle * 2,
        linger: options.timing.linger * 3 / 2,
        patience: options.timing.patience * 3 / 2,
    };
    let mut wrong = vec![first];
    for plays in 2..=REPLAYS {
        let Ok((verdict, again)) = judged(case, target, calm) else {
            return crash(case, wrong.pop(), gone);
        };
        if revival(target) == Alive::Gone {
            return crash(case, Some(again), gone);
        }
        if verdict == Verdict::Wrong {
            wrong.push(again);
        }
        if wrong.len() == 2 {
            let seen = wrong.swap_remove(1);
            let often = if plays > 2 {
                format!("in 2 of {plays} plays ")
            } else {
                String::new()
            };
            let reason = format!("{often}{}", verdict::reason(case, &seen));
            return wrong_for(case, target, reason, seen);
        }
    }
    let seen = wrong.swap_remove(0);
    if verdict::undecided(case, &seen, &target.baseline) {
        let reason = format!(
            "silent once (it {}), then not in {} plays",
            words::seen(&seen),
            REPLAYS - 1
        );
        return said(case, Verdict::Inconclusive, reason, Some(seen));
    }
    let reason = format!("in 1 of {REPLAYS} plays {}", verdict::reason(case, &seen));
    wrong_for(case, target, reason, seen)
}

fn wrong_for(case: &Case, target: &Target, reason: String, seen: Observation) -> Outcome {
    let risk = breach::risk(case, &seen, &target.baseline);
    Outcome {
        risk: Some(risk),
        ..said(case, Verdict::Wrong, reason, Some(seen))
    }
}

fn said(case: &Case, verdict: Verdict, reason: String, seen: Option<Observation>) -> Outcome {
    Outcome {
        case: case.clone(),
        verdict,
        reason: Some(reason),
        risk: None,
        seen,
    }
}

/// Why the case cannot be played, if it cannot.
fn unmet(case: &Case, target: &Target, options: &Options) -> Option<String> {
    let need = case.needs.iter().find(|need| match need {
        Need::Post => target.values.post.is_none(),
        Need::Echo => !target.echo,
        Need::Slow => !options.slow,
    })?;
    match (need, &target.post_refused) {
        (Need::Post | Need::Echo, Some(why)) => Some(why.clone()),
        _ => Some(format!("needs {need}")),
    }
}

fn judged(case: &Case, target: &Target, timing: Timing) -> std::io::Result<(Verdict, Observation)> {
    let cuts: Vec<Option<usize>> = if case.at_every_byte {
        (1..script::first_send_length(case, target))
            .map(Some)
            .collect()
    } else {
        vec![None]
    };
    let mut worst: Option<(Verdict, Observation)> = None;
    for cut in cuts {
        let seen = script::play(case, target, timing, cut)?;
        let verdict = verdict::judge(case, &seen, &target.baseline);
        if worst.as_ref().is_none_or(|(before, _)| verdict > *before) {
            worst = Some((verdict, seen));
        }
        if verdict == Verdict::Wrong {
            break;
        }
    }
    Ok(worst.expect("a case has at least one play"))
}

/// A plain request on a fresh connection, with a second chance for a server that restarts, or one
/// that is just going and still lets a connection in.
fn revival(target: &Target) -> Alive {
    let end = Instant::now() + Duration::from_secs(1);
    loop {
        let alive = target.alive(REVIVAL);
        if matches!(alive, Alive::Answers(_)) || Instant::now() >= end {
            return alive;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn crash(case: &Case, seen: Option<Observation>, gone: &AtomicBool) -> Outcome {
    gone.store(true, Ordering::SeqCst);
    let reason = "the server stopped listening while this case was played; if several cases say so, \
                  play them one by one with --only";
    Outcome {
        case: case.clone(),
        verdict: Verdict::Crash,
        reason: Some(reason.into()),
        risk: Some(Risk::Dangerous),
        seen,
    }
}
