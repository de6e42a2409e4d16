//! Which media types the responses to one kind of request have, at no cost for those that come again byte by byte.
//!
//! Only a response that is parsed tells its type. All right ones between two of these were recognised as equal to the known one,
//! so their type is its.

use serde::{Deserialize, Serialize};

/// The highest number of media types that are counted separately; more add no information.
const MOST: usize = 16;

/// Responses of one status and media type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaType {
    /// The status.
    pub status: u16,
    /// The media type's number, as the parser has it.
    number: u64,
    /// The media type, without parameters; `None` where none is said.
    pub name: Option<String>,
    /// How many there were.
    pub responses: u64,
}

/// All of one kind of request.
#[derive(Debug, Default)]
pub struct MediaTypes {
    /// In the order in which they were first seen.
    pub seen: Vec<MediaType>,
    /// Which of them the known response has.
    known: usize,
    /// Right responses that are accounted for.
    settled: u64,
}

impl MediaTypes {
    /// A response was parsed that has this status and the media type with this number; gives its place. `ok` right responses
    /// have come before it. It is counted, if it is one of the window.
    pub fn parsed(
        &mut self,
        ok: u64,
        (status, number): (u16, u64),
        counts: bool,
        name: impl FnOnce() -> Option<String>,
    ) -> usize {
        self.settle(ok);
        let alike = |one: &MediaType| one.status == status && one.number == number;
        let place = self.seen.iter().position(alike).unwrap_or_else(|| {
            if self.seen.len() < MOST {
                self.seen.push(MediaType {
                    status,
                    number,
                    name: (number != 0).then(name).flatten(),
                    responses: 0,
                });
            }
            self.seen.len() - 1
        });
        self.seen[place].responses += u64::from(counts);
        place
    }

    /// The parsed response was looked at; `ok` right ones have come with it. It is the known one if it was `learned`.
    pub fn looked_at(&mut self, ok: u64, learned: Option<usize>) {
        self.settled = ok;
        self.known = learned.unwrap_or(self.known);
    }

    /// `ok` right responses have come: those not counted yet were like the known one.
    pub fn settle(&mut self, ok: u64) {
        if let Some(known) = self.seen.get_mut(self.known) {
            known.responses += ok - self.settled;
        }
        self.settled = ok;
    }

    /// Adds what was counted in another turn.
    pub fn absorb(&mut self, other: &Self) {
        for theirs in &other.seen {
            let alike =
                |own: &&mut MediaType| own.status == theirs.status && own.number == theirs.number;
            match self.seen.iter_mut().find(alike) {
                Some(own) => own.responses += theirs.responses,
                None => self.seen.push(theirs.clone()),
            }
        }
    }

    /// Forgets the counts. What is known stays known.
    pub fn clear(&mut self) {
        self.seen.iter_mut().for_each(|one| one.responses = 0);
        self.settled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(types: &MediaTypes) -> Vec<u64> {
        types.seen.iter().map(|one| one.responses).collect()
    }

    #[test]
    fn responses_between_two_parsed_ones_are_like_the_known_one() {
        let mut types = MediaTypes::default();
        let plain = types.parsed(0, (200, 7), true, || Some("text/plain".to_owned()));
        types.looked_at(1, Some(plain));
        // 99 more like it, then one of another type, which is right as well and not learned.
        types.parsed(100, (200, 8), true, || Some("text/html".to_owned()));
        types.looked_at(101, None);
        types.settle(151);
        assert_eq!(counts(&types), [150, 1]);
        assert_eq!(types.seen[1].name.as_deref(), Some("text/html"));
    }

    #[test]
    fn a_turn_adds_to_what_is_kept_and_what_is_known_stays_known() {
        let (mut turn, mut kept) = (MediaTypes::default(), MediaTypes::default());
        let plain = turn.parsed(0, (200, 7), false, || None);
        turn.looked_at(0, Some(plain));
        for _ in 0..2 {
            turn.settle(10);
            kept.absorb(&turn);
            turn.clear();
        }
        assert_eq!((counts(&kept), counts(&turn)), (vec![20], vec![0]));
    }

    #[test]
    fn no_more_than_a_few_are_told_apart() {
        let mut types = MediaTypes::default();
        for number in 0..100 {
            types.parsed(0, (200, number), true, || None);
        }
        assert_eq!(counts(&types).len(), MOST);
        assert_eq!(counts(&types).iter().sum::<u64>(), 100);
    }
}
