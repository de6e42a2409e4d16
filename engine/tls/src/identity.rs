//! Who the client is: its certificate and key, read from PEM and checked against each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};

use crate::Error;
use crate::Tls;
use crate::certificate::Certificate;
use crate::p521_key;

/// Reads the client's certificate and key; none if the job names none.
///
/// # Errors
/// [`Error`] that names the file, what is wrong with it, and what to do.
pub(crate) fn read(tls: &Tls) -> Result<Option<Arc<CertifiedKey>>, Error> {
    let Some(cert) = &tls.cert else {
        return match &tls.key {
            None => Ok(None),
            Some(key) => Err(Error(format!(
                "tls.key {key}: a key is of no use without its certificate: name that as tls.cert (--cert)"
            ))),
        };
    };
    let bad = |why: &str| Error(format!("tls.cert {cert}: {why}"));
    let text = file("tls.cert", cert)?;
    let mut chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(&error.to_string()))?;
    if chain.is_empty() {
        return Err(bad(no_pem("certificate", &text)));
    }
    let key = match &tls.key {
        Some(path) => key("tls.key", path, &file("tls.key", path)?)?,
        None => key("tls.cert", cert, &text)?,
    };
    // The client's own goes first, whatever the order in the file.
    let own = |one: &CertificateDer<'_>| {
        let public = key.public_key();
        let read = Certificate::read(one);
        read.zip(public)
            .is_some_and(|(read, public)| public.as_ref().ends_with(read.key()))
    };
    let Some(place) = chain.iter().position(own) else {
        let subject = Certificate::read(&chain[0]).map_or_else(String::new, |one| one.subject());
        let of = tls.key.as_deref().unwrap_or(cert);
        return Err(bad(&format!(
            "the key in {of} is not that of the certificate ({subject}): name the two that belong together"
        )));
    };
    let first = chain.remove(place);
    chain.insert(0, first);
    Ok(Some(Arc::new(CertifiedKey::new(chain, key))))
}

fn file(field: &str, path: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error(format!("{field} {path}: {error}")))
}

/// The first private key in a file: PKCS#8, PKCS#1 or SEC1.
fn key(field: &str, path: &str, text: &[u8]) -> Result<Arc<dyn SigningKey>, Error> {
    let bad = |why: &str| Error(format!("{field} {path}: {why}"));
    let holds = |words: &str| {
        text.windows(words.len())
            .any(|window| window == words.as_bytes())
    };
    if holds("BEGIN ENCRYPTED PRIVATE KEY") || holds("Proc-Type: 4,ENCRYPTED") {
        let why =
            "the key is encrypted: decrypt it for the load (openssl pkey -in FILE -out plain.pem)";
        return Err(bad(why));
    }
    let mut keys = PrivateKeyDer::pem_slice_iter(text);
    let der = match keys.next() {
        Some(der) => der.map_err(|error| bad(&error.to_string()))?,
        None if field == "tls.cert" => {
            return Err(bad(
                "it holds no private key: name the key's file as tls.key (--key)",
            ));
        }
        None => return Err(bad(no_pem("private key", text))),
    };
    p521_key::any(der).ok_or_else(|| {
        bad("the key is of a kind that cannot be used here: RSA of 2,048 to 4,096 bits, P-256, P-384, P-521 and Ed25519 can")
    })
}

/// The fix for a file without the expected content.
fn no_pem(what: &str, text: &[u8]) -> &'static str {
    match (what, text.first()) {
        // DER begins with a SEQUENCE.
        (_, Some(0x30)) => {
            "it is not PEM but DER or PKCS#12: convert it (openssl x509 or pkey -inform der; openssl pkcs12 -nodes -in FILE -out FILE.pem)"
        }
        ("certificate", _) => "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        _ => {
            "it holds no private key in PEM (-----BEGIN PRIVATE KEY-----, RSA PRIVATE KEY or EC PRIVATE KEY)"
        }
    }
}

/// Answers a server that asks for a certificate, and notes that it did.
#[derive(Debug)]
pub(crate) struct Client {
    identity: Option<Arc<CertifiedKey>>,
    asked: Arc<AtomicBool>,
}

impl Client {
    /// A client with or without a certificate.
    pub fn new(identity: Option<Arc<CertifiedKey>>, asked: Arc<AtomicBool>) -> Self {
        Self { identity, asked }
    }
}

impl ResolvesClientCert for Client {
    fn resolve(
        &self,
        _issuers: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        let identity = self.identity.as_ref()?;
        identity.key.choose_scheme(schemes)?;
        Some(Arc::clone(identity))
    }

    fn has_certs(&self) -> bool {
        true
    }
}
