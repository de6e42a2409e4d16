//! The model of one conformance case, as it stands in a case file.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::requirement::Requirement;

/// How strongly the RFC asks for it (RFC 2119).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// An absolute requirement.
    Must,
    /// A requirement with room for a well-founded exception.
    Should,
    /// Left to the implementation; only gross faults are wrong.
    May,
}

impl Level {
    /// All levels, strongest first.
    pub const ALL: [Level; 3] = [Level::Must, Level::Should, Level::May];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
            Level::May => "MAY",
        })
    }
}

/// What the probed server has to offer before a case makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// A resource that takes a body by POST (`--post`).
    Post,
    /// That resource answers with the body it was sent.
    Echo,
    /// A plain GET with at least six octets of content.
    Content,
    /// HTTP/2: a limit on the length of frames that a case can pass.
    FrameLimit,
    /// HTTP/2: a limit on streams that a case can pass.
    StreamLimit,
    /// Time: the case is only played with `--slow`.
    Slow,
    /// Leave to send a method that is not safe (RFC 9110 9.2.1): the case is only played with `--unsafe`. No case file says
    /// it; it follows from what a case sends.
    #[serde(skip_deserializing)]
    Unsafe,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Post => "a resource that takes a body (--post TARGET)",
            Need::Echo => "a resource that answers with the body it was sent (--post TARGET)",
            Need::Content => "a resource with content of six octets or more",
            Need::FrameLimit => {
                "a server that takes frames of 4 MiB at most (SETTINGS_MAX_FRAME_SIZE)"
            }
            Need::StreamLimit => {
                "a server that allows 1,000 streams at most (SETTINGS_MAX_CONCURRENT_STREAMS)"
            }
            Need::Slow => "time (--slow)",
            Need::Unsafe => "leave to send a method that may change data (--unsafe)",
        })
    }
}

/// Into which pieces the first `send` of a case is cut. A cut case is played once for each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// It goes out whole.
    #[default]
    Never,
    /// In two, cut at each byte in turn.
    AtEveryByte,
    /// Whole, in two halves, and with its last byte apart. The answer has to be of one kind: served or refused.
    InTwo,
}

/// One thing the probe does on the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send these bytes at once (a template, see [`crate::template`]).
    Send(String),
    /// Send these bytes one by one, with a gap between any two, in milliseconds.
    Drip(String, u64),
    /// Do nothing but read for these milliseconds.
    Pause(u64),
    /// Wait until this number of final responses has come in all.
    Await(usize),
    /// Wait until this number of interim (1xx) responses has come in all.
    AwaitInterim(usize),
    /// HTTP/2: wait until a stream was ended by RST_STREAM.
    AwaitReset,
    /// HTTP/2: wait until this much of the content of a response that is not over has come.
    AwaitData(usize),
    /// Close the sending side (FIN).
    HalfClose,
    /// Abandon the connection with a reset (RST).
    Reset,
}

/// One case: what is sent, what is allowed, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Unique name, `<category>-<what>`.
    pub id: String,
    /// The file it comes from.
    pub category: String,
    /// Its requirement.
    pub requirement: Arc<Requirement>,
    /// The RFC and section that decide it.
    pub section: String,
    /// How strongly the section asks for it.
    pub level: Level,
    /// The rule in our own words.
    pub why: String,
    /// What the server has to offer.
    pub needs: Vec<Need>,
    /// How long the server may take after the last step, in seconds; `None` is the run's default.
    pub patience_s: Option<f64>,
    /// Whether its first `send` goes out in pieces.
    pub cut: Cut,
    /// Whether it is about HTTP/2.
    pub http2: bool,
    /// HTTP/2: whether the connection begins with the case's own octets. Otherwise the probe opens it (preface, SETTINGS,
    /// and the server's are awaited and acknowledged) before the first step.
    pub bare: bool,
    /// Whether the case is about persistence itself: a server that closes after every response gets
    /// no allowance for that.
    pub about_persistence: bool,
    /// Methods of the requests in order, so that responses to HEAD are read without a body.
    /// Requests beyond the list are GET.
    pub methods: Vec<String>,
    /// What the probe does.
    pub steps: Vec<Step>,
    /// Outcomes that are right.
    pub right: Vec<Outcome>,
    /// Outcomes that the RFC permits too, without preferring them.
    pub tolerated: Vec<Outcome>,
}

impl Case {
    /// Whether its requests are posted to a resource that takes content.
    pub fn posts(&self) -> bool {
        ["{post}", "{carrier}", "{carrier-block}"]
            .iter()
            .any(|one| self.holds(one))
    }

    /// Whether the content that it posts is the body that the resource is known to take.
    pub fn posts_own_body(&self) -> bool {
        self.holds("{body}")
    }

    /// Whether it may change the resource that is probed, and with it what the cases behind it find there.
    pub fn may_change_resource(&self) -> bool {
        self.needs.contains(&Need::Unsafe) && !self.needs.contains(&Need::Post)
    }

    /// Whether it may remove the resource that is probed.
    pub fn deletes(&self) -> bool {
        self.holds("DELETE ")
    }

    /// Whether any of its requests has content.
    pub fn has_content(&self) -> bool {
        self.texts().any(|text| {
            let text = text.to_ascii_lowercase();
            ["content-length", "transfer-encoding", "{frame:data"]
                .iter()
                .any(|one| text.contains(one))
        })
    }

    fn holds(&self, placeholder: &str) -> bool {
        self.texts().any(|text| text.contains(placeholder))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            Step::Send(text) | Step::Drip(text, _) => Some(text.as_str()),
            _ => None,
        })
    }
}
