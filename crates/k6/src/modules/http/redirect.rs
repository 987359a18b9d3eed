//! Redirects, as Go's client follows them.

use bytes::Bytes;
use sonagi_transport::http::{Request, Response};
use sonagi_transport::net::Origin;
use std::borrow::Cow;

use super::address::{self, Address};
use super::auth;
use super::call::Call;
use super::errors::{BadCall, Unanswered};
use super::exchange::{Hop, arrange, cookies};

/// Why a redirect cannot be followed.
pub(super) enum Astray {
    /// The header is no URL: for k6, as for Go, the answer that says so is none.
    Unreadable(Unanswered),
    /// The request it asks for cannot be made.
    Unmade { method: String, url: String, why: Unanswered },
}

/// Where an answer sends whoever asked.
pub(super) fn location(response: &Response) -> Option<String> {
    if !matches!(response.status, 301..=303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get("location")?;
    let location = match std::str::from_utf8(location) {
        Ok(text) => text.to_owned(),
        // Bytes that are no text stay the bytes they are.
        Err(_) => location
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
            .collect(),
    };
    Some(location).filter(|location| !location.is_empty())
}

/// The request a redirect leads to, as Go's client makes it: after 301, 302 and 303 everything but HEAD becomes a GET
/// without a body; 307 and 308 repeat the request. Another host is told no credentials.
pub(super) fn follow(call: &Call, hop: &Hop, status: u16, location: &str) -> Result<Hop, Astray> {
    let Address { clean, url, credentials, given, .. } = leads_to(hop, location)?;
    let method = match &*hop.request.method {
        same if matches!(status, 307 | 308) || same == "HEAD" => same.to_owned(),
        _ => "GET".to_owned(),
    };
    let (origin, path) = match Origin::parse(&url) {
        Ok(place) => place,
        Err(failed) => {
            let why = Unanswered::of_url(&url, &failed);
            return Err(Astray::Unmade { method, url: clean, why });
        }
    };
    let mut request = Request { method, path, ..hop.request.clone() };
    let mut leave = vec!["Referer", "Cookie"];
    if !matches!(status, 307 | 308) {
        request.body = Bytes::new();
        request.written.is_chunked = false;
        leave.extend(["Content-Type", "Content-Encoding"]);
    }
    if origin.host != hop.origin.host {
        leave.push("Authorization");
    }
    // A host of the script's own goes along to where no other is named.
    if !call.has("Host") || location.contains("://") {
        leave.push("Host");
    }
    request.headers.retain(|(name, _)| !leave.contains(&&**name));
    if hop.origin.tls <= origin.tls {
        request.headers.push(("Referer".to_owned(), hop.url.clone()));
    }
    if let Some((user, password)) = &credentials
        && !request.headers.iter().any(|(name, _)| name == "Authorization")
    {
        request.headers.push(("Authorization".to_owned(), auth::basic(user, password)));
    }
    let cookies = cookies(call, &origin, &request.path);
    arrange(&mut request, &address::host(&url), &cookies);
    Ok(Hop { origin, url, with_credentials: credentials.map(|_| (clean, given)), request })
}

/// Where a redirect leads.
fn leads_to(hop: &Hop, location: &str) -> Result<Address, Astray> {
    let unreadable = |why: &str| {
        let told = format!("failed to parse Location header {location:?}: {why}");
        Astray::Unreadable(Unanswered::other(told))
    };
    if let Some(why) = address::wrong_in(location) {
        return Err(unreadable(&format!("parse {location:?}: {why}")));
    }
    let mut url = sonagi_transport::http::resolved(&hop.origin, &hop.request.path, location);
    // A redirect without a host of its own stays with the host before, as that was written.
    if !location.contains("://")
        && !location.starts_with("//")
        && let Some((scheme, host)) =
            hop.url.split_once("://").map(|(scheme, _)| (scheme, address::host(&hop.url)))
        && let Some(rest) = url.strip_prefix(&hop.origin.to_string())
    {
        url = format!("{scheme}://{host}{rest}");
    }
    let url = address::escaped(&url).map(Cow::into_owned).unwrap_or(url);
    Address::parse(&url).map_err(|refused| match refused {
        BadCall::Wrong(why) => unreadable(&why.told),
        BadCall::Thrown(error) => unreadable(&error.to_string()),
    })
}
