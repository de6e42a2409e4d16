//! The flags of a person, made into the same job that the lab sends.

use std::path::PathBuf;
use std::time::SystemTime;

use touchstone_exchange::reflection::reflect;
use touchstone_exchange::template::fresh_of;
use touchstone_exchange::{Transport, seconds as exchange_seconds};
use touchstone_load::job::{
    Arrivals, BackendChoice, BodyEncoding, Expect, ExpectBody, Grpc, Job, Loop, Protocol, Request,
    Step, Stream, WebSocket, WebSocketKind,
};
use touchstone_load::target::permitted;

use super::mix::{Mix, one_server};
use super::place::elsewhere;
use super::stream::StreamFlags;
use crate::failure::Failure;
use crate::tls_flags::{Speaks, TlsFlags};

/// What a person types.
#[derive(clap::Args)]
pub struct Flags {
    /// What to load: http://127.0.0.1:8080/path, grpc://127.0.0.1:50051/package.Service/Method (grpcs:// over TLS), or
    /// ws://127.0.0.1:8080/path (wss:// over TLS), where each message of -b gets its echo;
    /// several of one server are asked for equally often.
    #[arg(value_name = "URL", required_unless_present_any = ["job", "worker"])]
    urls: Vec<String>,
    /// What is sent, as JSON: `requests` or `journeys`, and `rows`, in a load job's words. `touchstone load` makes it
    /// from TOML.
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["method", "body", "proto", "messages", "rows", "expect_status", "expect_grpc_status", "expect_body", "expect_pattern", "stream", "greetings"])]
    mix: Option<PathBuf>,
    /// Connections.
    #[arg(short = 'c', long, default_value_t = 64, help_heading = "Load")]
    connections: u32,
    /// How long: 10s, 500ms, 2m.
    #[arg(short = 'd', long, default_value = "10s", value_parser = seconds, help_heading = "Load")]
    duration: f64,
    /// Threads, each with its share of the connections.
    #[arg(short = 't', long, default_value_t = 1, help_heading = "Load")]
    threads: u32,
    /// Open loop: requests a second, sent when they are due whatever the server does.
    #[arg(short = 'R', long, value_name = "REQ/S", help_heading = "Load")]
    rate: Option<f64>,
    /// Poisson arrivals and not equal gaps.
    #[arg(long, help_heading = "Load")]
    poisson: bool,
    /// One rate after another: 1000:5s,2000:5s
    #[arg(long, value_name = "RATE:TIME,...", value_delimiter = ',', conflicts_with_all = ["rate", "ramp"], help_heading = "Load")]
    steps: Vec<String>,
    /// A rate that changes evenly over the duration: 1000..20000
    #[arg(
        long,
        value_name = "FROM..TO",
        conflicts_with = "rate",
        help_heading = "Load"
    )]
    ramp: Option<String>,
    /// Stop after this many requests.
    #[arg(short = 'n', long, value_name = "N", help_heading = "Load")]
    requests: Option<u64>,
    /// Load before the measured window.
    #[arg(long, default_value = "0s", value_parser = seconds, help_heading = "Load")]
    warmup: f64,
    /// Give a request up after this long.
    #[arg(long, default_value = "5s", value_parser = seconds, help_heading = "Load")]
    timeout: f64,
    /// h1: HTTP/1.1; h2c: HTTP/2 without TLS, by prior knowledge; h2: HTTP/2 over TLS.
    /// h1 if not given; gRPC is h2c, or h2 with grpcs://.
    #[arg(long, value_enum, help_heading = "Connections")]
    protocol: Option<Speaks>,
    /// HTTP/2: requests in flight on each connection.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "M",
        help_heading = "Connections"
    )]
    streams: u32,
    /// HTTP/1.1 and WebSocket: requests or messages in flight on each connection.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        help_heading = "Connections"
    )]
    pipeline: u32,
    /// A connection for each request.
    #[arg(long, help_heading = "Connections")]
    no_keepalive: bool,
    /// A new connection after this number of requests.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "no_keepalive",
        help_heading = "Connections"
    )]
    requests_per_connection: Option<u32>,
    /// Do not send an idempotent request once more whose kept connection the server closed without a byte of a response:
    /// it fails.
    #[arg(long, help_heading = "Connections")]
    no_repeat: bool,
    /// Spread the connections' source addresses over a network: 127.0.0.0/8
    #[arg(long, value_name = "NETWORK", help_heading = "Connections")]
    source: Option<String>,
    /// epoll, io_uring, or whichever is cheaper here.
    #[arg(long, value_enum, default_value_t = Backend::Auto, help_heading = "Connections")]
    backend: Backend,
    /// Pin the threads to these CPUs, in turn.
    #[arg(
        long,
        value_name = "CPU,...",
        value_delimiter = ',',
        help_heading = "Connections"
    )]
    cpus: Option<Vec<u32>>,
    #[command(flatten)]
    tls: TlsFlags,
    /// New connections resume the session of an earlier one where the server lets them. Without it each has a full handshake.
    #[arg(long, help_heading = "TLS")]
    resume: bool,
    /// Connect elsewhere than the URL says: shop.test:443:127.0.0.1:8443. The Host field and the name in TLS stay the URL's.
    #[arg(long, value_name = "HOST:PORT:HOST:PORT", help_heading = "Connections")]
    connect_to: Vec<String>,
    /// Take this address for the URL's host: shop.test:443:127.0.0.1
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Connections")]
    resolve: Vec<String>,
    /// Open loop: send at multiples of this; longer is cheaper and later. 250us above 4,000 requests/s, else 0, if not given.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Load")]
    slot: Option<f64>,
    /// Length of one interval of the series; a twentieth of the duration if not given, 0.1 to 1 s.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Output")]
    interval: Option<f64>,
    /// Allow a target that is not on this machine. Load only what is yours.
    #[arg(long, value_name = "HOST", help_heading = "Connections")]
    allow_host: Vec<String>,
    /// Method.
    #[arg(short = 'm', long, help_heading = "Request")]
    method: Option<String>,
    /// Header, "Name: value"; may be repeated.
    #[arg(
        short = 'H',
        long = "header",
        value_name = "HEADER",
        help_heading = "Request"
    )]
    headers: Vec<String>,
    /// Body, or @FILE; of a gRPC call its message in JSON, of a WebSocket the message. {counter}, {random}, {fresh}, {key:1..500:zipf}, {row.NAME} and {x*10} are filled in, here, in the
    /// URL and in headers: docs/templates.md.
    #[arg(short = 'b', long, value_name = "TEXT", help_heading = "Request")]
    body: Option<String>,
    /// gRPC: the .proto file, or descriptor set, that has the service. Without it the server is asked (reflection).
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    proto: Option<String>,
    /// gRPC: a folder in which imports of --proto are looked for; may be repeated. The file's folder and those above it if
    /// not given.
    #[arg(long, value_name = "DIR", requires = "proto", help_heading = "Request")]
    proto_path: Vec<String>,
    /// gRPC: how often -b is sent in one call of a method that takes a stream. -b may hold several messages itself, one
    /// behind the other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Request")]
    messages: Option<u32>,
    /// A CSV or JSON lines file whose rows {row.NAME} takes values from.
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    rows: Option<String>,
    /// The statuses that are right; 200 to 299 if not given.
    #[arg(
        long,
        value_name = "STATUS,...",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(100..600),
        help_heading = "Request"
    )]
    expect_status: Option<Vec<u16>>,
    /// gRPC: the status codes that are right, such as NOT_FOUND; OK if not given.
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        help_heading = "Request"
    )]
    expect_grpc_status: Option<Vec<String>>,
    /// The body that is right, the data of each event of a stream, or the message of a gRPC call in JSON; {counter} and the
    /// like stand for what was sent.
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    expect_body: Option<String>,
    /// A regular expression that the whole body must match, or the data of each event.
    #[arg(
        long,
        value_name = "REGEX",
        conflicts_with = "expect_body",
        help_heading = "Request"
    )]
    expect_pattern: Option<String>,
    /// WebSocket: how many messages the server sends on its own when a connection opens.
    #[arg(long, value_name = "N", help_heading = "Connections")]
    greetings: Option<u32>,
    #[command(flatten)]
    stream: StreamFlags,
}

/// What a URL's scheme stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Grpc,
    WebSocket,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Backend {
    Auto,
    Epoll,
    #[value(name = "io_uring", alias = "io-uring", alias = "uring")]
    IoUring,
}

impl Flags {
    /// The job that the flags describe.
    pub fn job(&self) -> Result<Job, Failure> {
        let (urls, scheme) = as_http(&self.urls)?;
        let grpc = scheme == Scheme::Grpc;
        let (base, targets) = one_server(&urls)?;
        let mut job = Job::for_url(&base);
        job.allow_hosts.clone_from(&self.allow_host);
        job.connections = self.connections;
        job.duration_s = self.duration;
        job.threads = self.threads;
        job.max_requests = self.requests;
        job.warmup_s = self.warmup;
        job.timeout_s = self.timeout;
        job.protocol = match self.protocol {
            None if grpc && base.starts_with("https") => Protocol::H2,
            None if grpc => Protocol::H2c,
            None => Protocol::H1,
            Some(spoken) => spoken.into(),
        };
        job.streams = self.streams;
        job.pipeline = self.pipeline;
        job.keepalive = !self.no_keepalive;
        job.requests_per_connection = self.requests_per_connection;
        job.repeat = !self.no_repeat;
        job.sources.clone_from(&self.source);
        job.cpus.clone_from(&self.cpus);
        job.backend = match self.backend {
            Backend::Auto => BackendChoice::Auto,
            Backend::Epoll => BackendChoice::Epoll,
            Backend::IoUring => BackendChoice::IoUring,
        };
        job.pacing_slot_s = self.slot;
        job.tls = self.tls.tls();
        job.tls.resume = self.resume;
        job.connect_to = elsewhere(&base, &self.connect_to, &self.resolve)?;
        job.arrival = self.arrival()?;
        job.series_interval_s = self
            .interval
            .unwrap_or_else(|| (job.window_s() / 20.0).clamp(0.1, 1.0));
        job.rows.clone_from(&self.rows);
        // Keys are the same in each run; this is what sets one run's apart from the last one's.
        job.fresh = Some(fresh_of(now_ns()));
        let stream = self.stream.stream()?;
        if let Some(file) = &self.mix {
            let mix = Mix::read(file, &base, &targets, &self.fields()?)?;
            let is_message = |request: &Request| request.websocket.is_some();
            if scheme == Scheme::WebSocket && !mix.requests.iter().all(is_message) {
                let why = "the URL is of a WebSocket, and not all requests of the mix are messages: give each `websocket`";
                return Err(Failure::Malformed(why.to_owned()));
            }
            (job.requests, job.journeys, job.rows) = (mix.requests, mix.journeys, mix.rows);
        } else {
            job.requests = targets
                .iter()
                .map(|target| {
                    let grpc = self.call(target, grpc)?;
                    let request = self.request(target, grpc, targets.len() > 1, stream.clone())?;
                    self.over_websocket(request, scheme)
                })
                .collect::<Result<_, _>>()?;
        }
        job.validate().map_err(Failure::malformed)?;
        ask_for_schemas(&mut job)?;
        Ok(job)
    }

    fn arrival(&self) -> Result<Loop, Failure> {
        let arrivals = if self.poisson {
            Arrivals::Poisson
        } else {
            Arrivals::Uniform
        };
        if let Some(rate) = self.rate {
            return Ok(Loop::Open { rate, arrivals });
        }
        if !self.steps.is_empty() {
            let steps: Result<_, _> = self.steps.iter().map(|text| step(text)).collect();
            return Ok(Loop::Steps {
                steps: steps?,
                arrivals,
            });
        }
        if let Some(text) = &self.ramp {
            let bad = || {
                Failure::Malformed(format!(
                    "--ramp {text}: write it as FROM..TO, such as 1000..20000"
                ))
            };
            let (from, to) = text.split_once("..").ok_or_else(bad)?;
            let number = |part: &str| part.trim().parse::<f64>().map_err(|_| bad());
            return Ok(Loop::Ramp {
                from: number(from)?,
                to: number(to)?,
                arrivals,
            });
        }
        if self.poisson {
            return Err(Failure::Malformed(
                "--poisson needs a rate: give --rate, --steps or --ramp".to_owned(),
            ));
        }
        Ok(Loop::Closed)
    }

    fn fields(&self) -> Result<Vec<(String, String)>, Failure> {
        let field = |header: &String| {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Failure::Malformed(format!("-H {header:?}: write it as \"Name: value\""))
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        self.headers.iter().map(field).collect()
    }

    /// One of several is named by its target, by which a person knows it.
    fn request(
        &self,
        target: &str,
        grpc: Option<Grpc>,
        one_of_several: bool,
        stream: Option<Stream>,
    ) -> Result<Request, Failure> {
        let body = match self
            .body
            .as_deref()
            .map(|text| (text, text.strip_prefix('@')))
        {
            None => None,
            Some((_, Some(file))) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::Malformed(format!("-b @{file} cannot be read: {error}"))
                })?;
                Some(text)
            }
            Some((text, None)) => Some(text.to_owned()),
        };
        let expected = match (&self.expect_body, &self.expect_pattern) {
            (Some(text), _) => Some(ExpectBody::Exact {
                value: text.clone(),
            }),
            (None, Some(pattern)) => Some(ExpectBody::Pattern {
                value: pattern.clone(),
            }),
            (None, None) => None,
        };
        let default_method = if body.is_some() { "POST" } else { "GET" };
        Ok(Request {
            name: one_of_several.then(|| target.to_owned()),
            weight: 1,
            method: self
                .method
                .clone()
                .unwrap_or_else(|| default_method.to_owned()),
            target: grpc.is_none().then(|| target.to_owned()),
            headers: self.fields()?,
            body,
            encoding: BodyEncoding::Text,
            grpc,
            websocket: None,
            expect: Expect {
                status: self.expect_status.clone(),
                grpc_status: self.expect_grpc_status.clone(),
                body: expected.clone().filter(|_| stream.is_none()),
                ..Expect::default()
            },
            stream: stream.map(|stream| Stream {
                expect: expected,
                ..stream
            }),
        })
    }
}

impl Flags {
    /// The request as the handshake of a WebSocket, if the URL is of one.
    fn over_websocket(&self, mut request: Request, scheme: Scheme) -> Result<Request, Failure> {
        if scheme == Scheme::WebSocket {
            request.method = self.method.clone().unwrap_or_else(|| "GET".to_owned());
            request.websocket = Some(WebSocket {
                kind: WebSocketKind::Echo,
                greetings: self.greetings.unwrap_or(0),
            });
        } else if self.greetings.is_some() {
            let why = "--greetings is WebSocket's: write the URL as ws://HOST:PORT/path";
            return Err(Failure::Malformed(why.to_owned()));
        }
        Ok(request)
    }

    /// The method that a URL of gRPC names.
    fn call(&self, target: &str, grpc: bool) -> Result<Option<Grpc>, Failure> {
        if !grpc {
            let given = [
                ("--proto", self.proto.is_some()),
                ("--messages", self.messages.is_some()),
            ];
            return match given.iter().find(|(_, is_given)| *is_given) {
                None => Ok(None),
                Some((flag, _)) => Err(Failure::Malformed(format!(
                    "{flag} is gRPC's: write the URL as grpc://HOST:PORT/package.Service/Method"
                ))),
            };
        }
        Ok(Some(Grpc {
            method: target.trim_start_matches('/').to_owned(),
            proto: self.proto.clone(),
            proto_path: self.proto_path.clone(),
            reflected: None,
            messages: self.messages,
        }))
    }
}

/// URLs with the schemes of HTTP, and what theirs stood for.
fn as_http(urls: &[String]) -> Result<(Vec<String>, Scheme), Failure> {
    const SCHEMES: [(&str, &str, Scheme); 4] = [
        ("grpc", "http", Scheme::Grpc),
        ("grpcs", "https", Scheme::Grpc),
        ("ws", "http", Scheme::WebSocket),
        ("wss", "https", Scheme::WebSocket),
    ];
    let mut spoken: Option<Scheme> = None;
    let mut plain = Vec::new();
    for url in urls {
        let known = url.trim_start().split_once("://").and_then(|(name, rest)| {
            let mut all = SCHEMES.iter();
            let found = all.find(|(scheme, ..)| scheme.eq_ignore_ascii_case(name))?;
            Some((format!("{}://{rest}", found.1), found.2))
        });
        let (url, scheme) = known.unwrap_or_else(|| (url.clone(), Scheme::Http));
        if *spoken.get_or_insert(scheme) != scheme {
            return Err(Failure::Malformed(
                "the URLs have several protocols, such as gRPC and plain HTTP: one load speaks one of them".to_owned(),
            ));
        }
        plain.push(url);
    }
    Ok((plain, spoken.unwrap_or(Scheme::Http)))
}

/// Asks the server for the schemas that no file gives.
fn ask_for_schemas(job: &mut Job) -> Result<(), Failure> {
    if !job.all_requests().any(|request| request.grpc.is_some()) {
        return Ok(());
    }
    let target = permitted(job).map_err(|error| super::failure(&error))?;
    let transport = Transport::to(&target, job.protocol, &job.tls).map_err(Failure::Malformed)?;
    let timeout = exchange_seconds("timeout", job.timeout_s)?;
    let steps = job.journeys.iter_mut().flat_map(|one| &mut one.steps);
    let requests = job
        .requests
        .iter_mut()
        .chain(steps.map(|step| &mut step.request));
    let calls = requests.filter_map(|one| Some((one.grpc.as_mut()?, &one.headers[..])));
    reflect(calls, (&target, &transport), timeout).map_err(Failure::Failed)
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

fn step(text: &str) -> Result<Step, Failure> {
    let bad = || {
        Failure::Malformed(format!(
            "--steps {text}: write each step as RATE:TIME, such as 1000:5s"
        ))
    };
    let (rate, time) = text.split_once(':').ok_or_else(bad)?;
    Ok(Step {
        rate: rate.parse().map_err(|_| bad())?,
        seconds: seconds(time).map_err(|_| bad())?,
    })
}

/// Parses `10s`, `500ms`, `250us`, `2m`, or plain seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("{other:?} is not a unit; use us, ms, s, m or h")),
    };
    digits
        .parse::<f64>()
        .map(|number| number * unit)
        .map_err(|_| format!("{text:?} is not a time; write 10s or 500ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(
            (seconds("10s"), seconds("1.5m"), seconds("3")),
            (Ok(10.0), Ok(90.0), Ok(3.0))
        );
        assert!((seconds("500ms").unwrap() - 0.5).abs() < 1e-12);
        assert!(seconds("10x").is_err() && seconds("s").is_err());
    }
}
