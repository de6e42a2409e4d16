//! What lies between the logic of a worker and the kernel interface that moves its bytes.

use std::io;

use touchstone_sys::socket::Stream;

/// What a worker asks of its backend.
pub trait Wire {
    /// Begins a connection in a slot: its socket, and whether it is established already.
    ///
    /// # Errors
    /// What the kernel answered.
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(Stream, bool)>;

    /// Sends bytes, or as many as the socket takes. `lasting` says that they stay where they are for the whole run.
    ///
    /// # Errors
    /// What the kernel answered; a full socket is `Ok(0)`.
    fn send(
        &mut self,
        slot: u32,
        socket: &Stream,
        bytes: &[u8],
        lasting: bool,
    ) -> io::Result<usize>;

    /// Closes the slot's socket.
    fn close(&mut self, slot: u32, socket: Stream);

    /// Why the slot's connection ends with this error number, in the words of what lies between worker and socket, if that
    /// knows more than the number.
    fn explain(&self, _slot: u32, _error: i32) -> Option<String> {
        None
    }

    /// System calls so far.
    fn syscalls(&self) -> u64;
}
