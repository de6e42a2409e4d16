//! What the servers share: where they listen.

/// `HOST:PORT` of the environment.
///
/// # Panics
/// Where one of the two is missing.
#[must_use]
pub fn address() -> String {
    let of = |name| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    format!("{}:{}", of("HOST"), of("PORT"))
}
