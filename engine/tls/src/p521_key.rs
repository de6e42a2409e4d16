//! A client's key on P-521, which ring does not sign with.

use std::sync::Arc;

use p521::SecretKey;
use p521::ecdsa::SigningKey as Ecdsa;
use p521::ecdsa::signature::hazmat::PrehashSigner;
use p521::ecdsa::{DerSignature, Signature};
use p521::pkcs8::DecodePrivateKey;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer, alg_id};
use rustls::sign::{Signer, SigningKey, public_key_to_spki};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use sha2::{Digest, Sha512};

/// A key of any kind that can be used here.
pub(crate) fn any(der: PrivateKeyDer<'static>) -> Option<Arc<dyn SigningKey>> {
    let secret = match &der {
        PrivateKeyDer::Pkcs8(key) => SecretKey::from_pkcs8_der(key.secret_pkcs8_der()).ok(),
        PrivateKeyDer::Sec1(key) => SecretKey::from_sec1_der(key.secret_sec1_der()).ok(),
        _ => None,
    };
    match secret {
        Some(secret) => Some(Arc::new(P521(Arc::new(Ecdsa::from(secret))))),
        None => default_provider().key_provider.load_private_key(der).ok(),
    }
}

struct P521(Arc<Ecdsa>);

impl std::fmt::Debug for P521 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("P521")
    }
}

const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP521_SHA512;

impl SigningKey for P521 {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = Self(Arc::clone(&self.0));
        offered
            .contains(&SCHEME)
            .then(|| Box::new(signer) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let point = self.0.verifying_key().to_sec1_point(false);
        Some(public_key_to_spki(&alg_id::ECDSA_P521, point.as_bytes()))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for P521 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature: Signature = self
            .0
            .sign_prehash(&Sha512::digest(message))
            .map_err(|error| Error::General(error.to_string()))?;
        Ok(DerSignature::from(signature).as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SCHEME
    }
}
