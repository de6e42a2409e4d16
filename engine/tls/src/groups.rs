//! Key exchange on P-521. A server whose certificate is on that curve takes part in TLS 1.2 only with clients that know it.

use p521::elliptic_curve::sec1::ToSec1Point;
use p521::{PublicKey, SecretKey};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// The group, for the end of a list: it is slow.
pub(crate) static SECP521R1: Secp521r1 = Secp521r1;

/// P-521 by RustCrypto.
#[derive(Debug)]
pub(crate) struct Secp521r1;

impl SupportedKxGroup for Secp521r1 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = loop {
            let mut octets = [0; 66];
            SystemRandom::new()
                .fill(&mut octets)
                .map_err(|_| Error::FailedToGetRandomBytes)?;
            // 521 bits are one in the first octet; a number beyond the curve's order is drawn again.
            octets[0] &= 1;
            if let Ok(secret) = SecretKey::from_slice(&octets) {
                break secret;
            }
        };
        let public = secret.public_key().to_sec1_point(false).as_bytes().to_vec();
        Ok(Box::new(Exchange { secret, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

struct Exchange {
    secret: SecretKey,
    public: Vec<u8>,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        // Only the uncompressed form is allowed (RFC 8446 section 4.2.8.2).
        let uncompressed = peer.first() == Some(&4);
        let peer = PublicKey::from_sec1_bytes(peer)
            .ok()
            .filter(|_| uncompressed)
            .ok_or(PeerMisbehaved::InvalidKeyShare)?;
        let shared = p521::ecdh::diffie_hellman(self.secret.to_nonzero_scalar(), peer.as_affine());
        Ok(SharedSecret::from(shared.raw_secret_bytes().as_slice()))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}
