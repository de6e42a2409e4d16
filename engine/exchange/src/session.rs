//! What a virtual user keeps from response to response: captured values and cookies.

use crate::cookies::Cookies;

/// What was captured in one pass through a journey, and the cookies that were set in it.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Captured values, by their place in the journey.
    pub captured: Vec<String>,
    /// Cookies.
    pub cookies: Cookies,
}

impl Session {
    /// Forgets everything, and makes room for this number of captured values.
    pub fn begin(&mut self, captures: usize) {
        self.captured.resize_with(captures, String::new);
        self.captured.iter_mut().for_each(String::clear);
        self.cookies.clear();
    }
}
