//! The cases themselves: every file loads, and the corpus is as large and as wide as promised.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use touchstone_probe::case::{Level, Need, Step};
use touchstone_probe::catalogue::{self, is_reference};
use touchstone_probe::explain;
use touchstone_probe::template::{self, Values};
use touchstone_tls::Protocol;

#[test]
fn every_file_loads_and_ids_are_unique() {
    let cases = catalogue::embedded(Protocol::H1).expect("the embedded cases load");
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len());
    assert!(cases.len() >= 250, "only {} cases", cases.len());
    for case in &cases {
        assert!(is_reference(&case.section), "{}: {}", case.id, case.section);
        assert!(
            case.why.ends_with('.'),
            "{}: the rule is a sentence: {}",
            case.id,
            case.why
        );
        assert!(
            case.id
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{}",
            case.id
        );
    }
}

#[test]
fn the_folder_is_what_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/h1");
    let loaded = catalogue::from_folder(&folder, Protocol::H1).expect("the folder loads");
    assert_eq!(
        loaded,
        catalogue::embedded(Protocol::H1).expect("the embedded cases load")
    );
}

#[test]
fn every_category_has_several_cases_and_every_level_many() {
    let mut categories: BTreeMap<String, usize> = BTreeMap::new();
    let mut levels: BTreeMap<Level, usize> = BTreeMap::new();
    for case in catalogue::embedded(Protocol::H1).expect("the embedded cases load") {
        *categories.entry(case.category).or_default() += 1;
        *levels.entry(case.level).or_default() += 1;
    }
    assert!(categories.len() >= 16, "{categories:?}");
    assert!(
        categories.values().all(|count| *count >= 10),
        "{categories:?}"
    );
    assert!(
        Level::ALL.iter().all(|level| levels[level] >= 50),
        "{levels:?}"
    );
}

#[test]
fn no_two_cases_are_the_same() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for case in catalogue::embedded(Protocol::H1).expect("the embedded cases load") {
        // The same octets are fine where another thing is asked of the answer.
        let outcomes: Vec<&str> = case
            .right
            .iter()
            .map(|outcome| outcome.text.as_str())
            .collect();
        let key = format!(
            "{:?} {:?} {:?} {outcomes:?}",
            case.steps, case.patience_s, case.cut
        );
        if let Some(other) = seen.insert(key, case.id.clone()) {
            panic!("{} and {other} do and ask the same", case.id);
        }
    }
}

#[test]
fn every_case_can_be_explained() {
    for case in catalogue::embedded(Protocol::H1).expect("the embedded cases load") {
        let text = explain::case(&case, &Values::sample());
        assert!(text.contains(&case.id) && text.contains("right"), "{text}");
    }
}

#[test]
fn announced_lengths_are_those_of_the_bodies() {
    // A slip here would make a case test something else than it says.
    let mut checked = 0;
    for case in catalogue::embedded(Protocol::H1).expect("the embedded cases load") {
        let followed = case
            .right
            .iter()
            .any(|outcome| outcome.text == "2xx ok open");
        let [Step::Send(text)] = case.steps.as_slice() else {
            continue;
        };
        let octets = template::expand(text, &Values::sample()).expect("checked when loaded");
        let Some(end) = octets.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&octets[..end]).to_ascii_lowercase();
        let Some(length) = head
            .split("content-length:")
            .nth(1)
            .and_then(|tail| tail.lines().next())
        else {
            continue;
        };
        let Ok(length) = length.trim().parse::<usize>() else {
            continue;
        };
        if followed && !head.contains("\r\ntransfer-encoding") {
            assert!(
                octets[end + 4 + length..]
                    .trim_ascii_start()
                    .starts_with(b"GET "),
                "{}: after {length} octets",
                case.id
            );
            checked += 1;
        }
    }
    assert!(checked >= 5, "only {checked} cases were checked");
}

/// What is sent without `--unsafe`, seen from outside: no method but the safe ones begins a request.
#[test]
fn only_marked_cases_send_a_method_that_is_not_safe() {
    let bare = Values {
        post: None,
        ..Values::sample()
    };
    let mut left_out = Vec::new();
    for case in catalogue::embedded(Protocol::H1).expect("the embedded cases load") {
        if case.needs.contains(&Need::Unsafe) {
            left_out.push(case.id);
            continue;
        }
        for step in &case.steps {
            let (Step::Send(text) | Step::Drip(text, _)) = step else {
                continue;
            };
            let octets = template::expand(text, &bare).expect("the template expands");
            let text = String::from_utf8_lossy(&octets);
            for word in ["POST", "PUT", "PATCH", "DELETE", "CONNECT"] {
                let sent = text.contains(&format!("{word} "));
                assert!(
                    !sent || case.needs.contains(&Need::Post),
                    "{} sends {word}",
                    case.id
                );
            }
        }
    }
    assert!(left_out.iter().any(|id| id == "method-delete"));
    println!("{left_out:?}");
    assert!(left_out.len() < 60, "{left_out:?}");
}

/// Cases of HTTP/2, as many and as wide as promised.
#[test]
fn the_cases_of_http_2_load_and_cover_every_type_of_frame() {
    let cases = catalogue::embedded(Protocol::H2c).expect("the embedded cases load");
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut seen, mut sent) = (BTreeSet::new(), String::new());
    for case in &cases {
        assert!(
            case.http2 && case.why.ends_with('.'),
            "{}: {}",
            case.id,
            case.why
        );
        *categories.entry(&case.category).or_default() += 1;
        let key = format!(
            "{:?} {:?} {:?} {:?}",
            case.steps, case.cut, case.patience_s, case.right
        );
        assert!(
            seen.insert(key),
            "{} does and asks what another does",
            case.id
        );
        sent += &format!("{:?}", case.steps);
        let text = explain::case(case, &Values::sample());
        assert!(
            text.contains("right") && !text.contains("placeholder"),
            "{text}"
        );
    }
    assert!(
        categories.values().all(|count| *count >= 5),
        "{categories:?}"
    );
    for kind in [
        "data",
        "headers",
        "priority",
        "reset",
        "settings",
        "push",
        "ping",
        "goaway",
        "window",
        "continuation",
    ] {
        assert!(
            categories.contains_key(kind) && sent.contains(&format!("frame:{kind}:")),
            "{kind}"
        );
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/h2");
    assert_eq!(
        catalogue::from_folder(&folder, Protocol::H2c).expect("the folder loads"),
        cases
    );
}

/// What each case of HTTP/2 sends without `--unsafe`, read from its frames.
#[test]
fn cases_of_http_2_send_no_method_that_is_not_safe() {
    let bare = Values {
        post: None,
        ..Values::sample()
    };
    for case in catalogue::embedded(Protocol::H2c).expect("the embedded cases load") {
        let mut stream = Vec::new();
        for step in &case.steps {
            if let Step::Send(text) | Step::Drip(text, _) = step {
                stream.extend(template::expand(text, &bare).expect("the template expands"));
            }
        }
        let plain = String::from_utf8_lossy(&stream);
        for word in ["POST", "PUT", "PATCH", "DELETE", "CONNECT"] {
            assert!(!plain.contains(word), "{} sends {word}", case.id);
        }
        assert!(!case.needs.contains(&Need::Unsafe), "{}", case.id);
    }
}
