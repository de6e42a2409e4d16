//! WebSockets that end, or break the protocol, and what becomes of their messages.

use touchstone_websocket::{Close, Fault, Opcode, write};

use crate::clock::Nanos;
use crate::closes;
use crate::connection::State;
use crate::crew::{Layer, Unconnected};
use crate::failure::ErrorClass;
use crate::recorder::MessageFault;
use crate::wire::Wire;
use crate::worker::Worker;
use crate::worker::ending::loss;

impl Worker {
    /// Why a connection ended, or took too long, before its handshake was answered.
    pub(in crate::worker) fn unshaken(error: i32) -> Unconnected {
        no_websocket(&match error {
            0 => "the server closed the connection where the answer to the handshake was to come"
                .to_owned(),
            libc::ETIMEDOUT => {
                "the handshake was not answered, or the server did not greet, in time".to_owned()
            }
            _ => std::io::Error::from_raw_os_error(error).to_string(),
        })
    }

    /// The handshake failed.
    pub(super) fn not_opened<W: Wire>(&mut self, wire: &mut W, slot: u32, why: &str, now: Nanos) {
        self.drop_connection(wire, slot);
        self.attempt_failed(slot, libc::EPROTO, Some(no_websocket(why)), now);
    }

    /// Fails the oldest message in flight, of whose echo this has come.
    pub(super) fn fail_message(
        &mut self,
        slot: u32,
        class: ErrorClass,
        why: &str,
        received: &[u8],
        now: Nanos,
    ) {
        let request = self.connections[slot as usize].first;
        self.note(class, Some(request), Some(slot), received, why, now);
        self.recorder.failed(class, request, now);
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
    }

    /// The server broke the protocol: a close frame says so, and the connection is given up.
    #[cold]
    pub(super) fn broke_websocket<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        fault: Fault,
        now: Nanos,
    ) {
        self.send_close(wire, slot, fault.code);
        let why = format!("the server broke the rules of WebSocket: {fault}");
        let connection = &self.connections[slot as usize];
        if connection.state == State::Greeting {
            return self.not_opened(wire, slot, &why, now);
        }
        if connection.in_flight > 0 {
            return self.lose(wire, slot, ErrorClass::Malformed, &why, now);
        }
        self.lose_at_rest(wire, slot, &[], &why, now);
    }

    /// The server sent a close frame, which is answered (RFC 6455, section 5.5.1).
    #[cold]
    pub(super) fn closed_websocket<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        close: &Close,
        now: Nanos,
    ) {
        self.send_close(wire, slot, close.code.unwrap_or(1000));
        let why = format!("the server closed the WebSocket, {close}");
        let connection = &self.connections[slot as usize];
        if connection.state == State::Greeting {
            return self.not_opened(wire, slot, &why, now);
        }
        if connection.in_flight > 0 {
            let class = ErrorClass::ClosedBeforeResponse;
            return self.fail_all(wire, slot, class, &why, now);
        }
        self.closed_at_rest(wire, slot, closes::Close::Announced, &[], &why, now);
    }

    /// The connection ended with messages in flight. Whether the server has acted on them is unknown: none is sent again.
    pub(in crate::worker) fn ended_websocket<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        error: i32,
        now: Nanos,
    ) {
        let (class, mut why) = loss(error, false);
        if error == 0 {
            why = "the server ended the connection without a close frame, and before the echo"
                .to_owned();
        }
        let why = wire.explain(slot, error).unwrap_or(why);
        self.fail_all(wire, slot, class, &why, now);
    }

    /// Fails the messages whose echo has been waited for too long. An echo that was overtaken is lost, and the connection
    /// goes on without it: others are sent only after all were looked at, so that none fails that has not waited.
    pub(in crate::worker) fn time_out_messages<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        now: Nanos,
    ) {
        let mut lost = 0;
        while self.connections[slot as usize].in_flight > 0 {
            let first = self.connections[slot as usize].first;
            if first.waited(now) < self.timeout {
                break;
            }
            if !first.overtaken {
                let why = "no echo within the limit";
                return self.fail_all(wire, slot, ErrorClass::Timeout, why, now);
            }
            self.recorder.message_fault(first, MessageFault::Lost);
            let why = "no echo within the limit, and messages that were sent later had theirs";
            self.fail_message(slot, ErrorClass::Timeout, why, &[], now);
            lost += 1;
        }
        let generation = self.generation(slot);
        for _ in 0..lost {
            if self.generation(slot) == generation {
                self.answered(wire, slot, now);
            }
        }
        self.flush(wire, slot);
    }

    /// Gives up a connection at rest on which something came that may not.
    pub(super) fn lose_at_rest<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        received: &[u8],
        why: &str,
        now: Nanos,
    ) {
        let class = ErrorClass::UnaskedBytes;
        let in_vain = self.connections[slot as usize].responses == 0;
        self.note(class, None, None, received, why, now);
        self.recorder.connection_failed(class, now);
        self.drop_connection(wire, slot);
        if in_vain {
            self.shared.unconnected(no_websocket(why));
            // To open another at once would be a load of its own.
            return self.pause(slot, now);
        }
        self.replace(wire, slot, now);
    }

    /// Sends a close frame, as far as the socket takes it.
    pub(in crate::worker) fn send_close<W: Wire>(&mut self, wire: &mut W, slot: u32, code: u16) {
        let mask = Some((self.random.next() as u32).to_ne_bytes());
        self.out.append(&mut self.control);
        write(Opcode::Close, mask, &code.to_be_bytes(), &mut self.out);
        self.flush(wire, slot);
    }
}

fn no_websocket(why: &str) -> Unconnected {
    Unconnected {
        why: format!("{why}: see whether this port and path speak WebSocket"),
        layer: Layer::WebSocket,
    }
}
