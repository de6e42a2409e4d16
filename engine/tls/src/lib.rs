//! TLS as a job asks for it: what is trusted, who the client is, what is negotiated, and why a handshake fails.

#![forbid(unsafe_code)]

mod algorithms;
mod authorities;
mod certificate;
pub mod explain;
mod figures;
mod groups;
mod identity;
mod p521_key;
mod wanted;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustls::client::{ClientSessionMemoryCache, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{ALL_VERSIONS, ClientConfig, SupportedProtocolVersion, version};

use self::authorities::{Anyone, Trusted};
use self::explain::Handshake;
pub use self::figures::{Negotiated, TlsUse};
use self::identity::Client;
pub use self::wanted::{MinVersion, Protocol, Tls};

/// What a job names and that cannot be used: the field or the file, what is wrong with it, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// Sessions that a thread keeps to resume. All are of one server, which gives a few to each connection.
const SESSIONS: usize = 256;

static TLS13_ALONE: &[&SupportedProtocolVersion] = &[&version::TLS13];

/// What a job names in files, read and checked.
#[derive(Debug, Clone)]
pub struct Materials {
    tls: Tls,
    protocol: Protocol,
    name: ServerName<'static>,
    /// Whether a name is sent (SNI).
    sni: bool,
    verify: bool,
    authorities: Vec<CertificateDer<'static>>,
    identity: Option<Arc<CertifiedKey>>,
}

impl Materials {
    /// Reads what a job's TLS needs for connections to a host, which is on this machine if `local`.
    ///
    /// # Errors
    /// [`Error`] that names the file or the field, and what to do.
    pub fn read(tls: &Tls, protocol: Protocol, host: &str, local: bool) -> Result<Self, Error> {
        let host = match tls.sni.as_deref() {
            None | Some("") => host,
            Some(name) => name,
        };
        if tls.sni.is_some() && host.parse::<IpAddr>().is_ok() && tls.sni.as_deref() != Some("") {
            return Err(Error(format!(
                "tls.sni {host}: an address is never sent as a name: give a name, such as shop.test"
            )));
        }
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| Error(format!("{host} cannot be a certificate's name: {error}")))?;
        let verify = tls.verify.unwrap_or(tls.ca_file.is_some() || !local);
        Ok(Self {
            tls: tls.clone(),
            protocol,
            name,
            sni: tls.sni.as_deref() != Some(""),
            verify,
            authorities: if verify {
                authorities::read(tls.ca_file.as_deref())?
            } else {
                Vec::new()
            },
            identity: identity::read(tls)?,
        })
    }

    /// What one thread's connections need.
    ///
    /// # Errors
    /// [`Error`] if no authority can be trusted.
    pub fn settings(&self) -> Result<Settings, Error> {
        let failed = |error: rustls::Error| Error(format!("tls: {error}"));
        let provider = Arc::new(provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(match self.tls.min_version {
                Some(MinVersion::Tls13) => TLS13_ALONE,
                Some(MinVersion::Tls12) | None => ALL_VERSIONS,
            })
            .map_err(failed)?
            .dangerous();
        let builder = if self.verify {
            let own = self.tls.ca_file.is_some();
            let trusted = Trusted::new(&self.authorities, own, &provider)?;
            builder.with_custom_certificate_verifier(Arc::new(trusted))
        } else {
            builder.with_custom_certificate_verifier(Arc::new(Anyone))
        };
        let asked = Arc::new(AtomicBool::new(false));
        let client = Client::new(self.identity.clone(), Arc::clone(&asked));
        let mut config = builder.with_client_cert_resolver(Arc::new(client));
        config.alpn_protocols = vec![self.protocol.alpn().as_bytes().to_vec()];
        config.enable_sni = self.sni;
        config.resumption = resumption(self.tls.resume);
        let by_name = matches!(self.name, ServerName::DnsName(_));
        Ok(Settings {
            config: Arc::new(config),
            name: self.name.clone(),
            asked,
            identity: self.identity.clone(),
            resume: self.tls.resume,
            handshake: Handshake {
                host: self.name.to_str().into_owned(),
                sends_name: self.sni && by_name,
                has_identity: self.identity.is_some(),
                protocol: self.protocol,
                min_version: self.tls.min_version.unwrap_or(MinVersion::Tls12),
            },
        })
    }
}

/// What one thread's connections need.
pub struct Settings {
    /// rustls's own settings.
    pub config: Arc<ClientConfig>,
    /// The name that the server's certificate must have, and that is sent.
    pub name: ServerName<'static>,
    /// Raised when a server asks for a client's certificate.
    pub asked: Arc<AtomicBool>,
    /// For the words of a failure.
    pub handshake: Handshake,
    identity: Option<Arc<CertifiedKey>>,
    resume: bool,
}

impl Settings {
    /// The same for other connections, which share neither sessions nor `asked` with these. Nothing is read again.
    #[must_use]
    pub fn apart(&self) -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        let client = Client::new(self.identity.clone(), Arc::clone(&asked));
        let mut config = (*self.config).clone();
        config.client_auth_cert_resolver = Arc::new(client);
        config.resumption = resumption(self.resume);
        Self {
            config: Arc::new(config),
            name: self.name.clone(),
            asked,
            handshake: self.handshake.clone(),
            identity: self.identity.clone(),
            resume: self.resume,
        }
    }
}

fn resumption(wanted: bool) -> Resumption {
    if wanted {
        Resumption::store(Arc::new(ClientSessionMemoryCache::new(SESSIONS)))
    } else {
        Resumption::disabled()
    }
}

/// ring's algorithms, and those that certificates of test servers need besides.
fn provider() -> CryptoProvider {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.kx_groups.push(&groups::SECP521R1);
    provider.signature_verification_algorithms = algorithms::all();
    provider
}
