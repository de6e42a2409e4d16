//! A timer wheel: many timers, each put in and taken out in constant time, none fired early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use touchstone_sys::clock::Nanos;

/// Length of a slot. Timers of one slot are fired each at its own time; the slot only bounds the search.
const SLOT: Nanos = Nanos(1 << 16);
/// Slots: 4,096 of 65.5 us span 268 ms. Longer timers wait in a heap.
const SLOTS: usize = 4096;
const SPAN: Nanos = Nanos(SLOT.0 * SLOTS as u64);

/// Timers with a value each.
pub struct Wheel<T> {
    slots: Vec<Vec<(Nanos, T)>>,
    /// One bit a slot that is not empty.
    occupied: [u64; SLOTS / 64],
    /// No timer in the slots is due before this.
    cursor: Nanos,
    in_slots: usize,
    far: BinaryHeap<Reverse<Far<T>>>,
}

struct Far<T> {
    due: Nanos,
    value: T,
}

impl<T> PartialEq for Far<T> {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}
impl<T> Eq for Far<T> {}
impl<T> PartialOrd for Far<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Far<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

impl<T> Wheel<T> {
    /// An empty wheel that turns from `now` on.
    pub fn new(now: Nanos) -> Self {
        Self {
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            occupied: [0; SLOTS / 64],
            cursor: now,
            in_slots: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Timers that wait.
    pub fn len(&self) -> usize {
        self.in_slots + self.far.len()
    }

    /// Puts a timer in.
    pub fn insert(&mut self, due: Nanos, value: T) {
        // What is overdue belongs into the cursor's slot, or the search would pass it by.
        let place = due.max(self.cursor);
        if place - self.cursor >= SPAN - SLOT {
            self.far.push(Reverse(Far { due, value }));
            return;
        }
        let slot = slot_of(place);
        self.slots[slot].push((due, value));
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.in_slots += 1;
    }

    /// When the next timer is due.
    pub fn next_due(&self) -> Option<Nanos> {
        let near = self
            .first_slot()
            .and_then(|slot| self.slots[slot].iter().map(|(due, _)| *due).min());
        let far = self.far.peek().map(|Reverse(far)| far.due);
        [near, far].into_iter().flatten().min()
    }

    /// Takes out all timers that are due, in the order of their times, into `fired`.
    pub fn fire(&mut self, now: Nanos, fired: &mut Vec<(Nanos, T)>) {
        let begin = fired.len();
        while let Some(slot) = self.first_slot() {
            let entries = &mut self.slots[slot];
            let before = entries.len();
            move_due(entries, now, fired);
            self.in_slots -= before - entries.len();
            if !entries.is_empty() {
                break;
            }
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
        // Nothing in the slots is due any more, so the wheel may turn up to now.
        self.cursor = self.cursor.max(now);
        while let Some(Reverse(far)) = self.far.pop() {
            if far.due <= now {
                fired.push((far.due, far.value));
            } else if far.due - now < SPAN / 2 {
                self.insert(far.due, far.value);
            } else {
                self.far.push(Reverse(far));
                break;
            }
        }
        fired[begin..].sort_by_key(|(due, _)| *due);
    }

    /// The first slot from the cursor on that holds a timer.
    fn first_slot(&self) -> Option<usize> {
        if self.in_slots == 0 {
            return None;
        }
        let start = slot_of(self.cursor);
        let first_word = start / 64;
        let words = SLOTS / 64;
        for step in 0..=words {
            let word = (first_word + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
        }
        None
    }
}

fn slot_of(at: Nanos) -> usize {
    (at.0 / SLOT.0) as usize % SLOTS
}

/// Moves the due ones out of a slot; the slot keeps its memory for the next turn.
fn move_due<T>(slot: &mut Vec<(Nanos, T)>, now: Nanos, fired: &mut Vec<(Nanos, T)>) {
    let mut at = 0;
    while at < slot.len() {
        if slot[at].0 <= now {
            fired.push(slot.swap_remove(at));
        } else {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fire(wheel: &mut Wheel<u32>, now: u64) -> Vec<(u64, u32)> {
        let mut fired = Vec::new();
        wheel.fire(Nanos(now), &mut fired);
        fired
            .into_iter()
            .map(|(due, value)| (due.0, value))
            .collect()
    }

    #[test]
    fn timers_fire_in_order_and_never_early() {
        let mut wheel = Wheel::new(Nanos(1_000));
        for (due, value) in [(30_000, 3), (10_000, 1), (20_000, 2), (500, 0)] {
            wheel.insert(Nanos(due), value);
        }
        assert_eq!(wheel.next_due(), Some(Nanos(500)));
        assert_eq!(fire(&mut wheel, 19_999), [(500, 0), (10_000, 1)]);
        assert_eq!(wheel.next_due(), Some(Nanos(20_000)));
        assert_eq!(fire(&mut wheel, 30_000), [(20_000, 2), (30_000, 3)]);
        assert_eq!((wheel.next_due(), wheel.len()), (None, 0));
    }

    #[test]
    fn long_timers_wait_their_time_and_short_ones_pass_them() {
        let mut wheel = Wheel::new(Nanos(0));
        wheel.insert(Nanos(10_000_000_000), 2);
        wheel.insert(Nanos(5_000_000), 1);
        assert_eq!(fire(&mut wheel, 5_000_000), [(5_000_000, 1)]);
        assert_eq!(wheel.next_due(), Some(Nanos(10_000_000_000)));
        assert_eq!(fire(&mut wheel, 9_999_999_999), []);
        assert_eq!(fire(&mut wheel, 10_000_000_000), [(10_000_000_000, 2)]);
    }

    #[test]
    fn against_a_sorted_list_nothing_is_lost_doubled_or_early() {
        // A small linear congruential generator (Numerical Recipes' constants): times must not depend on a run.
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut wheel = Wheel::new(Nanos(0));
        let mut model: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        for value in 0..20_000 {
            let due = now
                + random(if value % 10 == 0 {
                    2_000_000_000
                } else {
                    15_000_000
                });
            wheel.insert(Nanos(due), value);
            model.push((due, value));
            now += random(if value % 1000 == 0 {
                900_000_000
            } else {
                100_000
            });
            assert_eq!(wheel.next_due(), model.iter().map(|t| Nanos(t.0)).min());
            let mut expected: Vec<_> = model.iter().copied().filter(|t| t.0 <= now).collect();
            model.retain(|t| t.0 > now);
            let mut fired = fire(&mut wheel, now);
            assert!(fired.is_sorted_by_key(|t| t.0));
            fired.sort_unstable();
            expected.sort_unstable();
            assert_eq!(fired, expected);
        }
        assert_eq!(wheel.len(), model.len());
    }
}
