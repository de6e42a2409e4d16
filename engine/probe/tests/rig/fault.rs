//! The faults that can be planted, one switch each.

/// One thing that the rig does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Takes any version that begins with `HTTP/`.
    AnyVersion,
    /// Does not skip an empty line before the request-line.
    NoLeadingCrlf,
    /// Takes any octets in a target.
    AnyTarget,
    /// Does not know the absolute-form.
    NoAbsoluteForm,
    /// Does not mind a missing Host.
    MissingHost,
    /// Does not mind several Host fields.
    ManyHosts,
    /// Does not look at the Host value.
    AnyHostValue,
    /// Trims the whitespace between field name and colon.
    SpaceBeforeColon,
    /// Takes any octets in a field name.
    AnyFieldName,
    /// Takes a bare CR for a line's end.
    CrEndsLine,
    /// Treats a folded line as a field of its own.
    FoldIsField,
    /// Reads Content-Length like `strtoul`: whitespace, sign, then digits up to whatever follows.
    LooseLength,
    /// Goes by the first Content-Length.
    FirstLength,
    /// Computes Content-Length modulo 2^64.
    LengthWraps,
    /// Does not read the content of a GET.
    GetHasNoBody,
    /// Goes by Content-Length where there is Transfer-Encoding too.
    LengthOverCoding,
    /// Keeps the connection after Transfer-Encoding with Content-Length.
    KeepsAfterBoth,
    /// Ignores a coding that it does not know.
    UnknownCodingIgnored,
    /// Computes chunk sizes modulo 2^64.
    ChunkSizeWraps,
    /// Skips whatever two octets follow chunk data.
    ChunkEndUnchecked,
    /// Takes a bare LF for the end of a chunk-size line.
    ChunkLf,
    /// Merges trailer fields: `Connection: close` in a trailer closes.
    TrailersMerged,
    /// Sends content in answer to HEAD.
    HeadHasBody,
    /// Leaves Allow out of 405.
    NoAllow,
    /// Treats unknown methods as GET.
    AnyMethod,
    /// Leaves Date out.
    NoDate,
    /// Chunks the answer to HTTP/1.0.
    ChunksTo10,
    /// Never sends 100 and waits for the content.
    NoContinue,
    /// Sends 100 to an HTTP/1.0 client.
    ContinueTo10,
    /// Ignores `Connection: close`.
    IgnoresClose,
    /// Keeps HTTP/1.0 connections.
    Keeps10,
    /// Closes without an answer when the client half-closes.
    HalfCloseIsGone,
    /// Answers one request for each segment, and drops the rest of it.
    OneRequestASegment,
    /// Answers 431 where 414 is due.
    WrongTargetLimit,
    /// Never answers a header section that is too large, and never closes.
    NoFieldLimit,
    /// Parses each segment by itself.
    NoReassembly,
    /// Refuses a field line without exactly one space after the colon.
    NeedsOneSpace,
    /// Compares field names with case.
    CaseSensitiveNames,
    /// Refuses fields that it does not know.
    RefusesUnknownFields,
    /// Refuses targets with a query.
    RefusesQuery,
    /// Closes every connection after one response, without saying so.
    NeverKeeps,
    /// Takes no more than 1000 octets of request-line and fields.
    TinyLimits,
    /// Takes the first word for the method and the last for the version.
    SplitsAnywhere,
    /// Takes a method that is not a token for GET.
    AnyMethodOctets,
    /// Answers 200 to CONNECT.
    AcceptsConnect,
    /// Sends a field name with a space.
    BadFields,
    /// Ends responses by closing only.
    CloseDelimited,
    /// Takes content that was cut short for whole.
    PartialIsWhole,
    /// Keeps the connection when the client has closed its side.
    StaysAfterEnd,
    /// Answers 206 to any Range, 304 to any If-Modified-Since, 412 to any If-Unmodified-Since.
    AlwaysPartial,
    /// Answers 101 to any Upgrade.
    SwitchesAlways,
    /// Does not read the content of a request that it refuses.
    ErrorsLeaveBody,
    /// Reads content of POST only.
    BodilessMethods,
    /// Takes any path that begins with a resource's for it.
    PrefixRoutes,
    /// Waits for content whenever there is Expect.
    ExpectsAnyBody,
    /// Refuses fields that are too large only while more of them is to come.
    LimitsByArrival,
    /// Stops listening when a request is chunked.
    DiesOfChunks,
}

impl Fault {
    /// All faults, but the one that ends the server.
    pub const ALL: &[Fault] = &[
        Fault::AnyVersion,
        Fault::NoLeadingCrlf,
        Fault::AnyTarget,
        Fault::NoAbsoluteForm,
        Fault::MissingHost,
        Fault::ManyHosts,
        Fault::AnyHostValue,
        Fault::SpaceBeforeColon,
        Fault::AnyFieldName,
        Fault::CrEndsLine,
        Fault::FoldIsField,
        Fault::LooseLength,
        Fault::FirstLength,
        Fault::LengthWraps,
        Fault::GetHasNoBody,
        Fault::LengthOverCoding,
        Fault::KeepsAfterBoth,
        Fault::UnknownCodingIgnored,
        Fault::ChunkSizeWraps,
        Fault::ChunkEndUnchecked,
        Fault::ChunkLf,
        Fault::TrailersMerged,
        Fault::HeadHasBody,
        Fault::NoAllow,
        Fault::AnyMethod,
        Fault::NoDate,
        Fault::ChunksTo10,
        Fault::NoContinue,
        Fault::ContinueTo10,
        Fault::IgnoresClose,
        Fault::Keeps10,
        Fault::HalfCloseIsGone,
        Fault::OneRequestASegment,
        Fault::WrongTargetLimit,
        Fault::NoFieldLimit,
        Fault::NoReassembly,
        Fault::NeedsOneSpace,
        Fault::CaseSensitiveNames,
        Fault::RefusesUnknownFields,
        Fault::RefusesQuery,
        Fault::NeverKeeps,
        Fault::TinyLimits,
        Fault::SplitsAnywhere,
        Fault::AnyMethodOctets,
        Fault::AcceptsConnect,
        Fault::BadFields,
        Fault::CloseDelimited,
        Fault::PartialIsWhole,
        Fault::StaysAfterEnd,
        Fault::AlwaysPartial,
        Fault::SwitchesAlways,
        Fault::ErrorsLeaveBody,
        Fault::BodilessMethods,
        Fault::PrefixRoutes,
        Fault::ExpectsAnyBody,
        Fault::LimitsByArrival,
    ];
}
