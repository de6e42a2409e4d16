//! The tables of HPACK (RFC 7541, section 2.3 and appendix A).

use std::collections::VecDeque;

/// The static table; its first entry has the index 1.
pub const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The size of a dynamic table where no setting says another, in bytes.
pub const DEFAULT_SIZE: usize = 4096;

/// What an entry costs besides its name and value (section 4.1).
pub const OVERHEAD: usize = 32;

/// A dynamic table. Its newest entry has the index 62.
#[derive(Debug)]
pub struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    most: usize,
    /// Insertions and changes of size so far: while it is the same, an index means the same.
    pub changes: u32,
}

#[derive(Debug)]
struct Entry {
    name: u32,
    bytes: Box<[u8]>,
}

impl Entry {
    const fn size(&self) -> usize {
        self.bytes.len() + OVERHEAD
    }
}

impl Default for Table {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            size: 0,
            most: DEFAULT_SIZE,
            changes: 0,
        }
    }
}

impl Table {
    /// The name and value with an index of either table.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if let Some((name, value)) = STATIC.get(index.wrapping_sub(1)) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entries.get(index.checked_sub(STATIC.len() + 1)?)?;
        Some(entry.bytes.split_at(entry.name as usize))
    }

    /// Adds an entry; one that is larger than the table empties it (section 4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.changes = self.changes.wrapping_add(1);
        let entry = Entry {
            name: name.len() as u32,
            bytes: [name, value].concat().into(),
        };
        self.evict(self.most.saturating_sub(entry.size()));
        if entry.size() <= self.most {
            self.size += entry.size();
            self.entries.push_front(entry);
        }
    }

    /// Changes the largest size.
    pub fn resize(&mut self, most: usize) {
        self.changes = self.changes.wrapping_add(1);
        self.most = most;
        self.evict(most);
    }

    fn evict(&mut self, size: usize) {
        while self.size > size {
            match self.entries.pop_back() {
                Some(entry) => self.size -= entry.size(),
                None => return,
            }
        }
    }
}
