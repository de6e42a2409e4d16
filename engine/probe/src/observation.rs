//! What the probe saw in one play of a case.

use crate::response::Reading;

/// How the connection stood when the probe stopped looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Still open.
    Open,
    /// The server closed its side.
    Closed,
    /// The server reset the connection.
    Reset,
    /// The probe itself reset it: the case asks only that the server lives on.
    Abandoned,
}

/// One play of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What was sent, all steps together.
    pub sent: Vec<u8>,
    /// What came back.
    pub received: Vec<u8>,
    /// The same, read as responses.
    pub reading: Reading,
    /// The connection.
    pub ending: Ending,
    /// Seconds from the connection's start until the probe stopped looking.
    pub seconds: f64,
    /// Where the first `send` was cut, if it was.
    pub cut: Option<usize>,
    /// What the server did, in words, when the first `send` came in one piece, where that differs.
    pub in_one_piece: Option<String>,
}
