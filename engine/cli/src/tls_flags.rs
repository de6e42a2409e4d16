//! The flags about protocols and TLS that `load` and `probe` share.

use touchstone_tls::{MinVersion, Protocol, Tls};

/// What is spoken.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Speaks {
    H1,
    H2c,
    H2,
}

impl From<Speaks> for Protocol {
    fn from(spoken: Speaks) -> Self {
        match spoken {
            Speaks::H1 => Self::H1,
            Speaks::H2c => Self::H2c,
            Speaks::H2 => Self::H2,
        }
    }
}

/// What a person types about TLS.
#[derive(clap::Args)]
pub struct TlsFlags {
    /// The server's certificate must be valid, even on this machine.
    #[arg(long, conflicts_with = "insecure", help_heading = "TLS")]
    verify: bool,
    /// Any certificate will do, even elsewhere.
    #[arg(short = 'k', long, conflicts_with = "cacert", help_heading = "TLS")]
    insecure: bool,
    /// Authorities to trust, in PEM, and not the system's; or the server's own certificate.
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    cacert: Option<String>,
    /// The client's certificate, in PEM, with those that lead to its authority.
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    cert: Option<String>,
    /// Its private key, in PEM (PKCS#8, PKCS#1 or SEC1, not encrypted); if not given, it is in --cert.
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    key: Option<String>,
    /// The name that is sent to the server (SNI) and that its certificate must have; "" sends none.
    #[arg(long, value_name = "NAME", help_heading = "TLS")]
    sni: Option<String>,
    /// The oldest version of TLS that is offered.
    #[arg(long, value_name = "VERSION", help_heading = "TLS")]
    tls_min: Option<Oldest>,
}

/// A version of TLS.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Oldest {
    #[value(name = "1.2")]
    Tls12,
    #[value(name = "1.3")]
    Tls13,
}

impl TlsFlags {
    /// TLS as a job states it.
    pub fn tls(&self) -> Tls {
        Tls {
            verify: match (self.verify, self.insecure) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            ca_file: self.cacert.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            sni: self.sni.clone(),
            min_version: self.tls_min.map(|oldest| match oldest {
                Oldest::Tls12 => MinVersion::Tls12,
                Oldest::Tls13 => MinVersion::Tls13,
            }),
            resume: false,
        }
    }
}
