//! Where the load goes, and whether it may.

pub use touchstone_exchange::Target;
use touchstone_http::Url;

use crate::error::Error;

/// Parses a URL, resolves its host, and refuses what is not on this machine unless `allowed` names it.
///
/// # Errors
/// [`Error::Job`] for a URL that is none, [`Error::NotAllowed`] for a foreign host, [`Error::Unreachable`] for an unknown one.
pub fn permitted(url: &str, allowed: &[String]) -> Result<Target, Error> {
    let url = Url::parse(url).map_err(|error| Error::Job(error.to_string()))?;
    let address = url.resolve().map_err(|error| Error::Unreachable {
        target: format!("{}:{}", url.host, url.port),
        why: error.to_string(),
    })?;
    if !url.is_allowed(address, allowed) {
        return Err(Error::NotAllowed { host: url.host });
    }
    Ok(Target { url, address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_host_is_refused_unless_it_is_named() {
        let refused = permitted("http://192.0.2.7/", &[]);
        assert!(matches!(refused, Err(Error::NotAllowed { host }) if host == "192.0.2.7"));
        let named = permitted("https://192.0.2.7/", &["192.0.2.7".to_owned()]).unwrap();
        assert_eq!(named.address, "192.0.2.7:443".parse().unwrap());
    }

    #[test]
    fn a_bad_url_is_a_bad_job() {
        assert!(matches!(permitted("127.0.0.1:80", &[]), Err(Error::Job(_))));
    }
}
