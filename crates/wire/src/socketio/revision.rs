//! The same text, where the two protocols give it different meanings.

use super::packet::read;
use super::{Kind, Packet, PacketError};

/// A version of the protocol. The text form is the same; [`super::encode`] writes both.
///
/// | | four | five |
/// |---|---|---|
/// | the namespace `/` | granted unasked, by a CONNECT behind the handshake | asked for like any other |
/// | a client's CONNECT | `0/admin?token=1,`: a query behind the namespace | `0/admin,{"token":1}`: an object |
/// | CONNECT granted | carries nothing | carries `{"sid":…}` |
/// | type 4 | ERROR: any JSON or nothing | CONNECT_ERROR: an object, or a string |
///
/// Binary packets are alike; their attachments are Engine.IO messages, which differ by [`crate::engineio::Version`].
///
/// ```
/// use sonagi_wire::socketio::{Kind, Packet, Revision, encode};
///
/// // A client of Socket.IO 2 waits for `/` to be granted, then asks for another namespace.
/// let granted = Revision::Four.decode("0")?;
/// assert!(granted.kind == Kind::Connect && Revision::Four.grants_main_unasked());
/// let mut frame = String::from("4");
/// encode(&Packet::connect_with_query("/admin", "token=1"), &mut frame);
/// assert_eq!(frame, "40/admin?token=1,");
/// // Its server takes the two apart.
/// assert_eq!(Revision::Four.decode(&frame[1..])?.namespace_and_query(), ("/admin", Some("token=1")));
/// # Ok::<(), sonagi_wire::socketio::PacketError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Revision {
    /// Socket.IO 1 and 2, over Engine.IO 3.
    Four = 4,
    /// Socket.IO 3 and 4, over Engine.IO 4.
    #[default]
    Five = 5,
}

impl Revision {
    /// Whether a server grants `/` to every client without being asked; a client must not ask then.
    pub fn grants_main_unasked(self) -> bool {
        self == Revision::Four
    }

    /// Reads the text part of a packet that may announce up to [`MAX_ATTACHMENTS`](super::MAX_ATTACHMENTS).
    ///
    /// # Errors
    /// [`PacketError`] for the first rule broken, read from left to right.
    pub fn decode(self, text: &str) -> Result<Packet<'_>, PacketError> {
        read(text, self)
    }

    /// The required beginning of the payload, in the words of [`PacketError::Payload`].
    pub(super) fn payload_rule(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Revision::Five, Kind::Connect) => "an object or nothing",
            (Revision::Four, Kind::Connect) | (_, Kind::Disconnect) => "nothing",
            (Revision::Five, Kind::ConnectError) => "an object or a string",
            (Revision::Four, Kind::ConnectError) => "JSON or nothing",
            (_, Kind::Event | Kind::Ack | Kind::BinaryEvent | Kind::BinaryAck) => "an array",
        }
    }

    pub(super) fn allows(self, kind: Kind, first: Option<u8>) -> bool {
        match (self, kind) {
            (Revision::Five, Kind::Connect) => matches!(first, None | Some(b'{')),
            (Revision::Four, Kind::Connect) | (_, Kind::Disconnect) => first.is_none(),
            (Revision::Five, Kind::ConnectError) => matches!(first, Some(b'{' | b'"')),
            // A number would be read as an id: only the first byte of other JSON is left.
            (Revision::Four, Kind::ConnectError) => {
                matches!(first, None | Some(b'{' | b'"' | b'[' | b'-' | b't' | b'f' | b'n'))
            }
            (_, Kind::Event | Kind::Ack | Kind::BinaryEvent | Kind::BinaryAck) => first == Some(b'['),
        }
    }
}
