//! The life of a process that loads a contender in its turns for a coordinator on another machine.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::crew::TurnCrew;
use super::gate::{Call, Turn};
use super::local::LocalCrew;
use super::part::ProcessTurn;
use crate::clock::now;
use crate::error::Error;
use crate::job::Job;
use crate::member::{Answer, Order, say};
use crate::mix::Mix;
use crate::target::Target;
use crate::threads::Share;

/// Follows the calls that come as lines until the last, or until the coordinator is gone.
///
/// # Errors
/// [`Error`] if its part could not be done.
pub(crate) fn follow(
    (job, target, mix): (&Job, &Target, &Mix),
    share: Share,
    lines: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Error> {
    let never = AtomicBool::new(false);
    let (mut crew, ready) = LocalCrew::start(job, target, mix, share, &never)?;
    say(output, &Answer::Ready(ready));
    for order in lines.filter_map(|line| serde_json::from_str::<Order>(&line).ok()) {
        let Order::Call(call) = order else { continue };
        match call {
            Call::Settle { origin } => {
                let established = crew.settle(origin)?;
                let clock = now();
                say(output, &Answer::Settled { established, clock });
            }
            Call::Begin(turn) => {
                std::thread::sleep(turn.begin.saturating_sub(now()).into());
                crew.enter(turn);
                say_over(&mut crew, turn, output)?;
            }
            Call::Pass => {
                let turn = crew.pass();
                say_over(&mut crew, turn, output)?;
            }
            Call::End => {
                for report in crew.end()? {
                    say(output, &Answer::Report(Box::new(report)));
                }
                return Ok(());
            }
        }
    }
    Ok(())
}

fn say_over(crew: &mut LocalCrew, turn: Turn, output: &mut impl Write) -> Result<(), Error> {
    for part in crew.finish_turn(turn)? {
        say(output, &Answer::Over(Box::<ProcessTurn>::new(part)));
    }
    Ok(())
}
