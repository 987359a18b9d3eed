//! Binary packets put back together: a text part, then its attachments in the order of their placeholders.

use super::{Packet, PacketError, Revision};

/// Puts binary packets back together: text parts that announce attachments wait for them. Idle it holds nothing; the
/// number of attachments is bounded by [`Revision::decode`], the size of each by the WebSocket message limit.
#[derive(Default)]
pub struct Assembler {
    pending: Option<Box<Assembled>>,
    revision: Revision,
}

/// A whole packet with its attachments in placeholder order: `{"_placeholder":true,"num":i}` stands for the i-th.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The text part.
    pub packet: Packet<'static>,
    /// The received attachments, `packet.attachments` of them.
    pub attachments: Vec<Vec<u8>>,
}

impl Assembler {
    /// For packets of this protocol.
    pub fn new(revision: Revision) -> Assembler {
        Assembler { pending: None, revision }
    }

    /// Reads a text packet: one that is complete comes straight back, borrowed; `None` means that its attachments
    /// are awaited.
    ///
    /// # Errors
    /// The errors of [`Revision::decode`]; and [`PacketError::TextBetweenAttachments`] while attachments are awaited.
    pub fn text<'a>(&mut self, text: &'a str) -> Result<Option<Packet<'a>>, PacketError> {
        self.refuse_text()?;
        let packet = self.revision.decode(text)?;
        if packet.attachments == 0 {
            return Ok(Some(packet));
        }
        self.begin(packet)?;
        Ok(None)
    }

    /// Takes a decoded packet aside until its attachments are there. Only for packets with `attachments > 0`: others
    /// are complete as [`Revision::decode`] returned them.
    ///
    /// # Errors
    /// [`PacketError::TextBetweenAttachments`] while another packet's attachments are awaited;
    /// [`PacketError::NothingToAssemble`] for a packet without any.
    pub fn begin(&mut self, packet: Packet<'_>) -> Result<(), PacketError> {
        self.refuse_text()?;
        if packet.attachments == 0 {
            return Err(PacketError::NothingToAssemble);
        }
        self.pending = Some(Box::new(Assembled { packet: packet.into_owned(), attachments: Vec::new() }));
        Ok(())
    }

    /// Takes the next attachment; the last one gives the whole packet.
    ///
    /// # Errors
    /// [`PacketError::UnexpectedAttachment`] when none is awaited.
    pub fn attachment(&mut self, bytes: &[u8]) -> Result<Option<Assembled>, PacketError> {
        let Some(pending) = &mut self.pending else { return Err(PacketError::UnexpectedAttachment) };
        pending.attachments.push(bytes.to_vec());
        if pending.attachments.len() < pending.packet.attachments {
            return Ok(None);
        }
        Ok(self.pending.take().map(|whole| *whole))
    }

    /// True while attachments are awaited: until then a text packet is an error.
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    fn refuse_text(&self) -> Result<(), PacketError> {
        match &self.pending {
            None => Ok(()),
            Some(pending) => Err(PacketError::TextBetweenAttachments {
                missing: pending.packet.attachments - pending.attachments.len(),
            }),
        }
    }
}
