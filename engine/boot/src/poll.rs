//! Finding the moment at which the port opens, and exchanging the first request.

use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;
use touchstone_exchange::{Progress, Reader, Response};
use touchstone_watch::monotonic_ns;

/// A try to connect.
pub enum Try {
    /// Connected.
    Open(OwnedFd),
    /// Nobody listens.
    Closed,
    /// Something else, such as a full queue.
    Failed(io::Error),
}

/// Connects again and again to one address from one source port.
///
/// The source port is chosen once. With the kernel's choice at each try, sooner or later it would be the server's own
/// port: the try would connect to itself, and the server would find its port in use.
pub struct Knocker {
    address: SocketAddr,
    source: u16,
}

impl Knocker {
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut knocker = Self { address, source: 0 };
        knocker.choose_source()?;
        Ok(knocker)
    }

    /// Tries once; takes some 10 microseconds when nobody listens.
    pub fn knock(&mut self, patience: Duration) -> Try {
        match self.connect(patience) {
            Ok(socket) => Try::Open(socket),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Try::Closed,
            Err(e) => {
                if matches!(
                    e.kind(),
                    io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable
                ) {
                    let _ = self.choose_source();
                }
                Try::Failed(e)
            }
        }
    }

    fn connect(&self, patience: Duration) -> io::Result<OwnedFd> {
        let socket = tcp_socket(&self.address)?;
        set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1);
        // Closing sends a reset, so nothing stays in TIME_WAIT on either side.
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        // SAFETY: the option's value is a linger.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size_of::<libc::linger>() as u32,
            );
        }
        let mut own = self.address;
        own.set_port(self.source);
        bind(&socket, &own)?;
        let to = SockAddr::from(self.address);
        // SAFETY: the address is valid for its length.
        let done = unsafe { libc::connect(socket.as_raw_fd(), to.as_ptr().cast(), to.len()) };
        if done == 0 {
            return Ok(socket);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINPROGRESS) {
            return Err(error);
        }
        if !ready(&socket, libc::POLLOUT, patience) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match pending_error(&socket) {
            0 => Ok(socket),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// Lets the kernel choose a free port that is not the target's.
    fn choose_source(&mut self) -> io::Result<()> {
        for _ in 0..16 {
            let socket = tcp_socket(&self.address)?;
            let mut own = self.address;
            own.set_port(0);
            bind(&socket, &own)?;
            self.source = local_port(&socket)?;
            if self.source != self.address.port() {
                break;
            }
        }
        Ok(())
    }
}

/// Sends a request and reads the response to its end.
pub fn exchange(
    socket: &OwnedFd,
    request: &[u8],
    method: &str,
    patience: Duration,
) -> Result<Response, String> {
    let deadline = monotonic_ns() + u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX / 2);
    let mut rest = request;
    while !rest.is_empty() {
        // SAFETY: the rest of the request is valid for its length.
        let n = unsafe {
            libc::send(
                socket.as_raw_fd(),
                rest.as_ptr().cast(),
                rest.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        match usize::try_from(n) {
            Ok(n) => rest = &rest[n..],
            Err(_) => wait(socket, libc::POLLOUT, deadline).map_err(|e| format!("sending: {e}"))?,
        }
    }
    let mut reader = Reader::new(method);
    let mut buffer = [0u8; 16 * 1024];
    loop {
        // SAFETY: the buffer is valid for its length.
        let n = unsafe {
            libc::recv(
                socket.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                0,
            )
        };
        match usize::try_from(n) {
            Ok(0) => return reader.close(),
            Ok(n) => {
                if let Progress::Complete(response) = reader.push(&buffer[..n])? {
                    return Ok(response);
                }
            }
            Err(_) => {
                wait(socket, libc::POLLIN, deadline).map_err(|e| format!("receiving: {e}"))?
            }
        }
    }
}

/// After a call that could not go on: waits if it would have blocked, else gives its error.
fn wait(socket: &OwnedFd, events: i16, deadline: u64) -> io::Result<()> {
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock => {
            let left = Duration::from_nanos(deadline.saturating_sub(monotonic_ns()));
            if !left.is_zero() && ready(socket, events, left) {
                Ok(())
            } else {
                Err(io::ErrorKind::TimedOut.into())
            }
        }
        _ => Err(error),
    }
}

/// Whether a descriptor became ready in time.
pub fn ready(fd: &OwnedFd, events: i16, patience: Duration) -> bool {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    };
    let time = libc::timespec {
        tv_sec: patience.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: i64::from(patience.subsec_nanos()),
    };
    // SAFETY: one valid entry, a valid time, no signal mask.
    unsafe { libc::ppoll(&raw mut entry, 1, &raw const time, std::ptr::null()) > 0 }
}

fn tcp_socket(address: &SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    // SAFETY: no pointers.
    let fd = unsafe {
        libc::socket(
            family,
            libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
            0,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor has just been opened.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set_option(socket: &OwnedFd, level: i32, name: i32, value: i32) {
    let size = size_of::<i32>() as u32;
    // SAFETY: the option's value is an int.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size,
        )
    };
}

fn bind(socket: &OwnedFd, address: &SocketAddr) -> io::Result<()> {
    let address = SockAddr::from(*address);
    // SAFETY: the address is valid for its length.
    let done = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), address.len()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn local_port(socket: &OwnedFd) -> io::Result<u16> {
    // SAFETY: an all-zero storage is valid, and its size is given.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as u32;
    // SAFETY: as above.
    let done = unsafe {
        libc::getsockname(
            socket.as_raw_fd(),
            (&raw mut storage).cast(),
            &raw mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    // The port lies at the same place in both families.
    // SAFETY: the storage is large and aligned enough for either.
    let port = unsafe { (*(&raw const storage).cast::<libc::sockaddr_in>()).sin_port };
    Ok(u16::from_be(port))
}

fn pending_error(socket: &OwnedFd) -> i32 {
    let mut code = 0i32;
    let mut size = size_of::<i32>() as u32;
    // SAFETY: the option's value is an int.
    unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut code).cast(),
            &raw mut size,
        );
    }
    code
}
