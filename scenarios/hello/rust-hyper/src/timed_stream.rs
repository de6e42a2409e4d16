//! Idle and write timeouts around a socket. hyper has a timeout for reading a request's head, and none
//! for these two.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A deadline whose timer is moved only when it fires early: activity costs a clock reading and no
/// work in the timer wheel.
struct Deadline {
    timeout: Duration,
    last_activity: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Deadline {
    fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            last_activity: None,
            timer: Box::pin(sleep_until(Instant::now() + timeout)),
        }
    }

    fn disarm(&mut self) {
        self.last_activity = None;
    }

    /// Ready once `timeout` has passed since the first poll after `disarm`.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.last_activity.get_or_insert_with(Instant::now);
        loop {
            if self.timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let due = since + self.timeout;
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(due);
        }
    }
}

pub struct TimedStream {
    stream: TcpStream,
    idle: Deadline,
    write_timeout: Duration,
    write: Option<Deadline>,
}

impl TimedStream {
    pub fn new(stream: TcpStream, idle_timeout: Duration, write_timeout: Duration) -> Self {
        Self {
            stream,
            idle: Deadline::new(idle_timeout),
            write_timeout,
            write: None,
        }
    }

    /// Puts a write that is pending under the write timeout.
    fn watch_write<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.write = None;
            return outcome;
        }
        let timeout = self.write_timeout;
        let deadline = self.write.get_or_insert_with(|| Deadline::new(timeout));
        match deadline.poll_expired(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_read(context, buffer);
        if outcome.is_ready() {
            this.idle.disarm();
            return outcome;
        }
        match this.idle.poll_expired(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.watch_write(context, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.watch_write(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
