//! `touchstone-engine slices`: several contenders loaded in turn, as standard input orders.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use touchstone_load::asked::Desk;
use touchstone_load::error::Error;
use touchstone_load::slices::event::SliceEvent;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::Order;
use touchstone_load::slices::{SlicesControl, run as run_slices};

use crate::failure::{Failure, Outcome};
use crate::job::{Output, read};
use crate::load::failure;

/// Flags of `slices`.
#[derive(clap::Args)]
pub struct Args {
    /// The job as JSON. Standard input is for the orders.
    #[arg(long, value_name = "FILE")]
    job: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Carries out a slices job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    if args.job == Path::new("-") {
        return Err(Failure::Malformed(
            "--job - is not possible here: orders come on standard input, so the job has to be a file".to_owned(),
        ));
    }
    let job = SlicesJob::from_json(&read(&args.job)?).map_err(|error| failure(&error))?;
    let mut on_event = |event: SliceEvent| args.output.event(&event);
    let desk = Arc::new(Desk::default());
    let control = SlicesControl {
        interrupt: crate::interrupt::flag(),
        orders: orders(&desk, args.output.progress),
        desk: &desk,
        on_event: &mut on_event,
    };
    let result = run_slices(&job, control).map_err(|error| failure(&error))?;
    args.output.write(&result)?;
    Ok(Outcome::after(result.interrupted))
}

/// The orders as they come; what is asked of a contender is carried out at the desk. Their end is the end of the job.
fn orders(desk: &Arc<Desk>, progress: bool) -> Receiver<Result<Order, Error>> {
    let (sender, orders) = channel();
    let desk = Arc::clone(desk);
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        for line in lines.filter(|line| !line.trim().is_empty()) {
            match Order::parse(&line) {
                Ok(Order::Ask { contender, send }) => {
                    let desk = Arc::clone(&desk);
                    std::thread::spawn(move || {
                        let answer = Box::new(desk.carry_out(contender, &send));
                        Output {
                            out: None,
                            progress,
                        }
                        .event(&SliceEvent::Answered { answer });
                    });
                }
                other => {
                    if sender.send(other).is_err() {
                        return;
                    }
                }
            }
        }
    });
    orders
}
