//! A CPU profile of V8, and who in it holds the event loop: the service's own function, not the part of Node that it
//! calls.

use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::HashMap;

/// Characters of a name, or of a path, that are told.
const TOLD_MAX: usize = 80;
/// Frames below a sample that are walked, at most.
const DEPTH_MAX: usize = 1_000;

/// Whoever holds the loop: by its name and place, and the share of the profile's time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Holder {
    /// `hashPassword (auth.js:41)`.
    pub(super) who: String,
    /// Of the profile's time, from 0 to 1.
    pub(super) share: f64,
    /// The profile's time (s).
    pub(super) seconds: f64,
}

/// The function that a profile was in for longest; None: it has no samples. Paths are told from the folder `home` on.
pub(super) fn holder(profile: &Value, home: &str) -> Option<Holder> {
    let nodes = profile["nodes"].as_array()?;
    let by_id: HashMap<u64, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_u64()?, node))).collect();
    let children = |node: &Value| node["children"].as_array().cloned().unwrap_or_default();
    let parents: HashMap<u64, u64> = by_id
        .iter()
        .flat_map(|(id, node)| {
            children(node).into_iter().filter_map(|child| Some((child.as_u64()?, *id))).collect::<Vec<_>>()
        })
        .collect();
    let mut times: HashMap<String, f64> = HashMap::new();
    let samples = profile["samples"].as_array()?;
    let deltas = profile["timeDeltas"].as_array()?;
    for (sample, delta) in samples.iter().zip(deltas) {
        let (Some(id), Some(delta)) = (sample.as_u64(), delta.as_f64()) else { continue };
        if let Some(who) = owner(id, &by_id, &parents, home) {
            *times.entry(who).or_default() += delta.max(0.0);
        }
    }
    let whole = profile["endTime"].as_f64()? - profile["startTime"].as_f64()?;
    let most = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    let (who, time) = most.filter(|_| whole > 0.0)?;
    Some(Holder { who, share: (time / whole).min(1.0), seconds: whole / 1e6 })
}

/// The function that a sample is told by: the nearest one of the service, and where that is a package's, who called it.
fn owner(id: u64, by_id: &HashMap<u64, &Value>, parents: &HashMap<u64, u64>, home: &str) -> Option<String> {
    let up = std::iter::successors(Some(id), |id| parents.get(id).copied()).take(DEPTH_MAX);
    let frames: Vec<&Value> = up.filter_map(|id| Some(&by_id.get(&id)?["callFrame"])).collect();
    let name = |frame: &Value| frame["functionName"].as_str().unwrap_or_default().to_owned();
    let first = frames.first().map(|frame| name(frame)).unwrap_or_default();
    if first == "(garbage collector)" {
        return Some("garbage collection".to_owned());
    }
    if matches!(first.as_str(), "(idle)" | "(program)" | "(root)") {
        return None;
    }
    let url = |frame: &Value| frame["url"].as_str().unwrap_or_default().to_owned();
    let is_theirs = |frame: &&&Value| !url(frame).is_empty() && !url(frame).starts_with("node:");
    let nearest = frames.iter().find(is_theirs);
    let own = frames.iter().filter(is_theirs).find(|frame| !url(frame).contains("/node_modules/"));
    match (nearest, own) {
        (Some(nearest), Some(own)) if nearest == own => Some(told(own, home)),
        (Some(nearest), Some(own)) => Some(format!("{}, called by {}", told(nearest, home), told(own, home))),
        (Some(nearest), None) => Some(told(nearest, home)),
        (None, _) => Some(format!(
            "{} of Node itself, or what is compiled into it",
            if first.is_empty() { "a function" } else { &first }
        )),
    }
}

/// `hashPassword (auth.js:41)`.
fn told(frame: &Value, home: &str) -> String {
    let name = frame["functionName"].as_str().filter(|name| !name.is_empty()).unwrap_or("a function");
    let url = frame["url"].as_str().unwrap_or_default();
    let path = percent_decode_str(url.strip_prefix("file://").unwrap_or(url)).decode_utf8_lossy();
    let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
    let place = match (path.rfind("node_modules/"), below) {
        (Some(at), _) => &path[at..],
        (None, Some(below)) if !home.is_empty() => below,
        (None, _) => path.rsplit('/').next().unwrap_or_default(),
    };
    let line = frame["lineNumber"].as_i64().unwrap_or(-1) + 1;
    format!("{} ({}:{line})", short(name), short(place))
}

/// A text's last characters: of a path, those that tell most.
fn short(text: &str) -> String {
    let surplus = text.chars().count().saturating_sub(TOLD_MAX);
    text.chars().skip(surplus).filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame(id: u64, name: &str, url: &str, line: i64, children: &[u64]) -> Value {
        let call = json!({ "functionName": name, "url": url, "lineNumber": line });
        json!({ "id": id, "callFrame": call, "children": children })
    }

    fn profile(samples: &[u64]) -> Value {
        let nodes = [
            frame(1, "(root)", "", -1, &[2, 3, 9]),
            frame(2, "(idle)", "", -1, &[]),
            frame(3, "login", "file:///srv/app/routes/a%20b.js", 9, &[4, 6]),
            frame(4, "pbkdf2Sync", "node:internal/crypto/pbkdf2", 60, &[5]),
            frame(5, "run", "", -1, &[]),
            frame(6, "crypt", "/srv/app/node_modules/bcryptjs/index.js", 1200, &[]),
            frame(9, "(garbage collector)", "", -1, &[]),
        ];
        let deltas = vec![250_000; samples.len()];
        let end = 250_000 * samples.len();
        json!({ "nodes": nodes, "samples": samples, "timeDeltas": deltas, "startTime": 0, "endTime": end })
    }

    #[test]
    fn the_services_own_function_is_named_and_not_what_it_calls_in_node() {
        let found = holder(&profile(&[5, 5, 4, 3, 2, 2, 2, 6]), "/srv/app").unwrap();
        assert_eq!(found, Holder { who: "login (routes/a b.js:10)".to_owned(), share: 0.5, seconds: 2.0 });
    }

    #[test]
    fn a_package_is_named_with_who_called_it() {
        let found = holder(&profile(&[6, 6, 6, 2]), "").unwrap();
        assert_eq!(found.who, "crypt (node_modules/bcryptjs/index.js:1201), called by login (a b.js:10)");
        assert_eq!(holder(&profile(&[9, 9, 2]), "").unwrap().who, "garbage collection");
        assert_eq!(holder(&profile(&[2, 2]), ""), None);
    }
}
