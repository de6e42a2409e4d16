//! What a virtual user keeps from response to response: captured values and cookies.

use crate::cookies::Cookies;

/// What was captured in one pass through a journey, and the cookies that were set in it.
#[derive(Debug, Default)]
pub struct Session {
    /// Captured values, by their place in the journey.
    pub captured: Vec<Vec<u8>>,
    /// Cookies.
    pub cookies: Cookies,
}

impl Session {
    /// Forgets everything, and makes room for so many captured values.
    pub fn begin(&mut self, captures: usize) {
        self.captured.resize_with(captures, Vec::new);
        self.captured.iter_mut().for_each(Vec::clear);
        self.cookies.clear();
    }
}
