//! Transactions: what SEND, ACK and NACK frames ask for while one is open is held until its COMMIT.

use crate::encoding::stomp::replies::Complaint;

/// The mistakes with transactions: they do not exist, exist twice, or hold too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransactionError {
    #[error("a transaction must be begun before it is used and may be ended once, got one that is not open")]
    NotOpen,
    #[error("a transaction may be begun once, got one that is open")]
    Open,
    #[error("the open transactions of a connection may hold {frames} frames and {bytes} bytes, got more")]
    TooLarge { frames: usize, bytes: usize },
}

/// The open transactions of one connection. What they hold is bounded for all of them together.
pub(crate) struct Transactions<T> {
    open: Vec<Transaction<T>>,
    frames: usize,
    bytes: usize,
    most_frames: usize,
    most_bytes: usize,
}

struct Transaction<T> {
    name: Box<str>,
    held: Vec<T>,
    bytes: usize,
}

impl<T> Transactions<T> {
    pub(crate) fn new(most_frames: usize, most_bytes: usize) -> Transactions<T> {
        Transactions { open: Vec::new(), frames: 0, bytes: 0, most_frames, most_bytes }
    }

    pub(crate) fn begin(&mut self, name: &str) -> Result<(), TransactionError> {
        if self.find(name).is_ok() {
            return Err(TransactionError::Open);
        }
        // Its BEGIN counts as a frame: else empty transactions would be free.
        self.grow(name.len())?;
        self.open.push(Transaction { name: name.into(), held: Vec::new(), bytes: name.len() });
        Ok(())
    }

    /// Holds what a frame of so many bytes asks for.
    pub(crate) fn hold(&mut self, name: &str, bytes: usize, held: T) -> Result<(), TransactionError> {
        let at = self.find(name)?;
        self.grow(bytes)?;
        let transaction = &mut self.open[at];
        transaction.held.push(held);
        transaction.bytes += bytes;
        Ok(())
    }

    /// Ends the transaction, and gives what it held, in order.
    pub(crate) fn end(&mut self, name: &str) -> Result<Vec<T>, TransactionError> {
        let at = self.find(name)?;
        let Transaction { held, bytes, .. } = self.open.swap_remove(at);
        self.frames -= held.len() + 1;
        self.bytes -= bytes;
        if self.open.is_empty() {
            self.open = Vec::new();
        }
        Ok(held)
    }

    fn find(&self, name: &str) -> Result<usize, TransactionError> {
        self.open.iter().position(|open| *open.name == *name).ok_or(TransactionError::NotOpen)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), TransactionError> {
        if self.frames + 1 > self.most_frames || self.bytes + bytes > self.most_bytes {
            return Err(TransactionError::TooLarge { frames: self.most_frames, bytes: self.most_bytes });
        }
        self.frames += 1;
        self.bytes += bytes;
        Ok(())
    }
}

impl From<TransactionError> for Complaint {
    fn from(error: TransactionError) -> Complaint {
        Complaint { code: "transaction", message: error.to_string(), is_breach: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_transactions_hold_comes_back_in_order_and_apart() {
        let mut transactions = Transactions::new(100, 1000);
        transactions.begin("a").unwrap();
        transactions.begin("b").unwrap();
        for (name, held) in [("a", 1), ("b", 2), ("a", 3)] {
            transactions.hold(name, 10, held).unwrap();
        }
        assert_eq!(transactions.end("a"), Ok(vec![1, 3]));
        assert_eq!(transactions.end("a"), Err(TransactionError::NotOpen));
        assert_eq!(transactions.hold("a", 10, 4), Err(TransactionError::NotOpen));
        assert_eq!(transactions.begin("b"), Err(TransactionError::Open));
        assert_eq!(transactions.end("b"), Ok(vec![2]));
        assert_eq!((transactions.frames, transactions.bytes), (0, 0));
    }

    #[test]
    fn all_that_is_held_is_bounded_in_frames_and_in_bytes() {
        let mut transactions = Transactions::new(3, 100);
        let too_large = Err(TransactionError::TooLarge { frames: 3, bytes: 100 });
        transactions.begin("a").unwrap();
        transactions.hold("a", 50, 1).unwrap();
        assert_eq!(transactions.hold("a", 50, 2), too_large, "its name has a byte");
        transactions.begin("b").unwrap();
        assert_eq!(transactions.begin("c"), too_large);
        assert_eq!(transactions.hold("b", 1, 3), too_large);
        assert_eq!(transactions.end("a"), Ok(vec![1]));
        transactions.begin("c").unwrap();
        transactions.hold("c", 98, 4).unwrap();
    }
}
