//! Loads case files: those embedded in the binary, or those of a folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use touchstone_tls::Protocol;

use crate::case::{Case, Cut, Level, Need, Step};
use crate::method;
use crate::outcome::Outcome;
use crate::requirement::Requirement;
use crate::template::{self, Values};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Why the cases cannot be used. Every form names the file, and the case where there is one.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not TOML, or has a field that no case has.
    #[error("{file}: {source}")]
    Syntax {
        /// The file's name.
        file: String,
        /// The parser's reason, with the line.
        source: Box<toml::de::Error>,
    },
    /// A case contradicts itself or the model.
    #[error("{file}: case {id}: {what}")]
    Case {
        /// The file's name.
        file: String,
        /// The case.
        id: String,
        /// What is wrong, and what to write.
        what: String,
    },
    /// A requirement lacks its section or its sentence.
    #[error("{file}: requirement {id}: {what}")]
    Requirement {
        /// The file's name.
        file: String,
        /// The requirement.
        id: String,
        /// What is wrong, and what to write.
        what: String,
    },
    /// There is no case at all.
    #[error("no case files (*.toml) in {0}")]
    Empty(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    category: String,
    #[serde(default)]
    case: Vec<RawCase>,
    #[serde(default)]
    requirement: BTreeMap<String, Requirement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    id: String,
    requirement: String,
    section: String,
    level: Level,
    why: String,
    #[serde(default)]
    needs: Vec<Need>,
    patience: Option<f64>,
    #[serde(default)]
    cut: Cut,
    #[serde(default)]
    bare: bool,
    #[serde(default)]
    about_persistence: bool,
    #[serde(default)]
    methods: Vec<String>,
    send: Option<String>,
    #[serde(default)]
    steps: Vec<RawStep>,
    right: Vec<String>,
    #[serde(default)]
    tolerated: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    send: Option<String>,
    drip: Option<String>,
    gap_ms: Option<u64>,
    pause_ms: Option<u64>,
    r#await: Option<usize>,
    await_interim: Option<usize>,
    await_reset: Option<bool>,
    await_data: Option<usize>,
    half_close: Option<bool>,
    reset: Option<bool>,
}

/// The cases of a protocol that are built in.
pub fn embedded(protocol: Protocol) -> Result<Vec<Case>, CatalogueError> {
    let texts = if protocol.is_h2() { H2 } else { H1 };
    let texts = texts.iter();
    from_texts(
        texts.map(|(name, text)| ((*name).into(), (*text).into())),
        protocol.is_h2(),
    )
}

/// The cases of a folder's `*.toml` files, in the order of the files' names.
pub fn from_folder(folder: &Path, protocol: Protocol) -> Result<Vec<Case>, CatalogueError> {
    let unreadable = |path: &Path| {
        let path = path.display().to_string();
        move |source| CatalogueError::Unreadable { path, source }
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(CatalogueError::Empty(folder.display().to_string()));
    }
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(unreadable(&path))?;
        texts.push((path.display().to_string(), text));
    }
    from_texts(texts.into_iter(), protocol.is_h2())
}

fn from_texts(
    texts: impl Iterator<Item = (String, String)>,
    http2: bool,
) -> Result<Vec<Case>, CatalogueError> {
    let mut files = Vec::new();
    let mut requirements = HashMap::new();
    for (file, text) in texts {
        let mut parsed: File = toml::from_str(&text).map_err(|source| CatalogueError::Syntax {
            file: file.clone(),
            source: Box::new(source),
        })?;
        for (id, requirement) in std::mem::take(&mut parsed.requirement) {
            let known = state(&id, requirement).map_err(|what| CatalogueError::Requirement {
                file: file.clone(),
                id: id.clone(),
                what,
            })?;
            requirements.insert(id, Arc::new(known));
        }
        files.push((file, parsed));
    }
    let mut cases: Vec<Case> = Vec::new();
    let mut ids = HashSet::new();
    let mut levels: HashMap<String, (Level, String)> = HashMap::new();
    for (file, parsed) in files {
        for raw in parsed.case {
            let id = raw.id.clone();
            let built = build(raw, &parsed.category, &requirements, http2);
            let case = built.map_err(|what| CatalogueError::Case {
                file: file.clone(),
                id: id.clone(),
                what,
            })?;
            if !ids.insert(id.clone()) {
                let what = "a second case has this id; ids are unique over all files".into();
                return Err(CatalogueError::Case { file, id, what });
            }
            let (level, first) = levels
                .entry(case.requirement.id.clone())
                .or_insert((case.level, id.clone()));
            if *level != case.level {
                let what = format!(
                    "it is {}, but {first} of the same requirement is {level}; a requirement has one level",
                    case.level
                );
                return Err(CatalogueError::Case { file, id, what });
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

/// A requirement under its name, checked.
fn state(id: &str, requirement: Requirement) -> Result<Requirement, String> {
    if !is_reference(&requirement.section) {
        return Err(format!(
            "section {:?} is not a reference such as \"RFC 9112 6.3\"",
            requirement.section
        ));
    }
    if requirement.says.trim().is_empty() {
        return Err("`says` is empty; say the requirement in a sentence".into());
    }
    Ok(Requirement {
        id: id.into(),
        ..requirement
    })
}

fn build(
    raw: RawCase,
    category: &str,
    requirements: &HashMap<String, Arc<Requirement>>,
    http2: bool,
) -> Result<Case, String> {
    let requirement = requirements.get(&raw.requirement).ok_or_else(|| {
        format!(
            "no file states the requirement {:?}; add [requirement.{}] with section and says",
            raw.requirement, raw.requirement
        )
    })?;
    if !is_reference(&raw.section) {
        return Err(format!(
            "section {:?} is not a reference such as \"RFC 9112 6.3\"",
            raw.section
        ));
    }
    if raw
        .id
        .strip_prefix(category)
        .and_then(|rest| rest.strip_prefix('-'))
        .is_none_or(str::is_empty)
    {
        return Err(format!("the id has to begin with {category}-"));
    }
    if raw.why.trim().is_empty() {
        return Err("`why` is empty; say the rule in a sentence".into());
    }
    if raw
        .patience
        .is_some_and(|seconds| !(0.1..=120.0).contains(&seconds))
    {
        return Err("`patience` is in seconds, 0.1 to 120".into());
    }
    let steps = steps(raw.send, raw.steps)?;
    let waits_for_frames = |step: &Step| matches!(step, Step::AwaitReset | Step::AwaitData(_));
    if !http2 && (raw.bare || steps.iter().any(waits_for_frames)) {
        return Err("`bare`, `await_reset` and `await_data` are of HTTP/2".into());
    }
    let mut needs = raw.needs;
    if sends_unsafe(&steps, http2)? {
        needs.push(Need::Unsafe);
    }
    if raw.cut != Cut::Never && !steps.iter().any(|step| matches!(step, Step::Send(_))) {
        return Err("`cut` needs a `send` to cut".into());
    }
    if raw.right.is_empty() {
        return Err("`right` is empty; at least one outcome is right".into());
    }
    let outcomes = |lines: &[String]| -> Result<Vec<Outcome>, String> {
        lines
            .iter()
            .map(|line| Outcome::parse(line).map_err(|error| error.to_string()))
            .collect()
    };
    Ok(Case {
        right: outcomes(&raw.right)?,
        tolerated: outcomes(&raw.tolerated)?,
        id: raw.id,
        category: category.into(),
        requirement: requirement.clone(),
        section: raw.section,
        level: raw.level,
        why: raw.why,
        needs,
        patience_s: raw.patience,
        cut: raw.cut,
        http2,
        bare: raw.bare,
        about_persistence: raw.about_persistence,
        methods: raw.methods,
        steps,
    })
}

/// Whether a case with these steps sends a method that is not safe even where nothing takes a body.
fn sends_unsafe(steps: &[Step], http2: bool) -> Result<bool, String> {
    let bare = Values {
        post: None,
        ..Values::sample()
    };
    let mut stream = Vec::new();
    for step in steps {
        if let Step::Send(text) | Step::Drip(text, _) = step {
            stream.extend(template::expand(text, &bare).map_err(|error| error.to_string())?);
        }
    }
    Ok(if http2 {
        method::unsafe_in_frames(&stream)
    } else {
        method::first_unsafe(&stream).is_some()
    })
}

fn steps(send: Option<String>, steps: Vec<RawStep>) -> Result<Vec<Step>, String> {
    match (send, steps.is_empty()) {
        (Some(text), true) => Ok(vec![Step::Send(text)]),
        (None, false) => steps.into_iter().map(step).collect(),
        _ => Err("give either `send` or `steps`".into()),
    }
}

fn step(raw: RawStep) -> Result<Step, String> {
    if raw.gap_ms.is_some() && raw.drip.is_none() {
        return Err("`gap_ms` belongs to `drip`".into());
    }
    let gap = raw.gap_ms.unwrap_or(2);
    let flag = |said: Option<bool>, step| said.filter(|said| *said).map(|_| step);
    let mut found = Vec::new();
    found.extend(raw.send.map(Step::Send));
    found.extend(raw.drip.map(|text| Step::Drip(text, gap)));
    found.extend(raw.pause_ms.map(Step::Pause));
    found.extend(raw.r#await.map(Step::Await));
    found.extend(raw.await_interim.map(Step::AwaitInterim));
    found.extend(flag(raw.await_reset, Step::AwaitReset));
    found.extend(raw.await_data.map(Step::AwaitData));
    found.extend(flag(raw.half_close, Step::HalfClose));
    found.extend(flag(raw.reset, Step::Reset));
    match <[Step; 1]>::try_from(found) {
        Ok([step]) => Ok(step),
        Err(_) => Err("a step does one thing: send, drip, pause_ms, await, await_interim, await_reset, await_data, half_close or reset".into()),
    }
}

/// Whether the text is a section of one of the five RFCs, such as `RFC 9112 6.3`.
pub fn is_reference(text: &str) -> bool {
    let mut words = text.split(' ');
    let rfc = words.next() == Some("RFC")
        && matches!(
            words.next(),
            Some("9110" | "9112" | "9113" | "7541" | "3986")
        );
    let section = words.next().is_some_and(|section| {
        section.split('.').all(|part| {
            !part.is_empty() && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    rfc && section && words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<Case>, CatalogueError> {
        from_texts([("x.toml".to_owned(), text.to_owned())].into_iter(), false)
    }

    const GOOD: &str = r#"
category = "a"
[requirement.r]
section = "RFC 9112 6"
says = "So it is."
[[case]]
id = "a-b"
requirement = "r"
section = "RFC 9112 6.3"
level = "MUST"
why = "because"
send = "GET {path} HTTP/1.1\r\n\r\n"
right = ["400 closed"]
"#;

    fn with_steps(steps: &str) -> String {
        let (before, after) = GOOD.split_once("send = ").unwrap();
        let (send, after) = after.split_once('\n').unwrap();
        format!("{before}steps = [{{ send = {send} }}, {steps}]\n{after}")
    }

    #[test]
    fn a_case_is_read() {
        let cases = load(GOOD).unwrap();
        assert_eq!(
            cases[0].steps,
            [Step::Send("GET {path} HTTP/1.1\r\n\r\n".into())]
        );
        assert_eq!(cases[0].level, Level::Must);
    }

    #[test]
    fn slips_name_file_and_case() {
        let again = GOOD.split_once("[[case]]").unwrap().1;
        for (text, needle) in [
            (
                GOOD.replace("RFC 9112 6.3", "RFC 2616 1"),
                "not a reference",
            ),
            (GOOD.replace("a-b", "b"), "begin with a-"),
            (GOOD.replace("{path}", "{nix}"), "unknown placeholder"),
            (GOOD.replace("400 closed", "closed 400"), "outcome"),
            (GOOD.replace("[\"400 closed\"]", "[]"), "`right` is empty"),
            (format!("{GOOD}[[case]]{again}"), "second case"),
            (GOOD.replace("why", "reason"), "unknown field"),
            (
                GOOD.replace("= \"r\"", "= \"q\""),
                "no file states the requirement",
            ),
            (
                GOOD.replace("RFC 9112 6\"", "6\""),
                "requirement r: section",
            ),
            (
                format!(
                    "{GOOD}[[case]]{}",
                    again.replace("a-b", "a-c").replace("MUST", "MAY")
                ),
                "one level",
            ),
            (format!("{GOOD}bare = true"), "of HTTP/2"),
            (
                with_steps("{ await_reset = true }, { await_data = 3 }"),
                "of HTTP/2",
            ),
            (with_steps("{ half_close = false }"), "one thing"),
            (with_steps("{ reset = false }"), "one thing"),
            (with_steps("{ await_reset = false }"), "one thing"),
        ] {
            let error = load(&text).unwrap_err().to_string();
            assert!(error.starts_with("x.toml"), "{error}");
            assert!(error.contains(needle), "{error}");
        }
    }
}
