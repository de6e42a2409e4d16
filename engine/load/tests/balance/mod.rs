//! What holds of every result.

use touchstone_load::result::LoadResult;

/// Every request that was sent ended in one way, and no connection counts as a request.
pub fn assert_balanced(result: &LoadResult) {
    let counts = &result.counts;
    assert_eq!(
        counts.sent,
        counts.ok + counts.wrong + counts.failed,
        "{counts:?}"
    );
    assert_eq!(counts.completed, counts.ok + counts.wrong, "{counts:?}");
    let errors: u64 = counts.errors.values().sum();
    assert_eq!(
        errors + counts.unanswered,
        counts.wrong + counts.failed,
        "{counts:?}"
    );
    assert!(counts.repeated <= counts.sent, "{counts:?}");
    let rows = |field: fn(&touchstone_load::result::RequestResult) -> u64| -> u64 {
        result.requests.iter().map(field).sum()
    };
    assert_eq!(
        (
            rows(|row| row.sent),
            rows(|row| row.ok),
            rows(|row| row.errors)
        ),
        (counts.sent, counts.ok, errors)
    );
    if result.window.warmup_s == 0.0 {
        let points = result.series.iter();
        let series: u64 = points.map(|point| point.errors).sum();
        assert_eq!(series, errors, "{counts:?}");
    }
    for step in result.steps.iter().flatten() {
        assert!(step.sent >= step.ok + step.errors, "{step:?}");
    }
}
