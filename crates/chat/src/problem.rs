//! A refusal as every transport words it: HTTP status, a stable code for programs and a sentence for people.

/// Why a request, a join or a send was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Seconds after which trying again makes sense.
    pub(crate) retry_after: Option<u64>,
}

impl Problem {
    /// The code of what too many wait for.
    pub(crate) const OVERLOADED: &'static str = "overloaded";

    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Problem {
        Problem { status, code, message: message.into(), retry_after: None }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Problem {
        Problem::new(400, "bad_request", message)
    }

    pub(crate) fn unauthorized() -> Problem {
        Problem::new(401, "unauthorized", "a valid access token is needed, as `Authorization: Bearer …`")
    }

    pub(crate) fn wrong_credentials() -> Problem {
        Problem::new(401, "wrong_credentials", "the email or the password is wrong")
    }

    /// A refused login where none could be granted: no secret, and the first thing that goes wrong.
    pub(crate) fn no_accounts() -> Problem {
        let why = "the email or the password is wrong: this service has no accounts; \
            `--seed-users N` or `--account EMAIL:PASSWORD` makes some when it starts";
        Problem::new(401, "wrong_credentials", why)
    }

    pub(crate) fn no_room(id: &str) -> Problem {
        Problem::new(404, "no_such_room", format!("there is no room `{id}`"))
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Problem {
        Problem::new(403, "forbidden", message)
    }

    /// `limit` is that of a message's content.
    pub(crate) fn too_large(limit: usize) -> Problem {
        Problem::new(413, "too_large", format!("a content may have {limit} bytes and an id 128"))
    }

    /// Of a cursor, or of a room that was begun anew.
    pub(crate) fn not_kept() -> Problem {
        Problem::new(410, "not_kept", "what was missed is not at hand any more")
    }

    pub(crate) fn draining() -> Problem {
        Problem { retry_after: Some(1), ..Problem::new(503, "draining", "the service is about to stop") }
    }

    pub(crate) fn overloaded() -> Problem {
        Problem {
            retry_after: Some(1),
            ..Problem::new(503, Problem::OVERLOADED, "too much is waiting to be stored")
        }
    }

    pub(crate) fn store() -> Problem {
        Problem::new(500, "store_failed", "the message store refused")
    }

    pub(crate) fn store_busy() -> Problem {
        let why = "all connections to the message store are taken";
        Problem { retry_after: Some(1), ..Problem::new(503, "store_busy", why) }
    }

    pub(crate) fn store_unreachable() -> Problem {
        let why =
            "the message store cannot be reached; a message that is sent again with its id is stored once";
        Problem { retry_after: Some(1), ..Problem::new(503, "store_unreachable", why) }
    }

    /// `"code":…,"message":…`, the inside of an object.
    pub(crate) fn fields(&self) -> String {
        format!(r#""code":"{}","message":{}"#, self.code, serde_json::Value::from(self.message.as_str()))
    }
}
