//! Properties that hold for every input: of the schedule, the histogram and the templates.

use proptest::prelude::*;
use touchstone_load::clock::{Nanos, nanos};
use touchstone_load::histogram::{Histogram, Packed};
use touchstone_load::job::{Arrivals, Job, Loop, Step};
use touchstone_load::schedule::{Schedule, offered_rate, quantise};

fn open(rate: f64, arrivals: Arrivals, seed: u64) -> Job {
    let mut job = Job::for_url("http://127.0.0.1:1");
    (job.arrival, job.duration_s, job.seed) = (Loop::Open { rate, arrivals }, 1.0, seed);
    job
}

fn all(job: &Job, share: u32, shares: u32, limit: Option<u64>) -> Vec<Nanos> {
    let mut schedule = Schedule::new(job, share, shares, limit).unwrap();
    std::iter::from_fn(|| schedule.take(Nanos::MAX)).collect()
}

proptest! {
    #[test]
    fn uniform_arrivals_are_as_many_as_the_rate_says_and_evenly_spaced(rate in 1.0f64..50_000.0) {
        let times = all(&open(rate, Arrivals::Uniform, 1), 0, 1, None);
        prop_assert!((times.len() as f64 - rate).abs() <= 1.0);
        let gap = 1e9 / rate;
        prop_assert!(times.windows(2).all(|pair| ((pair[1] - pair[0]).0 as f64 - gap).abs() <= 2.0));
    }

    #[test]
    fn poisson_arrivals_rise_and_follow_from_the_seed(rate in 500.0f64..20_000.0, seed: u64) {
        let job = open(rate, Arrivals::Poisson, seed);
        let times = all(&job, 0, 1, None);
        prop_assert_eq!(&times, &all(&job, 0, 1, None));
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        // Six standard deviations.
        prop_assert!((times.len() as f64 - rate).abs() <= 6.0 * rate.sqrt());
    }

    #[test]
    fn shares_of_a_uniform_schedule_make_up_the_whole(rate in 10.0f64..5_000.0, shares in 1u32..8) {
        let job = open(rate, Arrivals::Uniform, 1);
        let mut parts: Vec<Nanos> = (0..shares).flat_map(|share| all(&job, share, shares, None)).collect();
        parts.sort_unstable();
        let whole = all(&job, 0, 1, None);
        prop_assert_eq!(parts.len(), whole.len());
        prop_assert!(parts.iter().zip(&whole).all(|(part, whole)| part.0.abs_diff(whole.0) <= 2));
    }

    #[test]
    fn steps_and_ramps_offer_what_they_say(rates in proptest::collection::vec(1.0f64..3_000.0, 1..5), to in 0.0f64..3_000.0) {
        let mut job = open(1.0, Arrivals::Uniform, 1);
        let steps: Vec<Step> = rates.iter().map(|rate| Step { rate: *rate, seconds: 0.5 }).collect();
        job.arrival = Loop::Steps { steps, arrivals: Arrivals::Uniform };
        let expected: f64 = rates.iter().sum::<f64>() * 0.5;
        prop_assert!((all(&job, 0, 1, None).len() as f64 - expected).abs() <= 1.0);
        prop_assert!((offered_rate(&job).unwrap() * job.window_s() - expected).abs() < 1e-6);
        job.arrival = Loop::Ramp { from: rates[0], to, arrivals: Arrivals::Uniform };
        let times = all(&job, 0, 1, None);
        prop_assert!((times.len() as f64 - f64::midpoint(rates[0], to)).abs() <= 1.0);
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn a_limit_counts_the_measured_window_alone(rate in 100.0f64..5_000.0, limit in 1u64..50, warmup in 0.0f64..0.5) {
        let mut job = open(rate, Arrivals::Uniform, 1);
        job.warmup_s = warmup;
        let begin = nanos(warmup);
        let measured = all(&job, 0, 1, Some(limit)).into_iter().filter(|time| *time >= begin).count();
        prop_assert_eq!(measured as u64, limit);
    }

    #[test]
    fn the_queue_is_what_is_due_and_not_taken(rate in 100.0f64..5_000.0, now in 0.0f64..1.0, taken in 0usize..200) {
        let job = open(rate, Arrivals::Poisson, 3);
        let now = nanos(now);
        let due = all(&job, 0, 1, None).into_iter().filter(|time| *time <= now).count();
        let mut schedule = Schedule::new(&job, 0, 1, None).unwrap();
        let taken = (0..taken).filter(|_| schedule.take(now).is_some()).count();
        prop_assert_eq!(schedule.observe(now) as usize, due - taken);
    }

    #[test]
    fn quantising_never_sends_early_and_at_most_a_slot_late(due in 0u64..10_000_000, origin in 0u64..1_000_000, slot in 1u64..500_000) {
        let (due, slot) = (Nanos(due), Nanos(slot));
        let sent = quantise(due, Nanos(origin), slot);
        prop_assert!(sent >= due && sent - due < slot);
    }

    #[test]
    fn merging_histograms_in_any_order_is_recording_all(values in proptest::collection::vec(any::<u64>(), 0..300), parts in 1usize..6) {
        let mut whole = Histogram::default();
        let mut split = vec![Histogram::default(); parts];
        for (index, value) in values.iter().enumerate() {
            // Spread over the magnitudes.
            let value = value >> (index % 60);
            whole.record(Nanos(value));
            split[index % parts].record(Nanos(value));
        }
        let mut merged = Histogram::default();
        for part in split.iter().rev() {
            Packed::of(part).add_to(&mut merged).unwrap();
        }
        prop_assert_eq!(&merged, &whole);
        let quantiles = merged.at(&[0.0, 0.1, 0.5, 0.9, 0.999, 1.0]);
        prop_assert!(quantiles.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
