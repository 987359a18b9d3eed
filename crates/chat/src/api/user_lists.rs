//! Lists of users, page by page: everybody, some at random, or by who sponsors whom.
//!
//! They come from whoever has the users: from memory, so that a list that is asked for fifty times a second is no
//! measure of a sort, or from a store that services share, so that it is one of its pool of connections.

use hyper::Request;
use hyper::body::Incoming;
use serde_json::json;

use crate::http::{self, Answer};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::store::user_lists::{Begin, ListRequest, Listed};

/// Users of a page when nothing is said, and at most.
const PAGE: u64 = 10;
const PAGE_MOST: u64 = 100;

/// `GET /api/user/list-all`.
pub(crate) async fn all(request: &Request<Incoming>, hub: &Hub) -> Result<Answer, Problem> {
    super::caller(request.headers(), hub)?;
    answer(Listed::All, request, hub).await
}

/// `GET /api/user/list?search=…`.
pub(crate) async fn list(request: &Request<Incoming>, hub: &Hub) -> Result<Answer, Problem> {
    let caller = super::caller(request.headers(), hub)?.id;
    let listed = match http::query(request, "search").as_deref() {
        Some("random") => Listed::Random,
        Some("sponsor") => Listed::SponsorsOf(caller),
        Some("sponsored") => Listed::SponsoredBy(caller),
        Some("allSponsored") => Listed::AllSponsored,
        other => {
            return Err(Problem::bad_request(format!(
                "search is random, sponsor, sponsored or allSponsored, got `{}`",
                other.unwrap_or_default()
            )));
        }
    };
    answer(listed, request, hub).await
}

async fn answer(listed: Listed, request: &Request<Incoming>, hub: &Hub) -> Result<Answer, Problem> {
    let counted = |name, default, most| match http::number(request, name)?.unwrap_or(default) {
        0 => Err(Problem::bad_request(format!("{name} counts from 1, got `0`"))),
        number => Ok(number.min(most)),
    };
    let page = counted("page", 1, u64::MAX)?;
    let limit = counted("limit", PAGE, PAGE_MOST)?;
    let begin = match http::number(request, "after")? {
        None => Begin::Offset((page - 1).saturating_mul(limit)),
        Some(_) if listed == Listed::Random => {
            return Err(Problem::bad_request("users at random have no order to go on in: leave out after"));
        }
        Some(_) if http::query(request, "page").is_some() => {
            return Err(Problem::bad_request("a page has a number or begins after an id, not both"));
        }
        Some(id) => Begin::Behind(id),
    };
    let found = hub.user_lists().list(ListRequest { listed, begin, limit }).await;
    let found = found.map_err(|error| {
        hub.failures.store("read", &error);
        error.kind.problem()
    })?;
    Ok(http::value(&match found.total {
        Some(total) => {
            json!({"users": found.users, "totalPage": total.div_ceil(limit), "currentPage": page})
        }
        None => {
            // A page that is not full is the last one.
            let is_full = found.users.len() as u64 == limit;
            let next = found.users.last().filter(|_| is_full).map(|user| user.id);
            json!({"users": found.users, "next": next})
        }
    }))
}
