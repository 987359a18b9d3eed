//! Requests side by side.

use rquickjs::{Array, Coerced, Ctx, Exception, IntoJs, Object, Value};
use std::collections::HashMap;
use std::rc::Rc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::call::{Address, Call};
use super::exchange::{self, Answer};
use super::{outside_init, responded};
use crate::runtime::Vu;

/// A list or an object of requests; their responses, by the same numbers or names.
pub(super) fn batch<'js>(ctx: Ctx<'js>, requests: Value<'js>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    outside_init(&ctx, &vu, "Making http requests")?;
    let wrong = || Exception::throw_type(&ctx, "http.batch() takes a list or an object of requests");
    let object = requests.as_object().ok_or_else(wrong)?;
    let (mut names, mut calls) = (Vec::new(), Vec::new());
    for pair in object.props::<String, Value<'js>>() {
        let (name, request) = pair?;
        names.push(name);
        calls.push(Rc::new(one(&ctx, &vu, &request)?));
    }
    let answers = vu.wait_for(&ctx, side_by_side(&vu, &calls))?;
    let mut responses = Vec::with_capacity(answers.len());
    for (call, answer) in calls.iter().zip(answers) {
        responses.push(responded(&ctx, &vu, call, answer)?);
    }
    if requests.is_array() {
        let list = Array::new(ctx.clone())?;
        for (at, response) in responses.into_iter().enumerate() {
            list.set(at, response)?;
        }
        return list.into_js(&ctx);
    }
    let named = Object::new(ctx.clone())?;
    for (name, response) in names.iter().zip(responses) {
        named.set(&**name, response)?;
    }
    named.into_js(&ctx)
}

/// A URL, `[method, url, body, params]` or `{ method, url, body, params }`.
fn one<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, request: &Value<'js>) -> rquickjs::Result<Call> {
    let wrong = || {
        Exception::throw_type(
            ctx,
            "a request of http.batch() is a URL, a list [method, url, body, params] or an object",
        )
    };
    if let Some(list) = request.as_array() {
        let method: Coerced<String> = list.get(0)?;
        let given = |at: usize| if at < list.len() { list.get::<Value<'js>>(at).map(Some) } else { Ok(None) };
        let url = given(1)?.ok_or_else(wrong)?;
        return Call::new(
            ctx,
            vu,
            &method.0,
            Address::of(ctx, &url)?,
            given(2)?.as_ref(),
            given(3)?.as_ref(),
        );
    }
    match request.as_object() {
        Some(object) if !object.contains_key("__sonagiName")? => {
            let method: Option<Coerced<String>> = object.get("method")?;
            let method = method.map_or_else(|| "GET".to_owned(), |method| method.0);
            let url: Value<'js> = object.get("url")?;
            let (body, params): (Value<'js>, Value<'js>) = (object.get("body")?, object.get("params")?);
            Call::new(ctx, vu, &method, Address::of(ctx, &url)?, Some(&body), Some(&params))
        }
        _ => Call::new(ctx, vu, "GET", Address::of(ctx, request)?, None, None),
    }
}

/// As many at once as `batch` allows, and `batchPerHost` of each host.
async fn side_by_side(vu: &Rc<Vu>, calls: &[Rc<Call>]) -> Vec<Answer> {
    let options = &vu.shard.common.options;
    let limit = |most: usize| Rc::new(Semaphore::new(if most == 0 { Semaphore::MAX_PERMITS } else { most }));
    let all = limit(options.batch);
    let mut hosts: HashMap<String, Rc<Semaphore>> = HashMap::new();
    let mut running = JoinSet::new();
    for (at, call) in calls.iter().enumerate() {
        let host = hosts.entry(host(&call.url).to_owned()).or_insert_with(|| limit(options.batch_per_host));
        let (vu, call, host, all) = (Rc::clone(vu), Rc::clone(call), Rc::clone(host), Rc::clone(&all));
        running.spawn_local(async move {
            let _host = host.acquire().await;
            let _turn = all.acquire().await;
            (at, exchange::perform(&vu, &call).await)
        });
    }
    let mut answers: Vec<Option<Answer>> = calls.iter().map(|_| None).collect();
    while let Some(Ok((at, answer))) = running.join_next().await {
        answers[at] = Some(answer);
    }
    answers.into_iter().map(Option::unwrap_or_default).collect()
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}
