//! The mistakes a peer can make, one variant per rule, each with the close code RFC 6455 asks for.

/// A breach of RFC 6455 by the peer. [`Violation::code`] is what our close frame must carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// §5.2: a reserved bit is set and no extension was negotiated.
    #[error("websocket reserved bits must be zero without an extension, got {bits:03b}")]
    ReservedBits {
        /// RSV1, RSV2, RSV3 as the three low bits, RSV1 highest.
        bits: u8,
    },
    /// §5.2: opcodes 3–7 and 11–15 are reserved.
    #[error("websocket opcode must be 0, 1, 2, 8, 9 or 10, got {opcode}")]
    ReservedOpcode {
        /// The opcode's four bits.
        opcode: u8,
    },
    /// §5.4, §5.5: a control frame without FIN.
    #[error("websocket control frames must not be fragmented, got one without FIN")]
    FragmentedControl,
    /// §5.5: a control frame that announces more than 125 bytes.
    #[error("websocket control frames carry at most 125 bytes, got one with an extended length")]
    LongControl,
    /// §5.4: a continuation while no message is being fragmented.
    #[error("websocket continuation must follow an unfinished message, got one with nothing to continue")]
    StrayContinuation,
    /// §5.4: a text or binary frame before the fragmented message ended.
    #[error("websocket message must end before the next begins, got a new one between its fragments")]
    InterruptedMessage,
    /// §5.1: a masked frame sent by a server.
    #[error("websocket servers must not mask frames, got a masked one")]
    MaskedFromServer,
    /// §5.1: an unmasked frame sent by a client.
    #[error("websocket clients must mask every frame, got an unmasked one")]
    UnmaskedFromClient,
    /// §5.2: a length written with more bytes than it needs.
    #[error("websocket length must use the fewest bytes, got {length} in a longer form")]
    OverlongLength {
        /// The length as announced.
        length: u64,
    },
    /// §5.2: the top bit of a 64-bit length must be zero.
    #[error("websocket 64-bit length must have its top bit clear, got {length:#x}")]
    LengthTopBit {
        /// The length as announced.
        length: u64,
    },
    /// §8.1: a text message that is not UTF-8.
    #[error("websocket text must be valid UTF-8, got other bytes")]
    InvalidText,
    /// §5.5.1: a close payload is empty or begins with a two-byte code.
    #[error("websocket close payload must be empty or at least 2 bytes, got 1")]
    TruncatedCloseCode,
    /// §7.4: a close code that must not appear on the wire.
    #[error("websocket close code must be 1000-1003, 1007-1014 or 3000-4999, got {code}")]
    InvalidCloseCode {
        /// The code as received.
        code: u16,
    },
    /// §5.5.1, §8.1: a close reason that is not UTF-8.
    #[error("websocket close reason must be valid UTF-8, got other bytes")]
    InvalidCloseReason,
    /// Our own limit: the message, or the frame alone, is larger than the decoder was told to accept.
    #[error("websocket message must be at most {limit} bytes, got at least {length}")]
    MessageTooBig {
        /// Bytes of the message announced so far.
        length: u64,
        /// The decoder's `max_message`.
        limit: usize,
    },
}

impl Violation {
    /// The code for our close frame: 1007 for bad UTF-8, 1009 for a message over the limit, else 1002 (§7.4.1).
    pub fn code(&self) -> u16 {
        match self {
            Violation::InvalidText | Violation::InvalidCloseReason => 1007,
            Violation::MessageTooBig { .. } => 1009,
            _ => 1002,
        }
    }
}
