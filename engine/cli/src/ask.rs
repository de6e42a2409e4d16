//! `touchstone-engine ask`: requests to services, checked, as standard input orders.

use touchstone_exchange::ask;

use crate::failure::{Failure, Outcome};

/// Carries out orders until standard input ends.
pub fn run() -> Result<Outcome, Failure> {
    ask::run(std::io::stdin().lock(), std::io::stdout()).map_err(Failure::failed)?;
    Ok(Outcome::Done)
}
