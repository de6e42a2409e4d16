//! What the probe saw in one play of a case.

use crate::response::{Reading, Tail};

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
    /// Where the first `send` was cut, for a case played at every byte.
    pub cut: Option<usize>,
}

impl Observation {
    /// One line: statuses in order and the connection's state.
    pub fn line(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        let statuses: Vec<u16> = self
            .reading
            .finals
            .iter()
            .map(|response| response.status)
            .collect();
        let mut at = 0;
        while at < statuses.len() {
            for (_, interim) in self
                .reading
                .interim
                .iter()
                .filter(|(before, _)| *before == at)
            {
                words.push(format!("+{}", interim.status));
            }
            let mut run = 1;
            let plain = |index: usize| {
                !self
                    .reading
                    .interim
                    .iter()
                    .any(|(before, _)| *before == index)
            };
            while at + run < statuses.len() && statuses[at + run] == statuses[at] && plain(at + run)
            {
                run += 1;
            }
            words.push(if run > 1 {
                format!("{}*{run}", statuses[at])
            } else {
                statuses[at].to_string()
            });
            at += run;
        }
        for (_, interim) in self
            .reading
            .interim
            .iter()
            .filter(|(before, _)| *before == statuses.len())
        {
            words.push(format!("+{}", interim.status));
        }
        match &self.reading.tail {
            Tail::Nothing if words.is_empty() => words.push("none".into()),
            Tail::Nothing => {}
            Tail::Partial => words.push("an unfinished response".into()),
            Tail::Garbled(why) => words.push(format!("stray octets ({why})")),
        }
        words.push(
            match self.ending {
                Ending::Open => "open",
                Ending::Closed => "closed",
                Ending::Reset => "closed (reset)",
                Ending::Abandoned => "abandoned by the probe",
            }
            .into(),
        );
        words.join(" ")
    }
}
