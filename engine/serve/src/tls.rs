//! TLS of a server of ours: a certificate that is made for a run, and a connection's side of it.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConnection;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use rustls::ServerConfig;

/// Makes a self-signed certificate (P-256) for names and addresses, and writes it and its key (PKCS#8) in PEM.
///
/// # Errors
/// A sentence on a name that cannot be in a certificate, or on a file that cannot be written.
pub fn make_certificate(names: Vec<String>, cert: &Path, key: &Path) -> Result<(), String> {
    let named = names.join(", ");
    let made = rcgen::generate_simple_self_signed(names);
    let made = made.map_err(|error| format!("no certificate for {named}: {error}"))?;
    for (path, text) in [
        (cert, made.cert.pem()),
        (key, made.signing_key.serialize_pem()),
    ] {
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// What a server needs to speak TLS 1.2 and 1.3, with HTTP/2 or HTTP/1.1 in it as the client asks by ALPN.
///
/// # Errors
/// A sentence that names the file, and what is wrong with it.
pub fn server_config(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let bad = |path: &Path, why: String| format!("{}: {why}", path.display());
    let chain = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect);
    let chain: Vec<_> = chain.map_err(|error| bad(cert, error.to_string()))?;
    let own = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, own));
    let mut config = config.map_err(|error| bad(cert, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A connection's TLS.
pub(crate) struct Sealed(ServerConnection);

impl Sealed {
    pub fn new(config: &Arc<ServerConfig>) -> Option<Box<Self>> {
        let mut session = ServerConnection::new(Arc::clone(config)).ok()?;
        session.set_buffer_limit(None);
        Some(Box::new(Self(session)))
    }

    /// Appends the plain bytes in what has arrived; false if it is not sound TLS.
    pub fn open(&mut self, mut cipher: &[u8], plain: &mut Vec<u8>) -> bool {
        while !cipher.is_empty() {
            match self.0.read_tls(&mut cipher) {
                // The client has ended the session: what follows is none of TLS's.
                Ok(0) => return true,
                Ok(_) if self.0.process_new_packets().is_ok() => {}
                _ => return false,
            }
            // An error says that there is no more for now, or that the session is closed.
            let _ = self.0.reader().read_to_end(plain);
        }
        true
    }

    /// Appends plain bytes as TLS, and what TLS itself has to say.
    pub fn seal(&mut self, plain: &[u8], cipher: &mut Vec<u8>) {
        // Neither fails: the session takes any length, and a vector grows.
        let _ = self.0.writer().write_all(plain);
        while self.0.wants_write() && self.0.write_tls(cipher).is_ok() {}
    }
}
