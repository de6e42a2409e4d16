//! Who loads a contender in its turns: threads of this process, or processes on other machines. The job sees only this.

use super::gate::Turn;
use super::order::LapPhase;
use super::part::ProcessTurn;
use crate::clock::Nanos;
use crate::error::Error;
use crate::report::ProcessReport;

/// Those who load one contender.
pub trait TurnCrew {
    /// Has them look at what happened since the last turn; gives the connections that are up.
    ///
    /// # Errors
    /// [`Error`] of one that ended.
    fn settle(&mut self, origin: Nanos) -> Result<u64, Error>;

    /// Loads the contender for so long, from an instant on that all of them know beforehand.
    fn begin(&mut self, seconds: f64, phase: LapPhase) -> Turn;

    /// Leaves out its turn: nothing is there to be loaded.
    fn pass(&mut self) -> Turn;

    /// Waits until the turn is over; gives what each process hands over.
    ///
    /// # Errors
    /// [`Error`] of one that ended.
    fn finish_turn(&mut self, turn: Turn) -> Result<Vec<ProcessTurn>, Error>;

    /// Ends them and gives their reports.
    ///
    /// # Errors
    /// [`Error`] of one that ended before.
    fn end(&mut self) -> Result<Vec<ProcessReport>, Error>;
}
