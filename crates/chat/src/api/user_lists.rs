//! Lists of users, page by page: everybody, some at random, or by who sponsors whom.
//!
//! Everything is in memory and in order already, so a page costs what it shows, whatever the number of users: a list
//! that is asked for fifty times a second is no measure of a sort.

use std::collections::HashSet;

use hyper::Request;
use hyper::body::Incoming;
use serde_json::json;

use crate::accounts::Accounts;
use crate::accounts::directory::Directory;
use crate::http::{self, Answer};
use crate::hub::Hub;
use crate::problem::Problem;

/// Users of a page when nothing is said, and at most.
const PAGE: u64 = 10;
const PAGE_MOST: u64 = 100;

/// `GET /api/user/list-all`.
pub(crate) fn all(request: &Request<Incoming>, hub: &Hub) -> Result<Answer, Problem> {
    super::caller(request.headers(), hub)?;
    Ok(page(&hub.accounts.directory.all, wanted(request)?, &hub.accounts))
}

/// `GET /api/user/list?search=…`.
pub(crate) fn list(request: &Request<Incoming>, hub: &Hub) -> Result<Answer, Problem> {
    let caller = super::caller(request.headers(), hub)?;
    let wanted = wanted(request)?;
    let Directory { all, sponsored } = &hub.accounts.directory;
    let ids: &[u64] = match http::query(request, "search").as_deref() {
        Some("random") => return Ok(random(all, wanted, &hub.accounts)),
        Some("sponsor") => &caller.sponsors,
        Some("sponsored") => &caller.sponsored,
        Some("allSponsored") => sponsored,
        other => {
            return Err(Problem::bad_request(format!(
                "search is random, sponsor, sponsored or allSponsored, got `{}`",
                other.unwrap_or_default()
            )));
        }
    };
    Ok(page(ids, wanted, &hub.accounts))
}

/// The page's number, from 1, and its number of users.
#[derive(Clone, Copy)]
struct ListPage {
    page: u64,
    limit: u64,
}

fn wanted(request: &Request<Incoming>) -> Result<ListPage, Problem> {
    let number = |name, default, most| match http::number(request, name)?.unwrap_or(default) {
        0 => Err(Problem::bad_request(format!("{name} counts from 1, got `0`"))),
        number => Ok(number.min(most)),
    };
    Ok(ListPage { page: number("page", 1, u64::MAX)?, limit: number("limit", PAGE, PAGE_MOST)? })
}

fn page(ids: &[u64], wanted: ListPage, accounts: &Accounts) -> Answer {
    let first = (wanted.page - 1).saturating_mul(wanted.limit);
    let first = usize::try_from(first).unwrap_or(usize::MAX).min(ids.len());
    let shown = ids[first..].iter().take(wanted.limit as usize).copied();
    answer(shown, ids.len(), wanted, accounts)
}

/// Another choice each time, none twice on a page; the number of the page is said back and means nothing.
fn random(ids: &[u64], wanted: ListPage, accounts: &Accounts) -> Answer {
    let count = ids.len().min(wanted.limit as usize);
    // Floyd's sampling: as many draws as users on the page.
    let mut chosen = HashSet::with_capacity(count);
    let mut shown = Vec::with_capacity(count);
    for last in ids.len() - count..ids.len() {
        let drawn = fastrand::usize(..=last);
        let at = if chosen.insert(drawn) { drawn } else { last };
        chosen.insert(at);
        shown.push(ids[at]);
    }
    answer(shown.into_iter(), ids.len(), wanted, accounts)
}

fn answer(shown: impl Iterator<Item = u64>, of: usize, wanted: ListPage, accounts: &Accounts) -> Answer {
    let users: Vec<_> = shown.filter_map(|id| accounts.user(id)).map(|user| user.listed()).collect();
    let pages = (of as u64).div_ceil(wanted.limit);
    http::value(&json!({"users": users, "totalPage": pages, "currentPage": wanted.page}))
}
