//! A request with functions around it: before it is written they may change it, with its response they may look at it,
//! and when it failed they are told.

use serde_json::{Map, Value, json};
use sonagi_measure::outcome::Failure;
use std::borrow::Cow;
use std::rc::Rc;

use super::{Begun, Halt, User};
use crate::http::{Response, decoded};
use crate::plan::{Hooks, HttpStep, Template, WebsocketConnect};
use crate::processor::Kind;

impl User {
    /// The request as its functions want it, and what they make of its response.
    pub(super) async fn request_with_hooks(&mut self, step: &HttpStep, hooks: &Hooks) -> Result<(), Halt> {
        let mut params = hooks.request.as_object().cloned().unwrap_or_default();
        let is_changed = self.run_before(step, hooks, &mut params).await?;
        let rewritten = match is_changed {
            true => Some(self.rewritten(step, &params)?),
            false => None,
        };
        let step = rewritten.as_ref().unwrap_or(step);
        let begun = self.begin(step.operation);
        let sent = Box::pin(self.request_in_parts(begun, step)).await;
        let taken = match &sent {
            Ok(response) => self.take_hooked(begun, step, hooks, &params, response).await,
            Err(halt) => Err(*halt),
        };
        if taken == Err(Halt::Failed) && !hooks.on_error.is_empty() {
            self.run_on_error(hooks, &params).await?;
        }
        taken
    }

    /// Whether a function changed the request. One that fails is the end of the user: nothing is sent.
    async fn run_before(
        &mut self,
        step: &HttpStep,
        hooks: &Hooks,
        params: &mut Map<String, Value>,
    ) -> Result<bool, Halt> {
        let mut is_changed = false;
        for name in &hooks.before {
            let name = self.hook_name(name)?;
            let extra = Map::from_iter([("params".to_owned(), Value::Object(params.clone()))]);
            match self.run_function(Kind::Before, &name, extra).await? {
                Ok(answer) => {
                    is_changed |= !answer.params.is_empty() || !answer.dropped_params.is_empty();
                    params.extend(answer.params);
                    params.retain(|key, _| !answer.dropped_params.contains(key));
                }
                Err(refused) => {
                    return Err(self.note_refused(Some(step.operation), refused));
                }
            }
        }
        Ok(is_changed)
    }

    /// The step that the changed parameters describe.
    fn rewritten(&mut self, step: &HttpStep, params: &Map<String, Value>) -> Result<HttpStep, Halt> {
        let rewritten =
            self.shard.plan().processor.as_ref().map(|processor| processor.rewrite.step(step, params));
        rewritten.unwrap_or_else(|| Ok(step.clone())).map_err(|why| {
            let detail = format!("a function left a request that cannot be sent: {why}");
            self.note_failure(Some(step.operation), Failure::Function, detail)
        })
    }

    /// Captures and demands come first; the functions see the response in any case, and their word is the last.
    async fn take_hooked(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        hooks: &Hooks,
        params: &Map<String, Value>,
        response: &Response,
    ) -> Result<(), Halt> {
        let taken = self.take_response(begun, step, response);
        if hooks.after.is_empty() {
            return taken;
        }
        let described = described(response);
        for name in &hooks.after {
            let name = self.hook_name(name)?;
            let extra = Map::from_iter([
                ("params".to_owned(), Value::Object(params.clone())),
                ("response".to_owned(), described.clone()),
            ]);
            if let Err(refused) = self.run_function(Kind::After, &name, extra).await? {
                return Err(self.note_refused(Some(step.operation), refused));
            }
        }
        // What a function took is part of the time until the next step, as a pause would be.
        self.due = self.now();
        taken
    }

    async fn run_on_error(&mut self, hooks: &Hooks, params: &Map<String, Value>) -> Result<(), Halt> {
        let last = self.last_failure.take().map(|last| (last.0.artillery(), last.1));
        let (code, message) = last.unwrap_or_default();
        for name in &hooks.on_error {
            let name = self.hook_name(name)?;
            let extra = Map::from_iter([
                ("params".to_owned(), Value::Object(params.clone())),
                ("error".to_owned(), json!({ "message": message, "code": code })),
            ]);
            if let Err(refused) = self.run_function(Kind::Error, &name, extra).await? {
                return Err(self.note_refused(None, refused));
            }
        }
        Ok(())
    }

    /// The opening as a function wants it: it is given `target`, `subprotocols` and `options.headers`, and changes them.
    pub(super) async fn directed(
        &mut self,
        step: &WebsocketConnect,
        function: &str,
    ) -> Result<WebsocketConnect, Halt> {
        let target = self.values.text(&step.url);
        let target = self.filled(target)?;
        let target = super::request::absolute(&self.shard.plan().target, &target);
        let shard = Rc::clone(&self.shard);
        let headers = self.values.pairs(step.headers_under(&shard.plan().websocket));
        let headers: Map<String, Value> =
            self.filled(headers)?.into_iter().map(|(name, value)| (name, value.into())).collect();
        let params = json!({
            "target": target, "subprotocols": step.subprotocols, "options": { "headers": headers },
        });
        let extra = Map::from_iter([("params".to_owned(), params)]);
        let answer = match self.run_function(Kind::Connect, function, extra).await? {
            Ok(answer) => answer,
            Err(refused) => {
                return Err(self.note_refused(Some(step.operation), refused));
            }
        };
        let mut step = step.clone();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if let Some(target) = answer.params.get("target") {
            step.url = Template::constant(text(target));
        }
        if let Some(Value::Array(subprotocols)) = answer.params.get("subprotocols") {
            step.subprotocols = subprotocols.iter().map(text).collect();
        }
        if let Some(Value::Object(headers)) = answer.params.get("options").map(|options| &options["headers"])
        {
            let header = |(name, value): (&String, &Value)| (name.clone(), Template::constant(text(value)));
            step.headers = headers.iter().map(header).collect();
        }
        Ok(step)
    }

    fn hook_name(&mut self, name: &Template) -> Result<String, Halt> {
        let name = self.values.text(name);
        self.filled(name)
    }
}

/// A response as functions know it (Node's own names).
fn described(response: &Response) -> Value {
    let mut headers = Map::new();
    for (name, value) in response.headers.iter() {
        let value = String::from_utf8_lossy(value).into_owned();
        let name = name.to_ascii_lowercase();
        // Of all headers only this one is a list, also when it came once.
        if name == "set-cookie" {
            let list = headers.entry(name).or_insert_with(|| json!([]));
            list.as_array_mut().expect("made above").push(value.into());
        } else if let Some(Value::String(known)) = headers.get_mut(&name) {
            known.push_str(", ");
            known.push_str(&value);
        } else {
            headers.insert(name, value.into());
        }
    }
    // What cannot be unpacked is shown as it came.
    let body = decoded(&response.headers, &response.body).unwrap_or(Cow::Borrowed(&response.body));
    json!({
        "statusCode": response.status,
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
    })
}
