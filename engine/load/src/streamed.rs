//! The events of all threads' streams, as the result shows them.

use crate::distribution::Distribution;
use crate::error::Error;
use crate::recorder::{EventFigures, EventsReport};
use crate::result::Events;

impl EventFigures {
    /// Those of one request over all threads; none if it is not a stream.
    ///
    /// # Errors
    /// [`Error::Worker`] if a report does not hold together.
    pub fn over_threads<'a>(
        reports: impl Iterator<Item = &'a EventsReport>,
    ) -> Result<Option<Self>, Error> {
        let mut merged: Option<Self> = None;
        for report in reports {
            let sum = merged.get_or_insert_default();
            sum.first.add_packed([&report.first])?;
            sum.gaps.add_packed([&report.gaps])?;
            sum.delay.add_packed([&report.delay])?;
            sum.counts.add(&report.counts);
        }
        Ok(merged)
    }

    /// As the result shows them, for a window of this length.
    #[must_use]
    pub fn result(&self, measured_s: f64) -> Events {
        let counts = self.counts;
        let mut events = Events {
            count: counts.events,
            inside: counts.inside,
            rate: 0.0,
            first: Distribution::of(&self.first),
            gap: Distribution::of(&self.gaps),
            delay: Distribution::of(&self.delay),
            ahead: counts.ahead,
            wrong: counts.wrong,
            lost: counts.lost,
            doubled: counts.doubled,
            disordered: counts.disordered,
            lasting: counts.lasting,
            in_burst: counts.in_burst,
            open_most: counts.open_most,
        };
        events.over(measured_s);
        events
    }
}

impl Events {
    /// Has their rate be that of a window of this length.
    pub fn over(&mut self, measured_s: f64) {
        self.rate = if measured_s > 0.0 {
            self.inside as f64 / measured_s
        } else {
            0.0
        };
    }
}
