//! The most that a server takes of something, by doubling and halving.

use crate::result::{Instead, Limit};

/// One try: nothing if it was accepted, else the status of the refusal, or what came in its place.
pub(crate) type Refusal = Result<u16, Instead>;

/// The bound between `least`, which is accepted, and `most`. `refuse` tries a size.
pub(crate) fn search(
    least: u32,
    most: u32,
    mut refuse: impl FnMut(u32) -> Option<Refusal>,
) -> Limit {
    let mut limit = Limit {
        accepted: least,
        ..Limit::default()
    };
    let mut tried = least;
    while tried < most {
        tried = tried.saturating_mul(2).min(most);
        match refuse(tried) {
            None => limit.accepted = tried,
            Some(refusal) => {
                limit.note(tried, refusal);
                break;
            }
        }
    }
    while let Some(refused) = limit.refused.filter(|refused| refused - limit.accepted > 1) {
        let middle = limit.accepted + (refused - limit.accepted) / 2;
        match refuse(middle) {
            None => limit.accepted = middle,
            Some(refusal) => limit.note(middle, refusal),
        }
    }
    limit
}

impl Limit {
    fn note(&mut self, size: u32, refusal: Refusal) {
        self.refused = Some(size);
        self.status = refusal.ok();
        self.instead = refusal.err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_found_exactly_with_its_refusal() {
        for bound in [1, 2, 3, 4_095, 4_096, 4_097, 999_999] {
            let found = search(1, 1_000_000, |size| (size > bound).then_some(Ok(431)));
            assert_eq!((found.accepted, found.refused), (bound, Some(bound + 1)));
            assert_eq!((found.status, found.instead), (Some(431), None));
        }
    }

    #[test]
    fn without_a_bound_all_is_accepted() {
        let found = search(3, 1_000, |_| None);
        assert_eq!((found.accepted, found.refused), (1_000, None));
    }

    #[test]
    fn the_refusal_is_that_of_the_least_refused() {
        let refuse = |size| match size {
            ..=100 => None,
            101..=150 => Some(Ok(400)),
            _ => Some(Err(Instead::Closed)),
        };
        assert_eq!(search(1, 10_000, refuse).status, Some(400));
    }
}
