//! The streams of a connection that are open, found by their number.

/// Streams for which there is room from the first one on, at most.
const FIRST: u32 = 16;

/// A stream that is open, with what its owner keeps for it.
#[derive(Debug)]
pub struct Stream<T> {
    /// The owner's.
    pub data: T,
    /// Bytes of body that Content-Length still announces.
    pub left: Option<u64>,
    /// Bytes that the peer lets us send on it.
    pub send: i64,
    /// Bytes that we let the peer send on it.
    pub receive: i64,
    /// Whether the response has no body: the request was a HEAD.
    pub to_head: bool,
    /// Whether the final head has come.
    pub answered: bool,
}

/// The open streams. A place stays that of its stream until that is taken out.
#[derive(Debug)]
pub struct Streams<T> {
    /// By place: the stream's number, or 0. Apart from the rest, so that looking for one is cheap.
    ids: Vec<u32>,
    streams: Vec<Option<Stream<T>>>,
    /// Where the next one may be free.
    hint: usize,
    /// Streams that are wanted at once.
    wanted: u32,
}

impl<T> Streams<T> {
    /// No stream yet, and this many are wanted at once.
    pub const fn new(wanted: u32) -> Self {
        Self {
            ids: Vec::new(),
            streams: Vec::new(),
            hint: 0,
            wanted,
        }
    }

    /// Opens one; gives its place.
    pub fn insert(&mut self, id: u32, stream: Stream<T>) -> usize {
        let free = self.ids.get(self.hint) == Some(&0);
        let place = if free { Some(self.hint) } else { self.find(0) };
        let place = place.unwrap_or_else(|| {
            if self.ids.is_empty() {
                // Exactly, so that a connection with few streams holds no memory for others.
                let first = self.wanted.clamp(1, FIRST) as usize;
                self.ids.reserve_exact(first);
                self.streams.reserve_exact(first);
            }
            self.ids.push(0);
            self.streams.push(None);
            self.ids.len() - 1
        });
        self.ids[place] = id;
        self.streams[place] = Some(stream);
        place
    }

    /// The place of a stream.
    #[inline]
    pub fn find(&self, id: u32) -> Option<usize> {
        self.ids.iter().position(|one| *one == id)
    }

    /// The stream at a place.
    pub fn get(&self, place: usize) -> Option<&Stream<T>> {
        self.streams.get(place)?.as_ref()
    }

    /// The stream at a place.
    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut Stream<T>> {
        self.streams.get_mut(place)?.as_mut()
    }

    /// Takes one out, with its number.
    pub fn remove(&mut self, place: usize) -> Option<(u32, Stream<T>)> {
        let stream = self.streams.get_mut(place)?.take()?;
        self.hint = place;
        Some((std::mem::take(&mut self.ids[place]), stream))
    }

    /// All of them, with place and number.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32, &Stream<T>)> {
        let all = self.ids.iter().zip(&self.streams).enumerate();
        all.filter_map(|(place, (id, stream))| Some((place, *id, stream.as_ref()?)))
    }

    /// All of them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream<T>> {
        self.streams.iter_mut().flatten()
    }
}
