//! The CPU quotas of this process: those of its own cgroup and of the groups above.

use crate::groups::Groups;
use crate::procfs::BUFFER;
use std::sync::{Mutex, OnceLock, PoisonError};
use touchstone_sys::clock::Nanos;

/// The groups with a quota, and a buffer to read them with.
type Own = Mutex<(Groups, [u8; BUFFER])>;

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut buffer = [0; BUFFER];
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        Mutex::new((Groups::with_quota(pid, &mut buffer), buffer))
    })
}

/// Time for which the quotas kept tasks of their groups off the CPU since this was first asked, summed over CPUs.
/// `None` if no group had a quota then.
#[must_use]
pub fn throttled() -> Option<Nanos> {
    let mut own = own().lock().unwrap_or_else(PoisonError::into_inner);
    let (groups, buffer) = &mut *own;
    groups.read(buffer).throttled
}

/// The directories of the groups with a quota.
#[must_use]
pub fn directories() -> Vec<String> {
    let own = own().lock().unwrap_or_else(PoisonError::into_inner);
    own.0.directories()
}
