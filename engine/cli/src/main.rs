//! `touchstone-engine`: everything that happens inside a measured window.
fn main() {}
