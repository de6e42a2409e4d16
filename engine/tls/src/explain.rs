//! Why a handshake failed, by its alert or by what is wrong with the certificate, and what to do.

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use x509_parser::time::ASN1Time;

use crate::{MinVersion, Protocol};

/// What the words depend on.
#[derive(Debug, Clone)]
pub struct Handshake {
    /// The name or address that the certificate must have.
    pub host: String,
    /// Whether it is sent as a name (SNI); an address never is.
    pub sends_name: bool,
    /// Whether the client has a certificate.
    pub has_identity: bool,
    /// What is to be spoken over it.
    pub protocol: Protocol,
    /// The oldest version that is offered.
    pub min_version: MinVersion,
}

/// The error number that stands for a failure: of a server that broke off, or of bytes that are no TLS.
#[must_use]
pub const fn number(error: &Error) -> i32 {
    match error {
        Error::AlertReceived(_) => libc::ECONNABORTED,
        _ => libc::EPROTO,
    }
}

/// Why TLS failed and what to do. `asked` says that the server asked for a client's certificate; `beginning` has its first bytes.
#[must_use]
pub fn failure(error: &Error, handshake: &Handshake, asked: bool, beginning: &[u8]) -> String {
    match error {
        Error::AlertReceived(alert) => {
            let name = alert_name(*alert);
            let (why, todo) = alert_words(*alert, handshake, asked);
            format!("{why} (alert {name}, {}): {todo}", u8::from(*alert))
        }
        Error::InvalidCertificate(error) => certificate_words(error, handshake),
        Error::PeerIncompatible(error) => incompatible_words(error, handshake.min_version),
        // A TLS record begins with its type, 20 to 23, and the major version 3.
        _ if beginning.starts_with(b"HTTP/") => {
            "the server speaks HTTP without TLS on this port: use http:// in the URL".to_owned()
        }
        _ if !matches!(beginning, [20..=23, 3, ..] | []) => {
            let said = String::from_utf8_lossy(&beginning[..beginning.len().min(32)]);
            format!(
                "what answers on this port is not TLS, it sent {said:?}: correct the port, or use http:// in the URL"
            )
        }
        Error::NoApplicationProtocol => not_spoken(handshake.protocol),
        _ => format!("{error}: see the server's log"),
    }
}

/// Why a connection over TLS ended with an error number, where that says more than the number. `asked` says that the server asked
/// for a certificate of the client and has answered nothing since; `handshaking` that the handshake was
/// not over.
#[must_use]
pub fn end(error: i32, handshaking: bool, asked: bool, handshake: &Handshake) -> Option<String> {
    if asked && error != libc::ETIMEDOUT {
        return Some(if handshake.has_identity {
            "the server asked for a client's certificate, got one, and closed the connection: give the one that it accepts by --cert \
             and --key; its log has the reason"
                .to_owned()
        } else {
            format!(
                "the server asked for a client's certificate, got none, and closed the connection: {CERT}"
            )
        });
    }
    if !handshaking {
        return None;
    }
    Some(match error {
        0 => "the server closed the connection in the handshake: see whether this port speaks TLS, or use http://".to_owned(),
        libc::ETIMEDOUT => {
            "the server did not answer the handshake in time: see whether this port speaks TLS, or give --timeout".to_owned()
        }
        _ => {
            let why = std::io::Error::from_raw_os_error(error);
            format!("{why} in the handshake: see whether this port speaks TLS, and the server's log")
        }
    })
}

const CERT: &str = "name one by --cert and --key";

/// The server does not speak a protocol over TLS, by ALPN.
#[must_use]
pub fn not_spoken(protocol: Protocol) -> String {
    if protocol.is_h2() {
        "the server does not agree on HTTP/2 over TLS (h2 in ALPN): let it accept h2, or use --protocol h1".to_owned()
    } else {
        "the server speaks no HTTP/1.1 over TLS, only HTTP/2 or another protocol: let it accept http/1.1 (ALPN), too, or use \
         --protocol h2"
            .to_owned()
    }
}

/// The name of an alert in the RFCs' form (RFC 8446 section 6).
fn alert_name(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => return "unknown_ca".to_owned(),
        AlertDescription::UnrecognisedName => return "unrecognized_name".to_owned(),
        AlertDescription::UnknownPSKIdentity => return "unknown_psk_identity".to_owned(),
        AlertDescription::BadRecordMac => return "bad_record_mac".to_owned(),
        AlertDescription::EncryptedClientHelloRequired => return "ech_required".to_owned(),
        _ => {}
    }
    let mut name = String::new();
    for letter in format!("{alert:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn alert_words(alert: AlertDescription, handshake: &Handshake, asked: bool) -> (String, String) {
    use AlertDescription as Alert;
    let host = &handshake.host;
    let of_certificate = matches!(
        alert,
        Alert::BadCertificate
            | Alert::NoCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::CertificateRequired
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError
    );
    let (why, todo) = match alert {
        Alert::CertificateRequired => ("the server demands a client's certificate", CERT.to_owned()),
        _ if asked && !handshake.has_identity && (of_certificate || alert == Alert::HandshakeFailure) => {
            ("the server asked for a client's certificate and got none", CERT.to_owned())
        }
        Alert::CertificateExpired if asked => (
            "the server refuses the client's certificate: it has expired, or is not valid yet",
            "make a new one".to_owned(),
        ),
        Alert::UnknownCA if asked => (
            "the server refuses the client's certificate: it does not know who issued it",
            "give the server that authority, or the client a certificate of an authority that the server knows".to_owned(),
        ),
        _ if asked && of_certificate => (
            "the server refuses the client's certificate",
            "give the one that it accepts by --cert and --key; its log has the reason".to_owned(),
        ),
        Alert::HandshakeFailure | Alert::InsufficientSecurity => (
            "the server and touchstone have no cipher suite, group or signature in common",
            format!("allow one of these on the server: {OFFERED}"),
        ),
        Alert::ProtocolVersion => (
            "the server and touchstone have no version of TLS in common",
            versions(handshake.min_version).to_owned(),
        ),
        Alert::UnrecognisedName if handshake.sends_name => {
            return (
                format!("the server does not serve the name {host}"),
                "name one that it serves by --sni NAME".to_owned(),
            );
        }
        Alert::UnrecognisedName => (
            "the server needs a name (SNI), and an address is never sent as one",
            "give the name by --sni NAME, or in the URL with --resolve NAME:PORT:ADDRESS".to_owned(),
        ),
        Alert::NoApplicationProtocol => return split(&not_spoken(handshake.protocol)),
        Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown => (
            "the server refused a certificate, though it asked for none",
            "see its log".to_owned(),
        ),
        _ => ("the server ended TLS", "see its log for the reason".to_owned()),
    };
    (why.to_owned(), todo)
}

/// What to do where no version is common.
const fn versions(oldest: MinVersion) -> &'static str {
    match oldest {
        MinVersion::Tls12 => "allow TLS 1.2 or 1.3 on the server; touchstone speaks no older one",
        MinVersion::Tls13 => "allow TLS 1.3 on the server, or 1.2 on this side (--tls-min 1.2)",
    }
}

/// What is offered in a handshake.
const OFFERED: &str = "TLS 1.3, or TLS 1.2 with ECDHE and AES-GCM or ChaCha20; X25519, P-256, P-384 or P-521; \
                       ECDSA, Ed25519 or RSA with SHA-256 and longer";

fn split(sentence: &str) -> (String, String) {
    let (why, todo) = sentence
        .split_once(": ")
        .unwrap_or((sentence, "see its log"));
    (why.to_owned(), todo.to_owned())
}

fn incompatible_words(error: &PeerIncompatible, oldest: MinVersion) -> String {
    match error {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::SupportedVersionsExtensionRequired => format!(
            "the server and touchstone have no version of TLS in common (protocol_version): {}",
            versions(oldest)
        ),
        PeerIncompatible::ExtendedMasterSecretExtensionRequired
        | PeerIncompatible::NoCipherSuitesInCommon
        | PeerIncompatible::NoKxGroupsInCommon
        | PeerIncompatible::NoSignatureSchemesInCommon => format!(
            "the server and touchstone have no cipher suite, group or signature in common ({error:?}): allow one of these on the \
             server: {OFFERED}"
        ),
        PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "the server takes no signature of the kind that the client's key makes: give another key by --cert and --key".to_owned()
        }
        _ => format!("the server's TLS does not fit ({error:?}): see its log"),
    }
}

fn certificate_words(error: &CertificateError, handshake: &Handshake) -> String {
    let host = &handshake.host;
    let any = "take any certificate by --insecure";
    match error {
        CertificateError::UnknownIssuer => format!(
            "the server's certificate is of an unknown authority, or self-signed: name the authority, or the certificate itself, by \
             --cacert FILE, or {any}"
        ),
        CertificateError::ExpiredContext { not_after, .. } => format!(
            "the server's certificate expired on {}: make a new one, or {any}",
            date(not_after.as_secs())
        ),
        CertificateError::Expired => {
            format!("the server's certificate has expired: make a new one, or {any}")
        }
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the server's certificate is not valid before {}: see both clocks, or {any}",
            date(not_before.as_secs())
        ),
        CertificateError::NotValidYet => {
            format!("the server's certificate is not valid yet: see both clocks, or {any}")
        }
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            format!(
                "the server's certificate names no host as subjectAltName, and so not {host}: make one that does, name it by --cacert FILE, or \
             {any}"
            )
        }
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "the server's certificate is for {}, and not for {host}: use such a name in the URL, with --connect-to or \
             --resolve for the address, or --sni NAME, or {any}",
            presented_names(presented)
        ),
        CertificateError::NotValidForName => {
            format!("the server's certificate is not for {host}: use its name in the URL, or {any}")
        }
        CertificateError::Revoked => {
            format!("the server's certificate is revoked: make a new one, or {any}")
        }
        CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => format!(
            "the server's certificate is of an unknown authority: one of the same name is trusted, and has another key: name \
             the right one by --cacert FILE, or {any}"
        ),
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => format!(
            "the server's certificate is signed in a way that cannot be verified here: name the certificate itself by --cacert \
             FILE, or {any}"
        ),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            format!(
                "the server's certificate is not for a server (extendedKeyUsage): make one for serverAuth, or {any}"
            )
        }
        CertificateError::Other(other) => {
            let words = format!("{other:?}");
            let why = if words.contains("UnsupportedCertVersion") {
                "is of X.509 version 1"
            } else if words.contains("CaUsedAsEndEntity") {
                "is one of an authority (CA:TRUE)"
            } else {
                return format!(
                    "the server's certificate cannot be trusted ({words}): make another, or {any}"
                );
            };
            format!("the server's certificate {why}: name it itself by --cacert FILE, or {any}")
        }
        other => format!(
            "the server's certificate cannot be trusted ({other:?}): make another, or {any}"
        ),
    }
}

/// Names as rustls gives them, such as `DnsName("a")`, or as they are.
fn presented_names(presented: &[String]) -> String {
    let bare = |text: &String| {
        let inner = text
            .split_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        inner.unwrap_or(text).trim_matches('"').to_owned()
    };
    presented.iter().map(bare).collect::<Vec<_>>().join(", ")
}

/// A day as `2026-11-27`.
fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().map(ASN1Time::from_timestamp);
    match time {
        Some(Ok(time)) => time.to_datetime().date().to_string(),
        _ => format!("{seconds} s after 1970"),
    }
}
