//! What a sample costs: CPU microseconds a shallow and a deep one, on the process tree of a given pid.
//!
//!     cargo run --release -p touchstone-watch --example cost -- PID

use touchstone_watch::{Depth, Phase, Sampler, Target, clock::thread_cpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: cost PID")?.parse()?;
    let mut sampler = Sampler::new(&Target {
        pid,
        ..Target::default()
    })?;
    for (name, depth, rounds) in [
        ("shallow", Depth::Shallow, 1000),
        ("deep", Depth::Deep, 100),
    ] {
        let begin = thread_cpu();
        let mut last = None;
        for _ in 0..rounds {
            last = Some(sampler.sample(depth, Phase::Load));
        }
        let each = (thread_cpu() - begin).0 / rounds / 1000;
        println!(
            "{name}: {each} us of CPU each over {} processes",
            last.map_or(0, |s| s.resources.processes)
        );
    }
    Ok(())
}
