//! Outcomes and observations in words, for people.

use crate::h2::signal;
use crate::observation::{Ending, Observation};
use crate::outcome::{Condition, End, Item, Outcome, Status};
use crate::response::Tail;

/// What a server does in an allowed outcome, such as `answers 400 and closes the connection`.
pub fn allowed(outcome: &Outcome) -> String {
    let mut answers = Runs::default();
    for item in &outcome.items {
        match item {
            Item::Final(statuses, conditions) => answers.add(final_words(statuses, conditions)),
            Item::Interim(code) => answers.add(format!("{code} in the interim")),
            Item::Rest => answers.add("whatever else".into()),
            Item::Raw => answers.add("octets that are no response".into()),
        }
    }
    let interim = if outcome.no_interim {
        ", without an interim response"
    } else {
        ""
    };
    let answer = answers.text();
    if !outcome.signals.is_empty() {
        let mut parts = Vec::new();
        if !answer.is_empty() {
            parts.push(format!("answers {answer}"));
        }
        parts.extend(outcome.signals.iter().map(signal::allowed));
        parts.extend(outcome.end.map(|end| match end {
            End::Open => "keeps the connection open".into(),
            End::Closed => "closes it".into(),
        }));
        return parts.join(" and ");
    }
    match (answer.is_empty(), outcome.end) {
        (true, Some(End::Closed)) => "closes the connection without a response".into(),
        (true, _) => "gives no response and waits".into(),
        (false, Some(End::Closed)) => {
            format!("answers {answer}{interim} and closes the connection")
        }
        (false, Some(End::Open)) => {
            format!("answers {answer}{interim} and keeps the connection open")
        }
        (false, None) => format!("answers {answer}{interim}"),
    }
}

/// Several outcomes, of which one has to come about.
pub fn any_of(outcomes: &[Outcome]) -> String {
    let mut words: Vec<String> = Vec::new();
    for outcome in outcomes {
        let text = allowed(outcome);
        if !words.contains(&text) {
            words.push(text);
        }
    }
    words.join(", or ")
}

/// What the server did, such as `answered 200, then 400, and closed the connection`.
pub fn seen(seen: &Observation) -> String {
    let did = did(seen);
    match &seen.in_one_piece {
        Some(whole) => {
            format!("{did} when the message came in two pieces, and {whole} when it came in one")
        }
        None => did,
    }
}

fn did(seen: &Observation) -> String {
    let reading = &seen.reading;
    let mut answers = Runs::default();
    for at in 0..=reading.finals.len() {
        for (_, interim) in reading.interim.iter().filter(|(before, _)| *before == at) {
            answers.add(format!("{} in the interim", interim.status));
        }
        if let Some(response) = reading.finals.get(at) {
            answers.add(response.status.to_string());
        }
    }
    match &reading.tail {
        Tail::Nothing => {}
        Tail::Partial => answers.add("an unfinished response".into()),
        Tail::Garbled(why) => answers.add(format!("stray octets ({why})")),
    }
    let answer = answers.text();
    let mut said = signal::seen(&reading.signals);
    if !said.is_empty() {
        if !answer.is_empty() {
            said.insert(0, format!("answered {answer}"));
        }
        said.push(match seen.ending {
            Ending::Open => "kept the connection open".into(),
            Ending::Closed => "closed the connection".into(),
            Ending::Reset => "reset the connection".into(),
            Ending::Abandoned => "the probe went away".into(),
        });
        return said.join(", ");
    }
    match (answer.is_empty(), seen.ending) {
        (true, Ending::Open) => "gave no response and kept the connection open".into(),
        (true, Ending::Closed) => "closed the connection without a response".into(),
        (true, Ending::Reset) => "reset the connection without a response".into(),
        (true, Ending::Abandoned) => "gave no response before the probe went away".into(),
        (false, Ending::Open) => format!("answered {answer} and kept the connection open"),
        (false, Ending::Closed) => format!("answered {answer} and closed the connection"),
        (false, Ending::Reset) => format!("answered {answer} and reset the connection"),
        (false, Ending::Abandoned) => format!("answered {answer} before the probe went away"),
    }
}

/// Items in order, equal ones in a row counted.
#[derive(Default)]
struct Runs(Vec<(String, usize)>);

impl Runs {
    fn add(&mut self, text: String) {
        match self.0.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            _ => self.0.push((text, 1)),
        }
    }

    fn text(&self) -> String {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(text, count)| match count {
                1 => text.clone(),
                2 => format!("{text} twice"),
                _ => format!("{text} {count} times"),
            })
            .collect();
        parts.join(", then ")
    }
}

fn final_words(statuses: &[Status], conditions: &[Condition]) -> String {
    let statuses: Vec<String> = statuses
        .iter()
        .map(|status| match status {
            Status::Ok => "as to a plain GET".into(),
            Status::Any => "with any status".into(),
            Status::Exact(code) => code.to_string(),
            Status::Class(class) => format!("{class}xx"),
        })
        .collect();
    let mut text = statuses.join(" or ");
    if !conditions.is_empty() {
        let conditions: Vec<String> = conditions.iter().map(condition).collect();
        text = format!("{text} ({})", conditions.join(", "));
    }
    text
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Present(name) => format!("with {name}"),
        Condition::Absent(name) => format!("without {name}"),
        Condition::Token(name, token) => format!("with {name}: {token}"),
        Condition::Date => "with a current Date".into(),
        Condition::LengthOfGet => "with the Content-Length of GET".into(),
        Condition::Body(true) => "with content".into(),
        Condition::Body(false) => "without content".into(),
        Condition::BodyIs(text) => format!("with the content {text:?}"),
        Condition::BodyHolds(text, true) => format!("with {text:?} in its content"),
        Condition::BodyHolds(text, false) => format!("without {text:?} in its content"),
        Condition::Version(version) => format!("as HTTP/{version}"),
        Condition::SelfFramed => "with its length stated once".into(),
        Condition::ValidFields => "with valid fields".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_becomes_words() {
        for (line, words) in [
            ("400 closed", "answers 400 and closes the connection"),
            ("none closed", "closes the connection without a response"),
            ("none open", "gives no response and waits"),
            (
                "2xx ok open",
                "answers 2xx, then as to a plain GET and keeps the connection open",
            ),
            ("400|501", "answers 400 or 501"),
            (
                "ok*3 -1xx",
                "answers as to a plain GET 3 times, without an interim response",
            ),
            ("+100 2xx", "answers 100 in the interim, then 2xx"),
            (
                "405[allow; body=empty] closed",
                "answers 405 (with allow, without content) and closes the connection",
            ),
        ] {
            assert_eq!(allowed(&Outcome::parse(line).unwrap()), words, "{line}");
        }
    }
}
