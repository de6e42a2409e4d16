//! Request, idle and write timeouts around a socket. hyper's own timeout for a request's head runs between requests,
//! too, and would end idle connections before the idle timeout does.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Clone, Copy)]
pub struct Timeouts {
    /// From a request's first byte to the first one of its response.
    pub request: Duration,
    pub idle: Duration,
    pub write: Duration,
}

/// A timer that is moved to a later time only when it fires early: activity costs a clock reading and no work in the
/// timer wheel.
struct Timer(Pin<Box<Sleep>>);

impl Timer {
    fn new(due: Instant) -> Self {
        Self(Box::pin(sleep_until(due)))
    }

    fn poll_expired(&mut self, context: &mut Context<'_>, due: Instant) -> Poll<()> {
        if due < self.0.deadline() {
            self.0.as_mut().reset(due);
        }
        loop {
            if self.0.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            self.0.as_mut().reset(due);
        }
    }
}

/// What the next bytes from the client will belong to.
#[derive(Clone, Copy)]
enum Awaited {
    /// The next request, since then.
    Next(Instant),
    /// The rest of the request that began then, or nothing while it is answered.
    Rest(Instant),
}

pub struct TimedStream {
    stream: TcpStream,
    timeouts: Timeouts,
    awaited: Awaited,
    read: Timer,
    /// Since when a write has been pending.
    write: Option<(Instant, Timer)>,
}

impl TimedStream {
    pub fn new(stream: TcpStream, timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self {
            stream,
            timeouts,
            awaited: Awaited::Next(now),
            read: Timer::new(now + timeouts.idle),
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
            self.awaited = Awaited::Next(Instant::now());
            return outcome;
        }
        let timeout = self.timeouts.write;
        let (since, timer) = self.write.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Timer::new(now + timeout))
        });
        match timer.poll_expired(context, *since + timeout) {
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
            if let Awaited::Next(_) = this.awaited {
                this.awaited = Awaited::Rest(Instant::now());
            }
            return outcome;
        }
        let due = match this.awaited {
            Awaited::Next(since) => since + this.timeouts.idle,
            Awaited::Rest(since) => since + this.timeouts.request,
        };
        match this.read.poll_expired(context, due) {
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
