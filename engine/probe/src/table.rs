//! The report for people: counts first, then the requirements that are broken, gravest first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::case::Level;
use crate::ledger::{Kept, RequirementReport, Standing};
use crate::report::{CaseReport, Report};
use crate::risk::Risk;
use crate::verdict::Verdict;

/// Most names of cases on a line of the short form.
const NAMED: usize = 6;

/// Renders the report; `all` tells every requirement and case, and not only what is broken.
pub fn render(report: &Report, all: bool) -> String {
    let mut out = String::new();
    heading(&mut out, report);
    summary(&mut out, report);
    let cases: BTreeMap<&str, &CaseReport> = report
        .cases
        .iter()
        .map(|case| (case.id.as_str(), case))
        .collect();
    for risk in Risk::ALL {
        let broken: Vec<_> = report
            .requirements
            .iter()
            .filter(|r| r.standing == Standing::Broken && r.risk == Some(risk))
            .collect();
        if broken.is_empty() {
            continue;
        }
        let name = risk.word();
        line(&mut out, "");
        line(&mut out, &format!("Broken, {name} ({}):", risk.meaning()));
        for requirement in broken {
            write_requirement(&mut out, requirement, &cases, all);
        }
    }
    let titles = [
        (Standing::Inconclusive, "Inconclusive"),
        (Standing::Kept, "Kept"),
        (Standing::NotApplicable, "Not applicable"),
    ];
    for (standing, title) in titles {
        let mut listed = report
            .requirements
            .iter()
            .filter(|r| r.standing == standing)
            .peekable();
        let told_anyway = standing == Standing::Inconclusive
            && report.died_in.is_none()
            && report.refused.is_none();
        if listed.peek().is_none() || !(all || told_anyway) {
            continue;
        }
        line(&mut out, "");
        line(&mut out, &format!("{title}:"));
        for requirement in listed {
            write_requirement(&mut out, requirement, &cases, all);
        }
    }
    hints(&mut out, report, all);
    out
}

fn heading(out: &mut String, report: &Report) {
    line(out, &report.url);
    if let Some(post) = &report.post {
        let state = match &post.refused {
            Some(why) => format!("{why}: the cases that need it are not applicable"),
            None if post.takes_anything => format!("POST {}", post.target),
            None => format!("POST {}, with the body given and no other", post.target),
        };
        line(out, &state);
    }
    line(
        out,
        &format!(
            "{} cases of {} requirements in {:.1} s",
            report.counts.total,
            report.requirements.len(),
            report.duration_s
        ),
    );
    let rest = report.counts.inconclusive;
    let lost = match (&report.died_in, &report.refused) {
        (Some(id), _) => {
            format!("THE SERVER DIED in the case {id}; {rest} cases are inconclusive.")
        }
        (None, Some(refused)) => {
            let after = &refused.after;
            let what = &refused.what;
            format!(
                "THE SERVICE BEGAN TO REFUSE after the case {after}: {what}; {rest} cases are inconclusive."
            )
        }
        (None, None) => String::new(),
    };
    if !lost.is_empty() {
        line(out, "");
        line(out, &lost);
    }
    line(out, "");
}

fn summary(out: &mut String, report: &Report) {
    let levels: Vec<(Level, &Kept)> = Level::ALL
        .into_iter()
        .filter_map(|level| Some((level, report.kept.get(&level.to_string())?)))
        .collect();
    let mut row = |name: &str, count: &dyn Fn(&Kept) -> usize, means: &str| {
        let mut text = format!("{name:<24}");
        for (_, kept) in &levels {
            write!(text, "{:>8}", count(kept)).expect("writing to a string");
        }
        line(out, format!("{text}   {means}").trim_end());
    };
    for risk in Risk::ALL {
        let name = format!("broken, {}", risk.word());
        row(&name, &|kept| kept.of(risk), risk.meaning());
    }
    row("kept", &|kept| kept.kept, "");
    if report.counts.inconclusive > 0 {
        row("inconclusive", &|kept| kept.inconclusive, "");
    }
    row("not applicable", &|kept| kept.not_applicable, "");
    let mut head = format!("{:<24}", "requirements");
    for (level, _) in &levels {
        write!(head, "{:>8}", level.to_string()).expect("writing to a string");
    }
    let at = out.rfind("\n\n").map_or(0, |at| at + 2);
    out.insert_str(at, &format!("{head}\n"));
    habit(out, report);
}

/// The one habit behind most unclear refusals, if there is one.
fn habit(out: &mut String, report: &Report) {
    let mut habits: BTreeMap<&str, usize> = BTreeMap::new();
    for case in report
        .cases
        .iter()
        .filter(|case| case.risk == Some(Risk::Unclear))
    {
        *habits
            .entry(case.observed.as_deref().unwrap_or_default())
            .or_default() += 1;
    }
    let all: usize = habits.values().sum();
    let most = habits.iter().max_by_key(|(_, count)| **count);
    if let Some((did, count)) = most.filter(|(_, count)| **count >= 5 && **count * 2 > all) {
        line(out, "");
        line(
            out,
            &format!("{count} of the {all} unclear refusals are one habit: it {did}."),
        );
    }
}

/// A requirement with its cases: those that are wrong, together where the server did the same.
fn write_requirement(
    out: &mut String,
    requirement: &RequirementReport,
    cases: &BTreeMap<&str, &CaseReport>,
    all: bool,
) {
    let level = requirement.level.to_string();
    line(out, &format!("  {level:<6} {}", requirement.says));
    let of = match requirement.standing {
        Standing::Broken => format!(
            "{} of {} cases wrong",
            requirement.wrong, requirement.played
        ),
        _ => format!("{} cases", requirement.cases.len()),
    };
    let id = &requirement.id;
    line(
        out,
        &format!("         {} · {id} · {of}", requirement.section),
    );
    let mut habits: Vec<(String, Vec<&str>)> = Vec::new();
    for id in &requirement.cases {
        let case = cases[id.as_str()];
        let faulty = matches!(
            case.verdict,
            Verdict::Wrong | Verdict::Crash | Verdict::Inconclusive
        );
        // After the server's death there is nothing to tell of what was not played.
        let unplayed = case.verdict == Verdict::Inconclusive && case.observed.is_none();
        if !(faulty && !unplayed || all) {
            continue;
        }
        let did = did(case, requirement.risk);
        match habits.iter_mut().find(|(known, _)| *known == did) {
            Some((_, ids)) => ids.push(id),
            None => habits.push((did, vec![id])),
        }
    }
    for (did, ids) in habits {
        let shown = if all { ids.len() } else { NAMED.min(ids.len()) };
        let more = match ids.len() - shown {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        line(
            out,
            &format!("         {did}: {}{more}", ids[..shown].join(", ")),
        );
    }
}

/// What the server did in a case, as a line begins.
fn did(case: &CaseReport, worst: Option<Risk>) -> String {
    let seen = case.observed.as_deref().unwrap_or("not played");
    match case.verdict {
        Verdict::Wrong if case.risk != worst => {
            let risk = case.risk.map_or("", Risk::word);
            format!("it {seen} ({risk})")
        }
        Verdict::Wrong => format!("it {seen}"),
        Verdict::Crash => "it died".into(),
        Verdict::Inconclusive | Verdict::NotApplicable => {
            case.reason.clone().unwrap_or_else(|| seen.into())
        }
        verdict => format!("{}, it {seen}", verdict.word()),
    }
}

fn hints(out: &mut String, report: &Report, all: bool) {
    let mut hints = Vec::new();
    if report.refused.is_some() {
        let changed = if report.r#unsafe {
            " A request of --unsafe may have removed the resource: create it again."
        } else {
            ""
        };
        hints.push(format!(
            "Lift the rate limit or the block list that this client has met, or play fewer cases with --only and --jobs 1.{changed}"
        ));
    }
    if report.left_out > 0 {
        hints.push(format!(
            "{} cases were left out because they send POST, PUT, PATCH, DELETE or another method that may change data. \
             `--unsafe` plays them: use it on a service whose data may be lost.",
            report.left_out
        ));
    }
    let others = report.counts.not_applicable - report.left_out;
    if others > 0 {
        hints.push(format!(
            "{others} cases are not applicable; --post TARGET --unsafe and --slow open more."
        ));
    }
    if report.counts.breaches() > 0 {
        hints.push(
            "`probe URL --explain ID` shows a case whole: the rule, what was sent, what came back."
                .into(),
        );
    }
    if !all {
        hints.push("`--all` shows every requirement and case.".into());
    }
    if !hints.is_empty() {
        line(out, "");
    }
    for hint in hints {
        line(out, &hint);
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string");
}
