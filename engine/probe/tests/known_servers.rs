//! The probe against servers whose faults are known: `rig` is right by default, and each of its
//! switches turns exactly the cases wrong that `rig/expected.toml` lists.

mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use rig::{Fault, Rig};
use touchstone_probe::case::Case;
use touchstone_probe::catalogue;
use touchstone_probe::dial::Dial;
use touchstone_probe::exchange::TargetError;
use touchstone_probe::runner::{self, Options, Outcome};
use touchstone_probe::target::Target;
use touchstone_probe::template::Values;
use touchstone_probe::verdict::Verdict;
use touchstone_tls::Protocol;

/// Servers probed at the same time; most of a probe's time is waiting.
const AT_ONCE: usize = 10;

/// Read once: in a debug build that takes most of a second.
static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| catalogue::embedded(Protocol::H1).expect("the cases load"));

fn meet(rig: &Rig, path: &str) -> Result<Target, TargetError> {
    let values = Values {
        host: rig.address().to_string(),
        path: path.into(),
        post: Some("/echo".into()),
        ..Values::sample()
    };
    let dial = Dial {
        address: rig.address(),
        protocol: Protocol::H1,
        tls: None,
    };
    Target::meet(dial, values, Duration::from_secs(5))
}

fn probe(fault: Option<Fault>, jobs: usize, keep: impl Fn(&Case) -> bool) -> Vec<Outcome> {
    let rig = Rig::start(fault);
    let target = meet(&rig, "/hello").expect("the rig answers plain requests");
    let cases: Vec<Case> = CASES.iter().filter(|case| keep(case)).cloned().collect();
    runner::run(
        &cases,
        &target,
        &Options {
            jobs,
            unsafe_methods: true,
            ..Options::default()
        },
        &|_| {},
    )
    .0
}

fn ids(outcomes: &[Outcome], verdict: Verdict) -> BTreeSet<String> {
    outcomes
        .iter()
        .filter(|outcome| outcome.verdict == verdict)
        .map(|outcome| outcome.case.id.clone())
        .collect()
}

/// Leaves out the cases about timeouts, which take 12 s each.
fn quick(case: &Case) -> bool {
    case.patience_s.is_none_or(|seconds| seconds < 4.0)
}

/// The cases that a server should pass and did not, with the reason of each.
fn at_fault(outcomes: &[Outcome]) -> BTreeMap<String, Option<String>> {
    let at_fault = outcomes.iter().filter(|outcome| {
        matches!(
            outcome.verdict,
            Verdict::Wrong | Verdict::Crash | Verdict::Inconclusive
        )
    });
    at_fault
        .map(|outcome| (outcome.case.id.clone(), outcome.reason.clone()))
        .collect()
}

#[test]
fn a_right_server_has_nothing_wrong() {
    let outcomes = probe(None, 16, |_| true);
    // A busy machine may be slower than the probe's patience. By themselves, the same cases come in time.
    let first = at_fault(&outcomes);
    let again = probe(None, 1, |case| first.contains_key(&case.id));
    assert!(at_fault(&again).is_empty(), "{:#?}", at_fault(&again));
    let right = ids(&outcomes, Verdict::Right).len() + ids(&again, Verdict::Right).len();
    assert!(
        right > 540,
        "only {right} cases are right; the rest is tolerated"
    );
    let idle: BTreeSet<String> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::NotApplicable)
        .map(|outcome| outcome.case.id.clone())
        .collect();
    assert!(
        idle.iter().all(|id| id.ends_with("-minute")),
        "not applicable without reason: {idle:?}"
    );
}

/// In what the verdicts on a server with this fault differ from those that are listed for it.
fn differences(fault: Fault, listed: &BTreeSet<String>, jobs: usize) -> Vec<String> {
    let outcomes = probe(Some(fault), jobs, quick);
    let wrong = ids(&outcomes, Verdict::Wrong);
    let (may, due): (BTreeSet<&str>, BTreeSet<&str>) = listed
        .iter()
        .map(String::as_str)
        .partition(|id| id.ends_with('?'));
    assert!(!due.is_empty(), "{fault:?} would show nowhere");
    let mut differences = Vec::new();
    // On a busy machine silence may stay inconclusive; it must not pass for right.
    let open = ids(&outcomes, Verdict::Inconclusive);
    for id in due
        .iter()
        .filter(|id| !wrong.contains(**id) && !open.contains(**id))
    {
        differences.push(format!("{fault:?}: {id} should be wrong"));
    }
    if wrong.is_empty() {
        differences.push(format!("{fault:?}: nothing is wrong"));
    }
    for id in wrong
        .iter()
        .filter(|id| !due.contains(id.as_str()) && !may.contains(format!("{id}?").as_str()))
    {
        differences.push(format!("{fault:?}: {id} should not be wrong"));
    }
    differences
}

#[test]
fn each_fault_turns_exactly_its_cases_wrong() {
    let expected: BTreeMap<String, BTreeSet<String>> =
        toml::from_str(include_str!("rig/expected.toml")).expect("the expectations are TOML");
    assert_eq!(
        expected.len(),
        Fault::ALL.len(),
        "a fault without expectation, or the reverse"
    );
    let listed = |fault: Fault| &expected[&format!("{fault:?}")];
    let queue = Mutex::new(Fault::ALL.iter().copied());
    let again = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fault) = { queue.lock().expect("no thread panicked").next() } {
                    if !differences(fault, listed(fault), 16).is_empty() {
                        again.lock().expect("no thread panicked").push(fault);
                    }
                }
            });
        }
    });
    // A busy machine may be slower than the probe's patience. A wrong verdict comes again when a server is probed alone.
    let again = again.into_inner().expect("no thread panicked");
    let differences: Vec<String> = again
        .into_iter()
        .flat_map(|fault| differences(fault, listed(fault), 4))
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn every_category_has_a_planted_fault() {
    let expected: BTreeMap<String, BTreeSet<String>> =
        toml::from_str(include_str!("rig/expected.toml")).expect("the expectations are TOML");
    let shown: BTreeSet<&str> = CASES
        .iter()
        .filter(|case| expected.values().any(|ids| ids.contains(&case.id)))
        .map(|case| case.category.as_str())
        .collect();
    let all: BTreeSet<&str> = CASES.iter().map(|case| case.category.as_str()).collect();
    assert_eq!(shown, all);
}

#[test]
fn a_crash_is_a_verdict_of_its_own() {
    let wanted = ["connection-close", "coding-chunked", "host-missing"];
    let keep = |case: &Case| wanted.contains(&case.id.as_str());
    let outcomes = probe(Some(Fault::DiesOfChunks), 1, keep);
    let of = |id: &str| {
        outcomes
            .iter()
            .find(|outcome| outcome.case.id == id)
            .expect("the case was played")
            .verdict
    };
    assert_eq!(of("coding-chunked"), Verdict::Crash);
    assert_eq!(
        of("connection-close"),
        Verdict::Inconclusive,
        "it comes after the crash"
    );
    assert_eq!(
        of("host-missing"),
        Verdict::Inconclusive,
        "it comes after the crash"
    );
}

#[test]
fn a_server_without_the_resource_is_not_probed() {
    let rig = Rig::start(None);
    let error = meet(&rig, "/nowhere")
        .expect_err("404 is not a plain answer")
        .to_string();
    assert!(
        error.contains("404") && error.contains("in the URL"),
        "{error}"
    );
}
