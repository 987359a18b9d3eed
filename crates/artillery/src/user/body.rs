//! A response's body as steps and functions look at it: unpacked, and no more of it than the script takes
//! (`http.maxBody`).

use std::borrow::Cow;

use sonagi_transport::http::{Response, decoded_keeping};

/// A body, and what somebody has to know who does not find in it what he looks for.
pub(super) struct Unpacked<'r> {
    pub(super) body: Cow<'r, [u8]>,
    /// Why it could not be unpacked: it is empty then.
    unreadable: Option<String>,
    /// That there was more of it.
    cut: Option<String>,
}

impl<'r> Unpacked<'r> {
    /// At most so many bytes of it; of one that came uncompressed the client has kept no more.
    pub(super) fn of(response: &'r Response, most: usize) -> Unpacked<'r> {
        let (kept, all) = (response.body.len() as u64, response.body_bytes);
        let mut cut = (all > kept).then(|| format!("only {kept} of the body's {all} bytes were read"));
        let (mut body, mut unreadable) = (Cow::Borrowed(&[][..]), None);
        // One byte more than the limit tells whether there is more.
        match decoded_keeping(&response.headers, &response.body, most.saturating_add(1)) {
            Ok(plain) => body = plain,
            Err(why) => unreadable = Some(why),
        }
        if body.len() > most {
            body.to_mut().truncate(most);
            cut = Some(format!("only {most} bytes of the unpacked body were read"));
        }
        Unpacked { body, unreadable, cut }
    }

    /// Why something was not found in it, given why it would not have been in a body that is whole.
    pub(super) fn explain(&self, why: String) -> String {
        let why = self.unreadable.clone().unwrap_or(why);
        match &self.cut {
            // First: examples are cut, too.
            Some(cut) => format!("{cut} (raise `http.maxBody`): {why}"),
            None => why,
        }
    }
}
