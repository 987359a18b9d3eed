//! Requests side by side.

use rquickjs::function::Opt;
use rquickjs::{Array, Ctx, IntoJs, Object, Value};
use std::collections::HashMap;
use std::rc::Rc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::answer::Answer;
use super::call::{Call, ResponseType};
use super::errors::{BadCall, Unanswered};
use super::{address, exchange, outside_init, responded, response};
use crate::interpreter::go_error;
use crate::modules::binding::kind;
use crate::shard::Level;
use crate::vu::Vu;

/// A list or an object of requests; their responses, by the same numbers or names.
pub(super) fn batch<'js>(ctx: Ctx<'js>, requests: Opt<Value<'js>>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    outside_init(&ctx, &vu, "Making http requests")?;
    let missing = || go_error(&ctx, "no argument was provided to http.batch()");
    let requests = requests.0.ok_or_else(missing)?;
    let Some(object) = requests.as_object() else {
        let kind = kind(&requests);
        return Err(go_error(&ctx, &format!("invalid http.batch() argument type {kind}")));
    };
    let (mut names, mut calls) = (Vec::new(), Vec::new());
    for pair in object.props::<String, Value<'js>>() {
        let (name, request) = pair?;
        match one(&ctx, &vu, &name, &request) {
            Ok(call) => calls.push(Rc::new(call)),
            Err(BadCall::Thrown(error)) => return Err(error),
            Err(BadCall::Wrong(why)) => return unsent(&ctx, &vu, &requests, &names, &name, why),
        }
        names.push(name);
    }
    let answers = vu.wait_for(&ctx, side_by_side(&vu, &calls))?;
    let mut responses = Vec::with_capacity(answers.len());
    for (call, answer) in calls.iter().zip(answers) {
        responses.push(responded(&ctx, &vu, call, answer)?);
    }
    gathered(&ctx, &requests, &names, responses)
}

/// Responses by the numbers or the names of their requests.
fn gathered<'js>(
    ctx: &Ctx<'js>,
    requests: &Value<'js>,
    names: &[String],
    responses: Vec<Object<'js>>,
) -> rquickjs::Result<Value<'js>> {
    if requests.is_array() {
        let list = Array::new(ctx.clone())?;
        for (at, response) in responses.into_iter().enumerate() {
            list.set(at, response)?;
        }
        return list.into_js(ctx);
    }
    let named = Object::new(ctx.clone())?;
    for (name, response) in names.iter().zip(responses) {
        named.set(&**name, response)?;
    }
    named.into_js(ctx)
}

/// An entry makes no request: none is sent, and the entries before it have responses without an answer.
fn unsent<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    requests: &Value<'js>,
    names: &[String],
    name: &str,
    why: Unanswered,
) -> rquickjs::Result<Value<'js>> {
    if vu.shard.common.options.throw {
        return Err(go_error(ctx, &why.told));
    }
    vu.shard.say(Level::Warn, "A batch request failed".to_owned(), vec![("error", why.told.clone())]);
    let mut responses = Vec::new();
    for _ in names {
        responses.push(response::response(ctx, vu, Answer::default(), ResponseType::Text)?);
    }
    responses.push(response::response(ctx, vu, Answer::failed(why), ResponseType::Text)?);
    let names: Vec<String> = names.iter().cloned().chain([name.to_owned()]).collect();
    let gathered = gathered(ctx, requests, &names, responses)?;
    // A list is as long as what was asked for.
    if let (Some(given), Some(list)) = (requests.as_array(), gathered.as_array()) {
        for at in list.len()..given.len() {
            list.set(at, Value::new_null(ctx.clone()))?;
        }
    }
    Ok(gathered)
}

/// A URL, `[method, url, body, params]` or `{ method, url, body, params }`.
fn one<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, key: &str, request: &Value<'js>) -> Result<Call, BadCall> {
    if let Some(list) = request.as_array() {
        if list.len() < 2 {
            return Err(BadCall::wrong("invalid batch request: a list needs a method and a URL"));
        }
        let method = list.get::<Value<'js>>(0)?;
        if !method.is_string() {
            return Err(BadCall::wrong("invalid method type: it must be a text"));
        }
        let given = |at: usize| if at < list.len() { list.get::<Value<'js>>(at).map(Some) } else { Ok(None) };
        let (url, body, params) = (list.get::<Value<'js>>(1)?, given(2)?, given(3)?);
        return Call::new(ctx, vu, &method.get::<String>()?, &url, body.as_ref(), params.as_ref());
    }
    match request.as_object() {
        Some(object) if !object.contains_key(address::MARK)? => {
            if !object.contains_key("url")? {
                return Err(BadCall::wrong(format!("batch request {key} doesn't have a url key")));
            }
            let method: Value<'js> = object.get("method")?;
            let method = match method.is_undefined() {
                true => "GET".to_owned(),
                false if method.is_string() => method.get::<String>()?.to_uppercase(),
                false => return Err(BadCall::wrong("invalid method type: it must be a text")),
            };
            let (url, params): (Value<'js>, Value<'js>) = (object.get("url")?, object.get("params")?);
            let body: Value<'js> = object.get("body")?;
            let body = Some(&body).filter(|_| !matches!(&*method, "GET" | "HEAD"));
            Call::new(ctx, vu, &method, &url, body, Some(&params))
        }
        _ => Call::new(ctx, vu, "GET", request, None, None),
    }
}

/// Sends as many at once as `batch` allows, and `batchPerHost` to each host.
async fn side_by_side(vu: &Rc<Vu>, calls: &[Rc<Call>]) -> Vec<Answer> {
    let options = &vu.shard.common.options;
    let limit = |most: usize| Rc::new(Semaphore::new(permits(most)));
    let all = limit(options.batch);
    let mut hosts: HashMap<String, Rc<Semaphore>> = HashMap::new();
    let mut running = JoinSet::new();
    for (at, call) in calls.iter().enumerate() {
        let host =
            hosts.entry(host(&call.address.url).to_owned()).or_insert_with(|| limit(options.batch_per_host));
        let (vu, call, host, all) = (Rc::clone(vu), Rc::clone(call), Rc::clone(host), Rc::clone(&all));
        running.spawn_local(async move {
            let _host = host.acquire().await;
            let _turn = all.acquire().await;
            (at, exchange::perform(&vu, &call).await)
        });
    }
    let mut answers: Vec<Option<Answer>> = calls.iter().map(|_| None).collect();
    while let Some(over) = running.join_next().await {
        match over {
            Ok((at, answer)) => answers[at] = Some(answer),
            Err(broken) if broken.is_panic() => std::panic::resume_unwind(broken.into_panic()),
            Err(_) => {}
        }
    }
    answers.into_iter().map(Option::unwrap_or_default).collect()
}

/// 0 is no limit.
fn permits(most: usize) -> usize {
    if most == 0 { Semaphore::MAX_PERMITS } else { most.min(Semaphore::MAX_PERMITS) }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_more_than_there_can_be() {
        for (asked, permits_made) in
            [(0, Semaphore::MAX_PERMITS), (20, 20), (usize::MAX, Semaphore::MAX_PERMITS)]
        {
            assert_eq!(Semaphore::new(permits(asked)).available_permits(), permits_made);
        }
    }
}
