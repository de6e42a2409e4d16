//! Frames that carry no part of a response (RFC 9113, sections 6.3 to 6.9).

use crate::client::{Client, Event, MAX_WINDOW};
use crate::fault::{Code, Fault};
use crate::frame::{self, FrameHead, Kind, flag, setting};
use crate::reading::Known;

impl<T> Client<T> {
    pub(crate) fn reset(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Fault> {
        let code = <[u8; 4]>::try_from(payload)
            .map_err(|_| Fault::size("RST_STREAM that is not 4 bytes"))?;
        let code = Code(u32::from_be_bytes(code));
        self.reading.quiet()?;
        match self.known(head.stream)? {
            Known::Open(at) => Ok(Some(Event::Reset { at, code })),
            Known::PassedOver | Known::Closed => Ok(None),
        }
    }

    pub(crate) fn settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("SETTINGS on a stream"));
        }
        if head.has(flag::ACK) {
            self.reading.quiet()?;
            return match payload {
                [] => Ok(None),
                _ => Err(Fault::size(
                    "an acknowledgement of SETTINGS that is not empty",
                )),
            };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(Fault::size("SETTINGS whose length is not a multiple of 6"));
        }
        self.reading.quiet()?;
        for pair in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([pair[0], pair[1]]);
            let value = u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]);
            self.set(name, value)?;
        }
        self.reading.greeted = true;
        frame::write(Kind::SETTINGS, flag::ACK, 0, &[], out);
        self.send_waiting(out);
        Ok(Some(Event::Settings))
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        match name {
            setting::HEADER_TABLE_SIZE => self.peer.table = value as usize,
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Fault::protocol("ENABLE_PUSH of a server that is not 0"));
            }
            setting::MAX_CONCURRENT_STREAMS => self.peer.streams = value,
            setting::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > MAX_WINDOW {
                    return Err(Fault::flow("INITIAL_WINDOW_SIZE above 2,147,483,647"));
                }
                let by = window - self.peer.window;
                self.peer.window = window;
                if !self.shift_windows(by) {
                    return Err(Fault::flow("INITIAL_WINDOW_SIZE makes a window too large"));
                }
            }
            setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                return Err(Fault::protocol(
                    "MAX_FRAME_SIZE outside 16,384 to 16,777,215",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn ping(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("PING on a stream"));
        }
        if payload.len() != 8 {
            return Err(Fault::size("PING that is not 8 bytes"));
        }
        self.reading.quiet()?;
        if !head.has(flag::ACK) {
            frame::write(Kind::PING, flag::ACK, 0, payload, out);
        }
        Ok(None)
    }

    pub(crate) fn goaway(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Fault> {
        if head.stream != 0 {
            return Err(Fault::protocol("GOAWAY on a stream"));
        }
        let Some([a, b, c, d, e, f, g, h]) = payload.first_chunk::<8>() else {
            return Err(Fault::size("GOAWAY of less than 8 bytes"));
        };
        let last = u32::from_be_bytes([*a, *b, *c, *d]) & 0x7fff_ffff;
        if self.last.is_some_and(|before| last > before) {
            return Err(Fault::protocol(
                "a second GOAWAY with a higher stream than the first",
            ));
        }
        self.reading.quiet()?;
        self.last = Some(last);
        let code = Code(u32::from_be_bytes([*e, *f, *g, *h]));
        Ok(Some(Event::GoingAway { code }))
    }

    pub(crate) fn window_update(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Fault> {
        let bytes = <[u8; 4]>::try_from(payload)
            .map_err(|_| Fault::size("WINDOW_UPDATE that is not 4 bytes"))?;
        let by = i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff);
        if !self.waits_for_window() {
            self.reading.quiet()?;
        }
        if head.stream == 0 {
            if by == 0 {
                return Err(Fault::protocol("WINDOW_UPDATE by 0"));
            }
            self.send += by;
            if self.send > MAX_WINDOW {
                return Err(Fault::flow(
                    "WINDOW_UPDATE makes the connection's window too large",
                ));
            }
        } else if let Known::Open(at) = self.known(head.stream)?
            && let Some(stream) = self.streams.get_mut(at)
        {
            if by == 0 {
                return Ok(Some(self.malformed(
                    at,
                    head.stream,
                    "WINDOW_UPDATE by 0",
                    out,
                )));
            }
            stream.send += by;
            if stream.send > MAX_WINDOW {
                return Ok(Some(self.malformed(
                    at,
                    head.stream,
                    "WINDOW_UPDATE makes the window of a stream too large",
                    out,
                )));
            }
        }
        self.send_waiting(out);
        Ok(None)
    }

    pub(crate) fn priority(&mut self, head: FrameHead) -> Result<Option<Event<'static>>, Fault> {
        if head.stream == 0 {
            return Err(Fault::protocol("PRIORITY on stream 0"));
        }
        if head.length != 5 {
            return Err(Fault::size("PRIORITY that is not 5 bytes"));
        }
        self.reading.quiet().map(|()| None)
    }
}
