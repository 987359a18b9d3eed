//! A push reader of one response: the bytes are fed as they arrive.

use std::mem::MaybeUninit;

use super::chunks::Chunks;
use super::framing::{BodyFraming, Framing};
use super::{Headers, MAX_HEAD, MAX_HEADERS, Violation};

/// The minimum bytes of a status line and a header. So many are always looked at: bytes that are not HTTP are refused
/// at once, even if no line of them ever ends.
const SHORT: usize = 64;

/// The most reserved for a body because its length was announced; longer ones grow as they come.
const RESERVED_BODY: u64 = 1 << 20;

/// The kind of request, as far as the response's framing depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A HEAD: the response has no body whatever its headers say.
    Head,
    /// A CONNECT: a 2xx turns the connection into a tunnel.
    Connect,
    /// Any other method.
    Other,
}

/// The parts of a response to keep, beyond its status and its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// All headers. Without it they are kept only when one of them sets a cookie, leads elsewhere (a 3xx with
    /// Location), or says how a body that is kept is coded.
    pub headers: bool,
    /// The most bytes of the body to keep.
    pub body: usize,
}

/// Reads one response. Feed it until it is done or refuses; however the bytes are cut, the response is the same. What
/// follows it on the connection is noticed only if it is fed along.
#[derive(Debug)]
pub struct Reader {
    asked: RequestKind,
    keep: Keep,
    state: ReadState,
    /// A head that has not arrived whole.
    partial: Vec<u8>,
    /// Bytes of heads read, interim ones included.
    head_bytes: usize,
    is_reusable: bool,
    is_event_stream: bool,
    /// The status code; 0 before the head.
    pub status: u16,
    /// The words beside the status code, if headers are kept.
    pub reason: Box<str>,
    /// The kept headers.
    pub headers: Headers,
    /// The kept part of the body.
    pub body: Vec<u8>,
    /// The body's size as it came, without chunk framing.
    pub body_bytes: u64,
}

/// Receives a body's bytes as they arrive.
type BodySink<'a> = &'a mut dyn FnMut(&[u8]);

#[derive(Debug)]
enum ReadState {
    Head,
    /// This many bytes remain, at least one.
    Length(u64),
    Chunked(Chunks),
    UntilEnd,
    Done,
}

/// How a peer's end cut a response short: see [`Reader::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutShort;

impl Reader {
    /// For the response to such a request.
    pub fn new(asked: RequestKind, keep: Keep) -> Reader {
        Reader {
            asked,
            keep,
            state: ReadState::Head,
            partial: Vec::new(),
            head_bytes: 0,
            is_reusable: true,
            is_event_stream: false,
            status: 0,
            reason: Box::default(),
            headers: Headers::default(),
            body: Vec::new(),
            body_bytes: 0,
        }
    }

    /// Whether the final head has been read.
    pub fn has_head(&self) -> bool {
        self.status != 0
    }

    /// Whether the head says that the body is a stream of events (`text/event-stream`), which usually has no end.
    pub fn is_event_stream(&self) -> bool {
        self.is_event_stream
    }

    /// Whether the response is whole.
    pub fn is_done(&self) -> bool {
        matches!(self.state, ReadState::Done)
    }

    /// Whether the connection can carry another request: the response is done, the server means to go on, and not a
    /// byte came that nobody asked for.
    pub fn is_reusable(&self) -> bool {
        self.is_done() && self.is_reusable
    }

    /// Takes what arrived. Bytes after the response's end are not read: they make the connection unusable.
    ///
    /// # Errors
    /// The server breaks the protocol; the reader must not be fed any more.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        self.advance(bytes, None)
    }

    /// [`Reader::feed`] for a body that is used as it comes: its bytes go to `on` without the framing, and none are
    /// kept.
    ///
    /// # Errors
    /// Like [`Reader::feed`], with the body's bytes going to `on`.
    pub fn feed_to(&mut self, bytes: &[u8], on: &mut dyn FnMut(&[u8])) -> Result<(), Violation> {
        self.advance(bytes, Some(on))
    }

    #[inline]
    fn advance(&mut self, mut bytes: &[u8], mut on: Option<BodySink<'_>>) -> Result<(), Violation> {
        loop {
            if matches!(self.state, ReadState::Done) {
                self.is_reusable &= bytes.is_empty();
                return Ok(());
            }
            if bytes.is_empty() {
                return Ok(());
            }
            let taken = match &mut self.state {
                ReadState::Head => self.feed_head(bytes)?,
                ReadState::Length(left) => {
                    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= taken as u64;
                    if *left == 0 {
                        self.state = ReadState::Done;
                    }
                    self.body_bytes += taken as u64;
                    match &mut on {
                        Some(on) => on(&bytes[..taken]),
                        None => keep(&mut self.body, &bytes[..taken], self.keep.body),
                    }
                    taken
                }
                ReadState::Chunked(chunks) => {
                    let (body, body_bytes, limit) = (&mut self.body, &mut self.body_bytes, self.keep.body);
                    let taken = chunks.feed(bytes, |data| {
                        *body_bytes += data.len() as u64;
                        match &mut on {
                            Some(on) => on(data),
                            None => keep(body, data, limit),
                        }
                    })?;
                    if chunks.is_over() {
                        self.state = ReadState::Done;
                    }
                    taken
                }
                ReadState::UntilEnd => {
                    self.body_bytes += bytes.len() as u64;
                    match &mut on {
                        Some(on) => on(bytes),
                        None => keep(&mut self.body, bytes, self.keep.body),
                    }
                    bytes.len()
                }
                ReadState::Done => 0,
            };
            bytes = &bytes[taken..];
        }
    }

    /// The peer has ended its side. Fine where that is the body's end, or the response is done.
    ///
    /// # Errors
    /// `Ok(Err(CutShort))`: the response is not whole. A violation: what there is of it is no response.
    pub fn end(&mut self) -> Result<Result<(), CutShort>, Violation> {
        self.is_reusable = false;
        match self.state {
            ReadState::UntilEnd => self.state = ReadState::Done,
            ReadState::Done => {}
            ReadState::Head => {
                let partial = std::mem::take(&mut self.partial);
                self.parse(&partial)?;
                return Ok(Err(CutShort));
            }
            ReadState::Length(_) | ReadState::Chunked(_) => return Ok(Err(CutShort)),
        }
        Ok(Ok(()))
    }

    /// How many of the bytes belong to the head.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, Violation> {
        let room = MAX_HEAD - self.head_bytes;
        if self.partial.is_empty() {
            let within = &bytes[..bytes.len().min(room)];
            if let Some(end) = self.parse(within)? {
                self.head_bytes += end;
                return Ok(end);
            }
            if within.len() == room {
                return Err(Violation::HeadTooLong);
            }
            self.partial.extend_from_slice(within);
            return Ok(bytes.len());
        }
        let before = self.partial.len();
        let new = &bytes[..bytes.len().min(room - before)];
        self.partial.extend_from_slice(new);
        let is_full = self.partial.len() == room;
        // A head ends with a line, and so does what is wrong with it: no need to read it again before.
        if before >= SHORT && !is_full && memchr::memchr(b'\n', new).is_none() {
            return Ok(new.len());
        }
        let partial = std::mem::take(&mut self.partial);
        if let Some(end) = self.parse(&partial)? {
            self.head_bytes += end;
            return Ok(end - before);
        }
        if is_full {
            return Err(Violation::HeadTooLong);
        }
        self.partial = partial;
        Ok(new.len())
    }

    /// Reads a head that may not be whole yet; returns where it ends and takes what it says.
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<usize>, Violation> {
        let mut slots = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            bytes,
            &mut slots,
        );
        let parsed = parsed.map_err(|error| Violation::at(bytes, error))?;
        let httparse::Status::Complete(end) = parsed else { return Ok(None) };
        self.take_head(&response)?;
        Ok(Some(end))
    }

    fn take_head(&mut self, response: &httparse::Response<'_, '_>) -> Result<(), Violation> {
        let status = response.code.unwrap_or_default();
        match status {
            0..100 => return Err(Violation::Status),
            // The final response follows. (After 101 another protocol would: nobody asked for one.)
            100 | 102..200 => return Ok(()),
            _ => {}
        }
        let mut framing = Framing::default();
        for header in response.headers.iter() {
            framing.note(header.name, header.value)?;
        }
        let tunnels = status == 101 || self.asked == RequestKind::Connect && (200..300).contains(&status);
        let bodiless = tunnels || self.asked == RequestKind::Head || matches!(status, 204 | 304);
        let (body, persists) = framing.judge(response.version == Some(0), bodiless)?;
        self.is_reusable = persists && !tunnels;
        self.is_event_stream = framing.is_event_stream;
        self.status = status;
        if self.keep.headers {
            self.reason = response.reason.unwrap_or_default().into();
        }
        let leads_elsewhere = framing.has_location && (300..400).contains(&status);
        let is_packed = framing.is_coded && self.keep.body > 0;
        if self.keep.headers || framing.sets_cookies || leads_elsewhere || is_packed {
            let bytes =
                response.headers.iter().map(|header| header.name.len() + header.value.len() + 2).sum();
            self.headers = Headers::with_capacity(bytes);
            response.headers.iter().for_each(|header| self.headers.push(header.name, header.value));
        }
        self.state = match body {
            BodyFraming::None => ReadState::Done,
            BodyFraming::Length(length) => {
                self.body.reserve_exact(length.min(RESERVED_BODY).min(self.keep.body as u64) as usize);
                ReadState::Length(length)
            }
            BodyFraming::Chunked => ReadState::Chunked(Chunks::new()),
            BodyFraming::UntilEnd => ReadState::UntilEnd,
        };
        Ok(())
    }
}

/// Appends what there is room for.
fn keep(body: &mut Vec<u8>, data: &[u8], limit: usize) {
    let room = limit - body.len();
    body.extend_from_slice(&data[..data.len().min(room)]);
}
