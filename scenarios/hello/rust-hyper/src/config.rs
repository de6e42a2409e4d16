//! What the environment says: address, workers and timeouts.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::timed_stream::Timeouts;

pub struct Config {
    pub address: SocketAddr,
    pub workers: usize,
    pub timeouts: Timeouts,
    /// Responses to pipelined requests go out together. hyper then drops the response to a malformed request.
    pub pipeline_flush: bool,
    /// TLS with HTTP/2 and HTTP/1.1 in it; none for plain HTTP.
    pub tls: Option<TlsAcceptor>,
}

impl Config {
    /// Reads HOST, PORT, WORKERS, the three timeouts, TLS_CERT and TLS_KEY; the error names the variable at fault.
    pub fn from_environment() -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let host: IpAddr = variable("HOST", IpAddr::from([127, 0, 0, 1]))?;
        let milliseconds = |name, default| variable(name, default).map(Duration::from_millis);
        Ok(Self {
            address: SocketAddr::new(host, variable("PORT", 8080)?),
            workers: match variable("WORKERS", 0)? {
                0 => cores,
                count => count,
            },
            pipeline_flush: variable("PIPELINE_FLUSH", false)?,
            tls: match std::env::var("TLS_CERT") {
                Ok(cert) if !cert.is_empty() => {
                    Some(acceptor(&cert, &variable("TLS_KEY", cert.clone())?)?)
                }
                _ => None,
            },
            timeouts: Timeouts {
                request: milliseconds("REQUEST_TIMEOUT_MS", 10_000)?,
                idle: milliseconds("IDLE_TIMEOUT_MS", 60_000)?,
                write: milliseconds("WRITE_TIMEOUT_MS", 10_000)?,
            },
        })
    }
}

/// What takes handshakes, by a certificate and its key in PEM.
fn acceptor(cert: &str, key: &str) -> Result<TlsAcceptor, String> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|error| format!("TLS_CERT={cert}: {error}"))?;
    let key =
        PrivateKeyDer::from_pem_file(key).map_err(|error| format!("TLS_KEY={key}: {error}"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| format!("TLS_CERT={cert}: {error}"))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn variable<T: FromStr>(name: &str, default: T) -> Result<T, String> {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("{name}={text} is not a valid value")),
        _ => Ok(default),
    }
}
