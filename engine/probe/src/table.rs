//! The report for people: a summary, and a line for each case that is wrong.

use std::fmt::Write as _;

use crate::case::Level;
use crate::report::{Counts, Report};
use crate::verdict::Verdict;

/// Renders the report.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let post = report
        .post_path
        .as_deref()
        .map_or(String::new(), |path| format!(", POST {path}"));
    line(
        &mut out,
        &format!("{}  GET {}{post}", report.url, report.path),
    );
    line(
        &mut out,
        &format!(
            "{} cases in {:.1} s",
            report.counts.total, report.duration_s
        ),
    );
    line(&mut out, "");
    line(&mut out, &format!("{:<14}{HEADER}", "level"));
    for level in Level::ALL {
        if let Some(counts) = report.levels.get(&level.to_string()) {
            line(&mut out, &format!("{level:<14}{}", row(counts)));
        }
    }
    line(&mut out, &format!("{:<14}{}", "all", row(&report.counts)));
    line(&mut out, "");
    line(&mut out, &format!("{:<14}{HEADER}", "category"));
    for (category, levels) in &report.categories {
        line(
            &mut out,
            &format!("{category:<14}{}", row(&sum(levels.values()))),
        );
    }
    for (verdict, title) in [
        (Verdict::Crash, "Crashes"),
        (Verdict::Wrong, "Wrong"),
        (Verdict::Inconclusive, "Inconclusive"),
    ] {
        section(&mut out, report, verdict, title);
    }
    if report.counts.not_applicable > 0 {
        line(&mut out, "");
        let hint = "cases are not applicable; --post-path and --slow open them";
        line(
            &mut out,
            &format!("{} {hint}.", report.counts.not_applicable),
        );
    }
    if report.counts.breaches() > 0 {
        line(&mut out, "");
        line(
            &mut out,
            "`probe URL --explain ID` shows a case whole: the rule, what was sent, what came back.",
        );
    }
    out
}

const HEADER: &str = " total  right  tolerated  wrong  crash  inconclusive  not applicable";

fn row(counts: &Counts) -> String {
    format!(
        "{:>6} {:>6} {:>10} {:>6} {:>6} {:>13} {:>15}",
        counts.total,
        counts.right,
        counts.tolerated,
        counts.wrong,
        counts.crash,
        counts.inconclusive,
        counts.not_applicable
    )
}

fn sum<'a>(parts: impl Iterator<Item = &'a Counts>) -> Counts {
    parts.fold(Counts::default(), |all, part| Counts {
        total: all.total + part.total,
        right: all.right + part.right,
        tolerated: all.tolerated + part.tolerated,
        wrong: all.wrong + part.wrong,
        crash: all.crash + part.crash,
        inconclusive: all.inconclusive + part.inconclusive,
        not_applicable: all.not_applicable + part.not_applicable,
    })
}

fn section(out: &mut String, report: &Report, verdict: Verdict, title: &str) {
    let mut cases: Vec<_> = report
        .cases
        .iter()
        .filter(|case| case.verdict == verdict)
        .collect();
    if cases.is_empty() {
        return;
    }
    cases.sort_by_key(|case| case.level);
    line(out, "");
    line(out, &format!("{title}:"));
    for case in cases {
        let reason = case.reason.as_deref().unwrap_or_default();
        line(
            out,
            &format!(
                "  {:<6} {:<36} {:<15} {reason}",
                case.level.to_string(),
                case.id,
                case.section
            ),
        );
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string");
}
