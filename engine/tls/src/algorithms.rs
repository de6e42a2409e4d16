//! Signatures that ring does not verify and certificates of test servers have: P-521, and RSA below 2,048 bits.

use std::sync::OnceLock;

use p521::ecdsa::signature::hazmat::PrehashVerifier;
use p521::ecdsa::{DerSignature, VerifyingKey};
use rsa::pkcs1::DecodeRsaPublicKey;
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Sign, Pss, PublicKey};
use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};
use sha2::digest::FixedOutputReset;
use sha2::digest::const_oid::AssociatedOid;
use sha2::{Digest, Sha256, Sha384, Sha512};

type Algorithm = &'static dyn SignatureVerificationAlgorithm;

/// All algorithms: ring's, with RSA of any size, and P-521.
pub(crate) fn all() -> WebPkiSupportedAlgorithms {
    static ALL: OnceLock<WebPkiSupportedAlgorithms> = OnceLock::new();
    *ALL.get_or_init(|| {
        let known = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        let mut all: Vec<Algorithm> = known.all.iter().map(|one| any_size(*one)).collect();
        all.extend(P521.iter().map(|one| one as Algorithm));
        let mut mapping: Vec<(SignatureScheme, &'static [Algorithm])> = known
            .mapping
            .iter()
            .map(|(scheme, algorithms)| {
                let mut algorithms: Vec<Algorithm> =
                    algorithms.iter().map(|one| any_size(*one)).collect();
                // In TLS 1.2 these schemes name no curve.
                match *scheme {
                    SignatureScheme::ECDSA_NISTP256_SHA256 => algorithms.push(&P521[0]),
                    SignatureScheme::ECDSA_NISTP384_SHA384 => algorithms.push(&P521[1]),
                    _ => {}
                }
                (*scheme, &*algorithms.leak())
            })
            .collect();
        let p521: Vec<Algorithm> = vec![&P521[2]];
        mapping.push((SignatureScheme::ECDSA_NISTP521_SHA512, p521.leak()));
        WebPkiSupportedAlgorithms {
            all: all.leak(),
            mapping: mapping.leak(),
        }
    })
}

/// An algorithm of RSA without its least size; another as it is.
fn any_size(algorithm: Algorithm) -> Algorithm {
    let id = algorithm.signature_alg_id();
    let of = |known: &AlgorithmIdentifier, verify| (id == *known).then_some(verify);
    let small = of(&alg_id::RSA_PKCS1_SHA256, pkcs1::<Sha256> as Verify)
        .or(of(&alg_id::RSA_PKCS1_SHA384, pkcs1::<Sha384>))
        .or(of(&alg_id::RSA_PKCS1_SHA512, pkcs1::<Sha512>))
        .or(of(&alg_id::RSA_PSS_SHA256, pss::<Sha256>))
        .or(of(&alg_id::RSA_PSS_SHA384, pss::<Sha384>))
        .or(of(&alg_id::RSA_PSS_SHA512, pss::<Sha512>));
    match small {
        Some(small) => Box::leak(Box::new(Rsa { algorithm, small })),
        None => algorithm,
    }
}

type Verify = fn(&PublicKey, &[u8], &[u8]) -> rsa::Result<()>;

fn pkcs1<D: Digest + AssociatedOid>(
    key: &PublicKey,
    message: &[u8],
    signature: &[u8],
) -> rsa::Result<()> {
    key.verify(Pkcs1v15Sign::new::<D>(), &D::digest(message), signature)
}

fn pss<D: Digest + FixedOutputReset>(
    key: &PublicKey,
    message: &[u8],
    signature: &[u8],
) -> rsa::Result<()> {
    key.verify(Pss::<D>::new(), &D::digest(message), signature)
}

/// RSA: by ring where the key is large enough for it, else by RustCrypto.
#[derive(Debug)]
struct Rsa {
    algorithm: Algorithm,
    small: Verify,
}

/// The shortest modulus that ring takes, in octets.
const LARGE: usize = 2048 / 8;

impl SignatureVerificationAlgorithm for Rsa {
    fn verify_signature(
        &self,
        key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        match PublicKey::from_pkcs1_der(key) {
            Ok(small) if small.size() < LARGE => {
                (self.small)(&small, message, signature).map_err(|_| InvalidSignature)
            }
            _ => self.algorithm.verify_signature(key, message, signature),
        }
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.signature_alg_id()
    }
}

/// ECDSA on P-521 with one of three digests.
#[derive(Debug)]
struct P521 {
    digest: fn(&[u8]) -> Vec<u8>,
    id: AlgorithmIdentifier,
}

static P521: [P521; 3] = [
    P521 {
        digest: |message| Sha256::digest(message).to_vec(),
        id: alg_id::ECDSA_SHA256,
    },
    P521 {
        digest: |message| Sha384::digest(message).to_vec(),
        id: alg_id::ECDSA_SHA384,
    },
    P521 {
        digest: |message| Sha512::digest(message).to_vec(),
        id: alg_id::ECDSA_SHA512,
    },
];

impl SignatureVerificationAlgorithm for P521 {
    fn verify_signature(
        &self,
        key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(key).map_err(|_| InvalidSignature)?;
        let signature = DerSignature::from_bytes(signature).map_err(|_| InvalidSignature)?;
        // A digest is read as a number: zeros before a short one change nothing, and the curve asks for a longer one.
        let digest = (self.digest)(message);
        let mut number = vec![0; 64 - digest.len()];
        number.extend(digest);
        key.verify_prehash(&number, &signature)
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.id
    }
}
