//! What lies between a request and its socket: the protocol, and TLS.

use std::sync::Arc;

use touchstone_http::Url;
use touchstone_sys::socket::Address;
use touchstone_tls::{Materials, Protocol, Settings, Tls};

use crate::target::Target;

/// The protocol of a connection, and its TLS.
#[derive(Clone, Default)]
pub struct Transport {
    /// The protocol.
    pub protocol: Protocol,
    /// What TLS needs; none without TLS.
    pub tls: Option<Arc<Settings>>,
}

impl Transport {
    /// The transport to a target: over TLS, as it is wanted, if its URL says so.
    ///
    /// # Errors
    /// A sentence on a protocol that does not fit the URL, on a file that cannot be used, or on a host that cannot be a
    /// certificate's name.
    pub fn to<A: Copy + Into<Address>>(
        target: &Target<A>,
        protocol: Protocol,
        wanted: &Tls,
    ) -> Result<Self, String> {
        let Url { tls, host, .. } = &target.url;
        if let Some(why) = protocol.misfit(*tls).or(wanted.misfit(*tls)) {
            return Err(why.to_owned());
        }
        if !tls {
            return Ok(Self {
                protocol,
                tls: None,
            });
        }
        let local = target.address.into().is_local();
        let materials = Materials::read(wanted, protocol, host, local);
        let settings = materials.and_then(|found| found.settings());
        Ok(Self {
            protocol,
            tls: Some(Arc::new(settings.map_err(|error| error.to_string())?)),
        })
    }

    /// The same for another connection, which shares no TLS session with this one's.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self {
            protocol: self.protocol,
            tls: self.tls.as_ref().map(|tls| Arc::new(tls.apart())),
        }
    }

    /// Whether it is HTTP/1.1 without TLS, whose requests are sent as they are written.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.tls.is_none() && !self.protocol.is_h2()
    }

    pub(crate) const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
