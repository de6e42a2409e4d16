//! Where the load goes, and whether it may.

use touchstone_http::{Url, first_that_answers};
use touchstone_sys::socket::Address;

use crate::error::Error;
use crate::job::Job;

/// A URL with the address that it leads to.
pub type Target = touchstone_exchange::Target<Address>;

/// Where a job leads: its URL parsed, and of the addresses of its host, or of that of `connect_to`, the first that answers.
/// Refuses what is not on this machine unless `allow_hosts` names it.
///
/// # Errors
/// [`Error::Job`] for a URL or an address that is none, [`Error::NotAllowed`] for a foreign host, [`Error::Unresolved`] for an unknown
/// one.
pub fn permitted(job: &Job) -> Result<Target, Error> {
    let url = Url::parse(&job.url).map_err(|error| Error::Job(error.to_string()))?;
    let unix = |text: &String| text.strip_prefix("unix:").map(str::to_owned);
    if let Some(socket) = job.connect_to.as_ref().map_or(url.socket.clone(), unix) {
        let address = Address::unix(&socket);
        return Ok(Target { url, address });
    }
    let place = match &job.connect_to {
        None => url.clone(),
        Some(text) => Url::parse(&format!("http://{text}/"))
            .ok()
            .filter(|place| place.server() == format!("http://{text}"))
            .ok_or_else(|| {
                Error::Job(format!(
                    "connect_to {text:?}: write it as HOST:PORT, an IPv6 address in brackets"
                ))
            })?,
    };
    let mut found = place.addresses().map_err(|error| Error::Unresolved {
        host: place.host.clone(),
        why: error.to_string(),
    })?;
    let allowed = &job.allow_hosts;
    found.retain(|one| place.is_allowed(*one, allowed) || url.is_allowed(*one, allowed));
    match first_that_answers(&found).or(found.first().copied()) {
        Some(address) => Ok(Target {
            url,
            address: address.into(),
        }),
        None => Err(Error::NotAllowed { host: place.host }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permitted(url: &str, allowed: &[String]) -> Result<Target, Error> {
        let mut job = Job::for_url(url);
        job.allow_hosts = allowed.to_vec();
        super::permitted(&job)
    }

    #[test]
    fn a_job_may_connect_elsewhere_than_its_url_says() {
        let mut job = Job::for_url("https://shop.test/a");
        job.connect_to = Some("127.0.0.1:8443".to_owned());
        let target = super::permitted(&job).unwrap();
        assert_eq!(
            target.address,
            Address::Ip("127.0.0.1:8443".parse().unwrap())
        );
        assert_eq!(target.url.host, "shop.test");
        job.connect_to = Some("192.0.2.7:443".to_owned());
        assert!(matches!(
            super::permitted(&job),
            Err(Error::NotAllowed { .. })
        ));
        job.allow_hosts = vec!["shop.test".to_owned()];
        assert!(super::permitted(&job).is_ok());
        for bad in ["127.0.0.1:x", "", "http://a", "a:1/b"] {
            job.connect_to = Some(bad.to_owned());
            assert!(
                matches!(super::permitted(&job), Err(Error::Job(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_name_without_an_address_is_not_taken_for_a_server_that_is_down() {
        // RFC 6761, section 6.4: this top-level domain never resolves.
        let unknown = permitted("http://nobody.invalid:8080/", &[]).unwrap_err();
        assert!(matches!(&unknown, Error::Unresolved { host, .. } if host == "nobody.invalid"));
        assert!(
            !unknown.to_string().contains("start the server"),
            "{unknown}"
        );
    }

    #[test]
    fn a_foreign_host_is_refused_unless_it_is_named() {
        let refused = permitted("http://192.0.2.7/", &[]);
        assert!(matches!(refused, Err(Error::NotAllowed { host }) if host == "192.0.2.7"));
        let named = permitted("https://192.0.2.7/", &["192.0.2.7".to_owned()]).unwrap();
        assert_eq!(named.address, Address::Ip("192.0.2.7:443".parse().unwrap()));
    }

    #[test]
    fn a_unix_socket_is_of_this_machine() {
        let target = permitted("unix:/run/app.sock:/a", &[]).unwrap();
        assert_eq!(target.address, Address::unix("/run/app.sock"));
        // A process that carries a part of the load gets the address back.
        let mut job = Job::for_url("http://localhost/");
        job.connect_to = Some(target.address.to_string());
        assert_eq!(super::permitted(&job).unwrap().address, target.address);
    }

    #[test]
    fn a_bad_url_is_a_bad_job() {
        assert!(matches!(permitted("127.0.0.1:80", &[]), Err(Error::Job(_))));
    }
}
