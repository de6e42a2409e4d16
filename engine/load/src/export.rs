//! A result in other formats: the standard HdrHistogram log, and CSV.

use std::fmt::Write as _;

use crate::histogram::Histogram;
use crate::result::LoadResult;

/// The standard HdrHistogram interval log (format 1.3): one line an interval of the series, warm-up tagged as such.
/// Values are nanoseconds, `Interval_Max` is in milliseconds.
#[must_use]
pub fn hdr_log(result: &LoadResult) -> String {
    let start = result.window.start_unix_s;
    let mut out = String::from("#[Histogram log format version 1.3]\n");
    let _ = writeln!(out, "#[StartTime: {start:.3} (seconds since epoch)]");
    out.push_str("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
    let length = result.job.series_interval_s;
    for (point, packed) in result.series.iter().zip(&result.interval_histograms) {
        let mut histogram = Histogram::default();
        if packed.add_to(&mut histogram).is_err() || histogram.is_empty() {
            continue;
        }
        let tag = if point.phase == "load" {
            String::new()
        } else {
            format!("Tag={},", point.phase)
        };
        let max = histogram.max().0 as f64 / 1e6;
        let begin = start + point.t - length;
        let _ = writeln!(
            out,
            "{tag}{begin:.3},{length:.3},{max:.3},{}",
            histogram.encode()
        );
    }
    out
}

/// The series as CSV, one line an interval; times in seconds, an empty field where nothing was measured.
#[must_use]
pub fn csv(result: &LoadResult) -> String {
    let mut out = String::from("t,phase,sent,ok,errors,p50,p99,max,connections,queue\n");
    let cell = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.9}"));
    for point in &result.series {
        let _ = writeln!(
            out,
            "{:.3},{},{},{},{},{},{},{},{},{}",
            point.t,
            point.phase,
            point.sent,
            point.ok,
            point.errors,
            cell(point.p50),
            cell(point.p99),
            cell(point.max),
            point.connections,
            point.queue
        );
    }
    out
}
