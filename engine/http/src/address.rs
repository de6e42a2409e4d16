//! The answering address of a name: all connections to a service go there.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One address of several that says nothing is given up after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The first address that takes a connection, or the only one, which is not tried; none if there is none.
#[must_use]
pub fn first_that_answers(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    match addresses {
        [only] => Some(*only),
        several => reach(several).ok(),
    }
}

/// The first address that takes a connection.
///
/// # Errors
/// Why the first one took none.
pub fn reach(addresses: &[SocketAddr]) -> io::Result<SocketAddr> {
    let mut first = None;
    for address in addresses {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(_) => return Ok(*address),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| io::Error::other("the name has no address")))
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::net::TcpListener;

    #[test]
    fn the_address_that_answers_is_taken() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let (six, four) = (TcpListener::bind("[::1]:0"), silent.local_addr().unwrap());
        drop(silent);
        // A machine without IPv6 has nothing to choose between.
        let Ok(six) = six else { return };
        let six = six.local_addr().unwrap();
        assert_eq!(first_that_answers(&[four, six]), Some(six));
        assert_eq!(first_that_answers(&[four]), Some(four));
        assert_eq!(first_that_answers(&[four, four]), None);
        assert!(reach(&[four]).is_err());
    }
}
