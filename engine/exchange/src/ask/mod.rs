//! The session `ask`: orders on one stream, answers on another, each a line of JSON. It sends what a contract, a preparation or
//! a look at a service asks for, with the writer, the reader and the checks of the load generator.

mod answer;
mod lanes;
mod order;
mod sending;
mod session;

pub use answer::{Answer, Exchange, Outcome};
pub use order::{Asked, Order, Place, Send, Text, Values};
pub use sending::{LoadConnections, Wanted, send_between};
pub use session::run;
