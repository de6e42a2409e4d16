//! The full description of one case.

use std::fmt::Write as _;

use crate::case::{Case, Cut, Step};
use crate::escape::escape;
use crate::runner::Outcome;
use crate::template::{self, Values};
use crate::words;

/// A case's requests, its allowed outcomes, and the reason. Placeholders are filled in from `values`.
pub fn case(case: &Case, values: &Values) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to a string");
    line(format!("{}  ({}, {})", case.id, case.level, case.section));
    line(format!("  {}", case.why));
    line(format!(
        "  belongs to  {}: {}",
        case.requirement.id, case.requirement.says
    ));
    for need in &case.needs {
        line(format!("  needs {need}"));
    }
    match case.cut {
        Cut::Never => {}
        Cut::AtEveryByte => {
            line("  played once for every octet of its first send, cut in two there".into());
        }
        Cut::InTwo => {
            line(
                "  played with its first send whole, in two halves, and with the last octet apart"
                    .into(),
            );
        }
    }
    if case.http2 && !case.bare {
        line("  open        preface and SETTINGS; the server's are awaited".into());
    }
    for step in &case.steps {
        line(match step {
            Step::Send(text) => format!("  send        {}", octets(text, values)),
            Step::Drip(text, gap) => format!(
                "  drip        {} (an octet every {gap} ms)",
                octets(text, values)
            ),
            Step::Pause(millis) => format!("  pause       {millis} ms"),
            Step::Await(count) => format!("  await       response {count}"),
            Step::AwaitInterim(count) => format!("  await       interim response {count}"),
            Step::AwaitReset => "  await       RST_STREAM".into(),
            Step::AwaitData(count) => format!("  await       {count} octets of content"),
            Step::HalfClose => "  half-close".into(),
            Step::Reset => "  reset".into(),
        });
    }
    for outcome in &case.right {
        line(format!("  right       {}", words::allowed(outcome)));
    }
    for outcome in &case.tolerated {
        line(format!("  tolerated   {}", words::allowed(outcome)));
    }
    out
}

/// What came of it.
pub fn outcome(outcome: &Outcome) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to a string");
    line(format!("  verdict     {}", outcome.verdict.word()));
    if let Some(reason) = &outcome.reason {
        line(format!("  reason      {reason}"));
    }
    if let Some(seen) = &outcome.seen {
        line(format!(
            "  observed    {} after {:.3} s",
            words::seen(seen),
            seen.seconds
        ));
        line(format!("  sent        {}", escape(&seen.sent)));
        line(format!("  received    {}", escape(&seen.received)));
        for response in seen
            .reading
            .finals
            .iter()
            .filter(|response| !response.faults.is_empty())
        {
            line(format!("  faults      {}", response.faults.join("; ")));
        }
    }
    out
}

fn octets(text: &str, values: &Values) -> String {
    template::expand(text, values).map_or_else(|error| error.to_string(), |octets| escape(&octets))
}
