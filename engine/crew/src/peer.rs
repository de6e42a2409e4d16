//! One process of a crew: a child of this one, or one on another machine behind a socket. Both take orders and give answers
//! as JSON, one document a line.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What came from a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard<A> {
    /// An answer.
    Said(A),
    /// A line that is not an answer, and why.
    Garbled(String),
    /// Nothing more will come.
    Ended,
}

/// A process as its coordinator sees it. Dropping it ends a child, and takes leave of one on another machine.
#[derive(Debug)]
pub struct Peer {
    place: Place,
    orders: Option<Channel>,
}

#[derive(Debug)]
enum Place {
    Child(Child),
    Remote { name: String, socket: UnixStream },
}

type Channel = Box<dyn WriteSend>;

trait WriteSend: Write + Send + fmt::Debug {}
impl<T: Write + Send + fmt::Debug> WriteSend for T {}

impl Peer {
    /// Starts a process on this machine by a command, in a process group of its own: an interrupt at the terminal is the
    /// coordinator's to pass on. `hear` gets its output, on a thread of its own, until it returns false.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn child<A: DeserializeOwned>(
        command: &[OsString],
        hear: impl FnMut(Heard<A>) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("this caller has no command that starts one"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        if let Some(output) = child.stdout.take() {
            listen(output, hear);
        }
        Ok(Self {
            orders: child.stdin.take().map(|input| Box::new(input) as _),
            place: Place::Child(child),
        })
    }

    /// Reaches a process on another machine, by a Unix socket of which each connection leads to one's standard input and
    /// output. `hear` as in [`Self::child`].
    ///
    /// # Errors
    /// When nobody is reached.
    pub fn remote<A: DeserializeOwned>(
        name: &str,
        link: &Path,
        hear: impl FnMut(Heard<A>) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let socket = UnixStream::connect(link)?;
        let orders = socket.try_clone()?;
        listen(socket.try_clone()?, hear);
        Ok(Self {
            orders: Some(Box::new(orders)),
            place: Place::Remote {
                name: name.to_owned(),
                socket,
            },
        })
    }

    /// Gives it an order.
    ///
    /// # Errors
    /// When it is gone, which the end of its answers tells as well.
    pub fn tell(&mut self, order: &impl Serialize) -> io::Result<()> {
        match &mut self.orders {
            Some(orders) => say(orders, order),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// The name of the machine that it runs on, if that is another.
    #[must_use]
    pub fn generator(&self) -> Option<&str> {
        match &self.place {
            Place::Child(_) => None,
            Place::Remote { name, .. } => Some(name),
        }
    }

    /// Takes leave of it: the end of its orders ends the process, which is waited for if it is a child.
    pub fn dismiss(&mut self) {
        drop(self.orders.take());
        match &mut self.place {
            Place::Child(child) => {
                let _ = child.wait();
            }
            Place::Remote { socket, .. } => {
                let _ = socket.shutdown(Shutdown::Write);
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Place::Child(child) = &mut self.place {
            let _ = child.kill();
        }
        self.dismiss();
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Child(child) => write!(f, "process {}", child.id()),
            Place::Remote { name, .. } => write!(f, "generator {name}"),
        }
    }
}

/// Writes an order or an answer as a line.
///
/// # Errors
/// When nobody reads it any more.
pub fn say(output: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// Reads answers on a thread of its own until they end.
fn listen<A: DeserializeOwned>(
    output: impl Read + Send + 'static,
    mut hear: impl FnMut(Heard<A>) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let heard = serde_json::from_str(&line)
                .map_or_else(|error| Heard::Garbled(error.to_string()), Heard::Said);
            if !hear(heard) {
                return;
            }
        }
        hear(Heard::Ended);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    fn shell(script: &str) -> (Peer, Receiver<Heard<u32>>) {
        let (sender, heard) = channel();
        let command = ["sh", "-c", script].map(OsString::from);
        let peer = Peer::child(&command, move |heard| sender.send(heard).is_ok());
        (peer.unwrap(), heard)
    }

    fn next(heard: &Receiver<Heard<u32>>) -> Heard<u32> {
        heard.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    #[test]
    fn a_child_answers_its_orders_and_ends_with_them() {
        let (mut peer, heard) = shell("while read n; do echo $((n + 1)); done; echo over");
        for n in [1, 41] {
            peer.tell(&n).unwrap();
            assert_eq!(next(&heard), Heard::Said(n + 1));
        }
        assert!(peer.generator().is_none());
        assert!(peer.to_string().starts_with("process "));
        peer.dismiss();
        assert!(matches!(next(&heard), Heard::Garbled(_)));
        assert_eq!(next(&heard), Heard::Ended);
        assert!(peer.tell(&1).is_err());
    }

    #[test]
    fn a_child_that_does_not_listen_ends_when_it_is_dropped() {
        let (peer, heard) = shell("echo $$; exec sleep 600");
        let Heard::Said(pid) = next(&heard) else {
            panic!("it says its pid");
        };
        drop(peer);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert_eq!(next(&heard), Heard::Ended);
    }

    #[test]
    fn an_interrupt_at_the_terminal_does_not_reach_a_child() {
        let (_peer, heard) = shell("ps -o pgid= -p $$ | tr -d ' '; read n");
        let Heard::Said(group) = next(&heard) else {
            panic!("it says its group");
        };
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        let own: u32 = own
            .rsplit_once(") ")
            .unwrap()
            .1
            .split(' ')
            .nth(2)
            .unwrap()
            .parse()
            .unwrap();
        assert_ne!(group, own);
    }

    #[test]
    fn a_process_behind_a_socket_is_spoken_to_alike() {
        let link = std::env::temp_dir().join(format!("touchstone-crew-{}", std::process::id()));
        let listener = UnixListener::bind(&link).unwrap();
        let (sender, heard) = channel();
        let hear = move |heard: Heard<u32>| sender.send(heard).is_ok();
        let mut peer = Peer::remote("node-1", &link, hear).unwrap();
        std::fs::remove_file(&link).unwrap();
        let (mut there, _) = listener.accept().unwrap();
        peer.tell(&5).unwrap();
        let mut order = [0; 2];
        there.read_exact(&mut order).unwrap();
        assert_eq!(&order, b"5\n");
        say(&mut there, &6).unwrap();
        assert_eq!(next(&heard), Heard::Said(6));
        assert_eq!(
            (peer.generator(), peer.to_string().as_str()),
            (Some("node-1"), "generator node-1")
        );
        peer.dismiss();
        assert_eq!(there.read(&mut order).unwrap(), 0);
        drop(there);
        assert_eq!(next(&heard), Heard::Ended);
        assert!(Peer::remote::<u32>("node-2", &link, |_| true).is_err());
    }
}
