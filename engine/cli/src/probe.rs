//! `touchstone-engine probe`: conformance to HTTP/1.1 or HTTP/2, case by case.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use touchstone_http::Url;
use touchstone_probe::case::{Case, Level};
use touchstone_probe::h2::frames::Limits;
use touchstone_probe::report::{Report, Span};
use touchstone_probe::runner::{self, Options};
use touchstone_probe::target::{self, Target};
use touchstone_probe::template::{SAMPLE, Values};
use touchstone_probe::{catalogue, explain, fields, table};

use crate::failure::{Failure, Outcome};
use crate::job::{print, replace};
use crate::tls_flags::{Speaks, TlsFlags};

/// Flags of `probe`.
#[derive(clap::Args)]
pub struct Args {
    /// A resource that answers GET with 2xx, such as http://127.0.0.1:8080/hello; --list and --explain go without.
    url: Option<String>,
    /// What is probed. h1: HTTP/1.1, over TLS where the URL says https; h2c: HTTP/2 without TLS, by prior knowledge;
    /// h2: HTTP/2 over TLS.
    #[arg(long, value_enum, default_value = "h1")]
    protocol: Speaks,
    /// Field of every request, such as 'Authorization: Bearer abc'; may be given several times.
    #[arg(long, value_name = "FIELD")]
    header: Vec<String>,
    /// Send POST, PUT, PATCH, DELETE and other methods that may change data too. Only on a service whose data may be
    /// lost: these requests are real. Without it nothing but GET, HEAD, OPTIONS and TRACE is sent.
    #[arg(long = "unsafe")]
    unsafe_methods: bool,
    /// Resource that takes a body by POST and answers 2xx; without it some cases are not applicable. Needs --unsafe.
    #[arg(long, value_name = "TARGET")]
    post: Option<String>,
    /// The body that --post takes.
    #[arg(long, value_name = "TEXT", default_value = SAMPLE, requires = "post")]
    post_body: String,
    /// Its content type.
    #[arg(long, value_name = "TYPE", requires = "post")]
    post_type: Option<String>,
    /// Further field of POST requests; may be given several times.
    #[arg(long, value_name = "FIELD", requires = "post")]
    post_header: Vec<String>,
    /// Play only this category or case; may be given several times.
    #[arg(long, value_name = "CATEGORY|ID")]
    only: Vec<String>,
    /// Tell one case whole; with a URL, what came back too.
    #[arg(long, value_name = "ID")]
    explain: Option<String>,
    /// List the cases.
    #[arg(long)]
    list: bool,
    /// Load the cases from this folder instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Show every requirement and case, not only what is broken.
    #[arg(long)]
    all: bool,
    /// Print the report as JSON (touchstone.probe/2).
    #[arg(long)]
    json: bool,
    /// Write the JSON report to this file as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with 3 if a case of this level or a stronger one is wrong.
    #[arg(long, value_enum)]
    gate: Option<Gate>,
    /// Play the cases that need more than 12 s too.
    #[arg(long)]
    slow: bool,
    /// Cases at the same time.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Seconds that the server may take for an answer.
    #[arg(long, default_value_t = 2.0)]
    patience: f64,
    /// The address that is connected to, in place of the host's first one that answers.
    #[arg(long, value_name = "IP:PORT")]
    address: Option<SocketAddr>,
    /// A host that is not this machine and may be probed all the same.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    #[command(flatten)]
    tls: TlsFlags,
}

/// The weakest level that has to be right.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Gate {
    Must,
    Should,
}

/// Runs it.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    if !(0.1..=60.0).contains(&args.patience) {
        return Err(Failure::Malformed(
            "--patience is in seconds, 0.1 to 60".into(),
        ));
    }
    if let Some(post) = args.post.as_ref().filter(|_| !args.unsafe_methods) {
        return Err(Failure::Malformed(format!(
            "--post {post} sends POST requests, which may change data: add --unsafe if they may"
        )));
    }
    let cases = selected(&args)?;
    if args.list {
        return list(&cases);
    }
    let Some(url) = &args.url else {
        let Some(id) = &args.explain else {
            return Err(Failure::Malformed(
                "give the server's URL, or --list, or --explain ID".into(),
            ));
        };
        let case = cases
            .iter()
            .find(|case| case.id == *id)
            .expect("selected() found it");
        return print(explain::case(case, &Values::sample())).map(|()| Outcome::Done);
    };
    let protocol = args.protocol.into();
    let tls = args.tls.tls();
    let located = target::locate(url, protocol, &tls, args.address, &args.allow_host);
    let (located, dial) = located.map_err(Failure::malformed)?;
    let values = values(&args, located)?;
    let patience = Duration::from_secs_f64(args.patience);
    let target = Target::meet(dial, values, patience).map_err(Failure::failed)?;
    let mut options = Options {
        jobs: args.jobs.into(),
        slow: args.slow,
        unsafe_methods: args.unsafe_methods,
        ..Options::default()
    };
    options.timing.patience = patience;
    let stop = crate::interrupt::flag();
    options.stop = Some(stop);
    let started_unix_s = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    let start = Instant::now();
    let (outcomes, loss) = runner::run(&cases, &target, &options, &|_| {});
    let span = Span {
        unsafe_methods: args.unsafe_methods,
        loss,
        started_unix_s,
        duration_s: start.elapsed().as_secs_f64(),
        interrupted: stop.load(Ordering::Relaxed),
    };
    let report = Report::new(url, &target, args.post.as_deref(), &span, &outcomes);
    tell(&args, &report, &outcomes, &target)?;
    if span.interrupted {
        return Ok(Outcome::Interrupted);
    }
    ending(&args, &report, &span, &outcomes)
}

/// How the subcommand ends after a report that a signal did not cut short.
fn ending(
    args: &Args,
    report: &Report,
    span: &Span,
    outcomes: &[runner::Outcome],
) -> Result<Outcome, Failure> {
    let breached = match args.gate {
        None => 0,
        Some(Gate::Must) => report.breaches(Level::Must),
        Some(Gate::Should) => report.breaches(Level::Must) + report.breaches(Level::Should),
    };
    if breached > 0 {
        return Ok(Outcome::Breached);
    }
    if let Some(loss) = &span.loss {
        return Err(Failure::Failed(format!(
            "the probe did not come to its end: since the case {} {}",
            loss.after, loss.what
        )));
    }
    let counts = &report.counts;
    match outcomes.iter().find_map(|outcome| outcome.reason.as_ref()) {
        Some(why) if counts.not_applicable == counts.total => {
            Err(Failure::Malformed(format!("no case was played: {why}")))
        }
        _ => Ok(Outcome::Done),
    }
}

/// Writes and prints the report in the forms that were asked for.
fn tell(
    args: &Args,
    report: &Report,
    outcomes: &[runner::Outcome],
    target: &Target,
) -> Result<(), Failure> {
    let document = serde_json::to_string_pretty(report).map_err(Failure::failed)?;
    if let Some(path) = &args.out {
        replace(path, document.as_bytes())?;
    }
    if args.json {
        print(format!("{document}\n"))?;
    } else if args.explain.is_some() {
        for outcome in outcomes {
            print(explain::case(&outcome.case, &target.values))?;
            print(explain::outcome(outcome))?;
        }
    } else {
        print(table::render(report, args.all))?;
    }
    Ok(())
}

/// Largest body for POST: it is sent cut at every octet, and many times.
const BODY_LIMIT: usize = 16 << 10;

fn values(args: &Args, url: Url) -> Result<Values, Failure> {
    if let Some(post) = &args.post
        && (!post.starts_with('/') || post.bytes().any(|byte| !byte.is_ascii_graphic()))
    {
        return Err(Failure::Malformed(format!(
            "--post {post:?} is not a target such as /notes"
        )));
    }
    if args.post_body.is_empty() || args.post_body.len() > BODY_LIMIT {
        return Err(Failure::Malformed(format!(
            "--post-body has {} octets; it may have 1 to {BODY_LIMIT}",
            args.post_body.len()
        )));
    }
    let mut posted: Vec<String> = args.post_header.clone();
    posted.extend(
        args.post_type
            .iter()
            .map(|of| format!("Content-Type: {of}")),
    );
    Ok(Values {
        host: url.authority,
        path: url.path,
        tls: url.tls,
        limits: Limits::default(),
        post: args.post.clone(),
        fields: fields::lines(&args.header).map_err(Failure::malformed)?,
        post_fields: fields::lines(&posted).map_err(Failure::malformed)?,
        body: args.post_body.clone().into_bytes(),
    })
}

fn selected(args: &Args) -> Result<Vec<Case>, Failure> {
    let all = match &args.cases {
        Some(folder) => catalogue::from_folder(folder, args.protocol.into()),
        None => catalogue::embedded(args.protocol.into()),
    }
    .map_err(Failure::malformed)?;
    let wanted: Vec<&String> = args.only.iter().chain(&args.explain).collect();
    for name in &wanted {
        if !all
            .iter()
            .any(|case| case.id == **name || case.category == **name)
        {
            let hint = "--list shows the cases and their categories";
            return Err(Failure::Malformed(format!(
                "there is no case or category {name:?}; {hint}"
            )));
        }
    }
    let keep = |case: &Case| {
        wanted.is_empty()
            || wanted
                .iter()
                .any(|name| case.id == **name || case.category == **name)
    };
    Ok(all.into_iter().filter(keep).collect())
}

fn list(cases: &[Case]) -> Result<Outcome, Failure> {
    let mut out = String::new();
    for case in cases {
        out += &format!(
            "{:<6} {:<15} {:<36} {}\n",
            case.level.to_string(),
            case.section,
            case.id,
            case.why
        );
    }
    out += &format!("{} cases\n", cases.len());
    print(out).map(|()| Outcome::Done)
}
