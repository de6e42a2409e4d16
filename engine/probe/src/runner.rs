//! Plays many cases, some at a time, and keeps an eye on the server's life.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::breach;
use crate::case::{Case, Cut, Need};
use crate::control::{self, Found, Loss, LossKind, Watch};
use crate::observation::Observation;
use crate::risk::Risk;
use crate::script::{self, Timing};
use crate::target::Target;
use crate::verdict::{self, Verdict};
use crate::words;

/// How a run goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Cases played at the same time, those that mostly wait apart.
    pub jobs: usize,
    /// Whether cases that need much time are played.
    pub slow: bool,
    /// Whether cases are played that send methods which may change data.
    pub unsafe_methods: bool,
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
            unsafe_methods: false,
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
/// Most plays of a case behind which plain requests were refused for a moment.
const CLOUDED: usize = 3;

/// Plays the cases: their outcomes in the same order, and how the service was lost if it was. `progress` is called for each.
///
/// Cases that may change the probed resource come last, so that the others find it as it was.
pub fn run(
    cases: &[Case],
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(&Outcome) + Sync),
) -> (Vec<Outcome>, Option<Loss>) {
    let results: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; cases.len()]);
    let watch = Watch::default();
    let play = |index: usize| {
        let outcome = run_case(&cases[index], target, options, &watch);
        progress(&outcome);
        results.lock().expect("no panic holds the results")[index] = Some(outcome);
    };
    let (mut last, first): (Vec<_>, Vec<_>) =
        (0..cases.len()).partition(|&index| cases[index].may_change_resource());
    last.sort_by_key(|&index| cases[index].deletes());
    play_all(cases, first, options.jobs, &play);
    // One at a time, so that it is clear which of them has changed the resource.
    play_all(cases, last, 1, &play);
    let results = results.into_inner().expect("no panic holds the results");
    let outcomes = results
        .into_iter()
        .map(|outcome| outcome.expect("every case was taken from a queue"))
        .collect();
    (outcomes, watch.loss())
}

/// Plays these cases, as many at a time as may be.
fn play_all(cases: &[Case], indices: Vec<usize>, jobs: usize, play: &(dyn Fn(usize) + Sync)) {
    let (slow, quick): (Vec<_>, Vec<_>) =
        indices.into_iter().partition(|&index| waits(&cases[index]));
    let slow_jobs = slow.len().min(WAITING_JOBS);
    let slow = Mutex::new(VecDeque::from(slow));
    let quick = Mutex::new(VecDeque::from(quick));
    let work = |queue: &Mutex<VecDeque<usize>>| {
        while let Some(index) = { queue.lock().expect("no panic holds the queue").pop_front() } {
            play(index);
        }
    };
    thread::scope(|scope| {
        for _ in 0..slow_jobs {
            scope.spawn(|| work(&slow));
        }
        for _ in 0..jobs.max(1) {
            scope.spawn(|| work(&quick));
        }
    });
}

fn waits(case: &Case) -> bool {
    case.patience_s.is_some_and(|seconds| seconds > WAITING)
}

fn run_case(case: &Case, target: &Target, options: &Options, watch: &Watch) -> Outcome {
    let target = &*target.for_case(case);
    if let Some(why) = unmet(case, target, options) {
        return outcome(case, Verdict::NotApplicable, why, None);
    }
    if options
        .stop
        .is_some_and(|stop| stop.load(Ordering::Relaxed))
    {
        return outcome(
            case,
            Verdict::Inconclusive,
            "the run was interrupted before this case".into(),
            None,
        );
    }
    if let Some(loss) = watch.loss() {
        let reason = format!("not played: since the case {} {}", loss.after, loss.what);
        return outcome(case, Verdict::Inconclusive, reason, None);
    }
    watch.begins(case);
    let outcome = play(case, target, options, watch);
    watch.ends(case);
    outcome
}

/// One play of a case, and what the control request behind it says of it.
enum Play {
    /// The service is as it was: the verdict counts. With the seconds that the control request took.
    Sound(Verdict, Box<Observation>, f64),
    /// The verdict does not count; this is the outcome.
    Void(Box<Outcome>),
}

fn play(case: &Case, target: &Target, options: &Options, watch: &Watch) -> Outcome {
    let (first, seen, plain_s) = match attempt(case, target, options.timing, watch) {
        Play::Sound(verdict, seen, plain_s) => (verdict, *seen, plain_s),
        Play::Void(outcome) => return *outcome,
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
    if verdict::undecided(case, &seen, &target.baseline) && plain_s > patience / 4.0 {
        let reason = format!(
            "the server is slower than the probe's patience: a plain GET took {plain_s:.2} s"
        );
        return outcome(case, Verdict::Inconclusive, reason, Some(seen));
    }
    confirm(case, target, options, seen, watch)
}

/// Plays a case and asks for the service's state behind it; again, and alone, where the service failed for a moment.
fn attempt(case: &Case, target: &Target, timing: Timing, watch: &Watch) -> Play {
    let mut failure = (LossKind::Refuses, String::new());
    for plays in 0..CLOUDED {
        let _alone = (plays > 0).then(|| watch.alone.write().expect("no panic holds it"));
        let _among =
            (plays == 0 && !waits(case)).then(|| watch.alone.read().expect("no panic holds it"));
        let target = match watch.body_changed() {
            true => &Cow::Owned(target.clone().without_body()),
            false => &Cow::Borrowed(target),
        };
        let judged = judged(case, target, timing);
        let found = watch.control(target, case);
        let reason = match (&found, &judged) {
            (Found::Sound(_), Err(error)) => format!("no connection: {error}"),
            (Found::Mute, _) => {
                let seconds = control::PATIENCE.as_secs();
                format!(
                    "after this case the server left a plain GET without an answer for {seconds} s"
                )
            }
            _ => String::new(),
        };
        match (found, judged) {
            (Found::Sound(plain_s), Ok((verdict, seen))) => {
                return Play::Sound(verdict, Box::new(seen), plain_s);
            }
            (Found::Late(kind, what), _) => failure = (kind, what),
            (Found::Lost(loss), judged) => {
                let seen = judged.ok().map(|(_, seen)| seen);
                return Play::Void(Box::new(lost(case, &loss, watch, seen)));
            }
            (_, judged) => {
                let seen = judged.ok().map(|(_, seen)| seen);
                return Play::Void(Box::new(outcome(case, Verdict::Inconclusive, reason, seen)));
            }
        }
    }
    let (kind, what) = failure;
    Play::Void(Box::new(match kind {
        LossKind::Gone => {
            let reason =
                format!("in each of {CLOUDED} plays {what} behind this case, and later it did");
            crash(case, reason, None)
        }
        LossKind::Refuses => {
            let loss = watch.lose(case, kind, format!("{what}, again and again"));
            lost(case, &loss, watch, None)
        }
    }))
}

/// What is said of a case that was being played when the service was lost. If it died, the case behind which that showed first
/// has crashed it, or one that was played at the same time. Nothing is wrong in any other case.
fn lost(case: &Case, loss: &Loss, watch: &Watch, seen: Option<Observation>) -> Outcome {
    let others = watch.others(case);
    if loss.after != case.id {
        let reason = format!("since the case {} {}", loss.after, loss.what);
        return outcome(case, Verdict::Inconclusive, reason, seen);
    }
    if loss.kind == LossKind::Refuses {
        let reason = format!("after this case {}", loss.what);
        return outcome(case, Verdict::Inconclusive, reason, seen);
    }
    let reason = format!("the server stopped listening while this case was played{others}");
    crash(case, reason, seen)
}

fn crash(case: &Case, reason: String, seen: Option<Observation>) -> Outcome {
    Outcome {
        risk: Some(Risk::Dangerous),
        ..outcome(case, Verdict::Crash, reason, seen)
    }
}

/// Plays a case that looked wrong again, with more patience: a busy machine must not make a server
/// look wrong. Silence has to show twice. A wrong answer or a close is the server's own doing, so
/// once is enough, and an intermittent fault is reported with its count.
fn confirm(
    case: &Case,
    target: &Target,
    options: &Options,
    first: Observation,
    watch: &Watch,
) -> Outcome {
    let calm = Timing {
        settle: options.timing.settle * 2,
        linger: options.timing.linger * 3 / 2,
        patience: options.timing.patience * 3 / 2,
    };
    let mut wrong = vec![first];
    for plays in 2..=REPLAYS {
        let (verdict, again) = match attempt(case, target, calm, watch) {
            Play::Sound(verdict, again, _) => (verdict, *again),
            Play::Void(outcome) => return *outcome,
        };
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
        return outcome(case, Verdict::Inconclusive, reason, Some(seen));
    }
    let reason = format!("in 1 of {REPLAYS} plays {}", verdict::reason(case, &seen));
    wrong_for(case, target, reason, seen)
}

fn wrong_for(case: &Case, target: &Target, reason: String, seen: Observation) -> Outcome {
    let risk = breach::risk(case, &seen, &target.baseline);
    Outcome {
        risk: Some(risk),
        ..outcome(case, Verdict::Wrong, reason, Some(seen))
    }
}

fn outcome(case: &Case, verdict: Verdict, reason: String, seen: Option<Observation>) -> Outcome {
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
        Need::Content => !target.has_content(),
        Need::FrameLimit => target.values.limits.frame > 4 << 20,
        Need::StreamLimit => target.values.limits.streams > 1000,
        Need::Slow => !options.slow,
        Need::Unsafe => !options.unsafe_methods,
    })?;
    match (need, &target.post_refused) {
        (Need::Post | Need::Echo, Some(why)) => Some(why.clone()),
        _ => Some(format!("needs {need}")),
    }
}

fn judged(case: &Case, target: &Target, timing: Timing) -> std::io::Result<(Verdict, Observation)> {
    let length = script::first_send_length(case, target);
    let cuts: Vec<Option<usize>> = match case.cut {
        Cut::Never => vec![None],
        Cut::AtEveryByte => (1..length).map(Some).collect(),
        // A server that counts what has come in so far refuses the second form or the third.
        Cut::InTwo => vec![None, Some(length / 2), Some(length - 1)],
    };
    let served = |seen: &Observation| {
        let status = seen.reading.finals.first().map(|response| response.status);
        status == Some(target.baseline.status)
    };
    let mut worst: Option<(Verdict, Observation)> = None;
    let mut first: Option<Observation> = None;
    for cut in cuts {
        let mut seen = script::play(case, target, timing, cut)?;
        let mut verdict = verdict::judge(case, &seen, &target.baseline);
        if case.cut == Cut::InTwo {
            let first = first.get_or_insert_with(|| seen.clone());
            if verdict != Verdict::Wrong && served(first) != served(&seen) {
                verdict = Verdict::Wrong;
                seen.in_one_piece = Some(words::seen(first));
            }
        }
        if worst.as_ref().is_none_or(|(before, _)| verdict > *before) {
            worst = Some((verdict, seen));
        }
        if verdict == Verdict::Wrong {
            break;
        }
    }
    Ok(worst.expect("a case has at least one play"))
}
