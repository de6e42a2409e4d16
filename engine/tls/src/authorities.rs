//! Whom a client trusts: anyone, the system's authorities, or those that a job names.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{
    CertificateError, DigitallySignedStruct, PeerMisbehaved, RootCertStore, SignatureScheme,
};
use webpki::RawPublicKeyEntity;

use crate::Error;
use crate::certificate::Certificate;

/// Where distributions keep the authorities that they trust.
const SYSTEM_AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// The certificates of a file of authorities, or of the system's.
///
/// # Errors
/// [`Error`] if there is no such file, or it holds none.
pub(crate) fn read(own: Option<&str>) -> Result<Vec<CertificateDer<'static>>, Error> {
    let system = || {
        SYSTEM_AUTHORITIES
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
    };
    let path = own.or_else(system).ok_or_else(|| {
        Error(
            "tls: this system has no known file of authorities: name one as tls.ca_file (--cacert)"
                .to_owned(),
        )
    })?;
    let bad = |why: String| Error(format!("tls.ca_file {path}: {why}"));
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(error.to_string()))?;
    if certificates.is_empty() {
        let form = "it holds no certificate in PEM (of one in DER: openssl x509 -inform der -in FILE -out FILE.pem)";
        return Err(bad(form.to_owned()));
    }
    if own.is_some()
        && certificates
            .iter()
            .any(|one| Certificate::read(one).is_none())
    {
        return Err(bad("it holds a certificate that cannot be read".to_owned()));
    }
    Ok(certificates)
}

/// Trusts the authorities given, and each certificate among them as that of a server, too: test servers have
/// self-signed certificates that say they are an authority, of version 1, or without a name in the place of today.
#[derive(Debug)]
pub(crate) struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Trusted {
    /// `own` says that the authorities are the job's and not the system's.
    ///
    /// # Errors
    /// [`Error`] if none can be an authority.
    pub fn new(
        authorities: &[CertificateDer<'static>],
        own: bool,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        // The system's file may hold a certificate that is not an authority for rustls; an own one is trusted by itself at least.
        roots.add_parsable_certificates(authorities.iter().cloned());
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        let chains = chains
            .build()
            .map_err(|error| Error(format!("tls.ca_file: {error}")))?;
        Ok(Self {
            chains,
            given: if own {
                authorities.to_vec()
            } else {
                Vec::new()
            },
            algorithms: provider.signature_verification_algorithms,
        })
    }

    fn verify(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
        names_curve: bool,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let bad = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        let read = Certificate::read(certificate).ok_or(rustls::Error::InvalidCertificate(
            CertificateError::BadEncoding,
        ))?;
        let key = SubjectPublicKeyInfoDer::from(read.key_info());
        let key = RawPublicKeyEntity::try_from(&key).map_err(|_| bad.clone())?;
        let mut mapping = self.algorithms.mapping.iter();
        let (_, algorithms) = mapping
            .find(|(scheme, _)| *scheme == signed.scheme)
            .ok_or(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme)?;
        // A scheme of TLS 1.2 names no curve: that algorithm counts which is of the key's. In TLS 1.3 it is the first.
        let fits = algorithms
            .iter()
            .take(if names_curve { 1 } else { usize::MAX })
            .any(|one| {
                key.verify_signature(*one, message, signed.signature())
                    .is_ok()
            });
        if fits {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(bad)
        }
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if !self.given.iter().any(|given| given == certificate) {
            let chains = &self.chains;
            let verified = chains.verify_server_cert(certificate, intermediates, name, ocsp, now);
            let own = Certificate::read(certificate).is_some_and(|read| read.is_self_issued());
            return match verified {
                // Whatever is wrong with its form besides, nobody else has signed it.
                Err(rustls::Error::InvalidCertificate(CertificateError::Other(_))) if own => {
                    Err(CertificateError::UnknownIssuer.into())
                }
                verified => verified,
            };
        }
        let read = Certificate::read(certificate).ok_or(CertificateError::BadEncoding)?;
        let (not_before, not_after) = read.validity();
        if now.as_secs() < not_before.as_secs() {
            return Err(CertificateError::NotValidYetContext {
                time: now,
                not_before,
            }
            .into());
        }
        if now.as_secs() > not_after.as_secs() {
            return Err(CertificateError::ExpiredContext {
                time: now,
                not_after,
            }
            .into());
        }
        if !read.is_for(name) {
            return Err(CertificateError::NotValidForNameContext {
                expected: name.to_owned(),
                presented: read.hosts(),
            }
            .into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verify(message, certificate, signed, false)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verify(message, certificate, signed, true)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Trusts whatever answers, for a server under test with a certificate of its own making. Where nobody looks at the certificate, a
/// signature with its key proves nothing, and is not looked at either: it may be of any kind.
#[derive(Debug)]
pub(crate) struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ECDSA_NISTP521_SHA512,
            SignatureScheme::ED25519,
            SignatureScheme::ED448,
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
            SignatureScheme::RSA_PKCS1_SHA256,
            SignatureScheme::RSA_PKCS1_SHA384,
            SignatureScheme::RSA_PKCS1_SHA512,
        ]
    }
}
