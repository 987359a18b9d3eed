//! A request with functions around it: before it is written they may change it, with its response they may look at it,
//! and when it failed they are told.

mod described;
mod settled;

use serde_json::{Map, Value, json};
use sonagi_measure::outcome::{Failure, OperationId};
use std::rc::Rc;

use super::request::Answered;
use super::{Begun, Halt, User};
use crate::names;
use crate::plan::{Hooks, HttpStep, Template, WebsocketConnect, address};
use crate::processor::Kind;

impl User {
    /// The request as its functions want it, and what they make of its response.
    pub(super) async fn request_with_hooks(&mut self, step: &HttpStep, hooks: &Hooks) -> Result<(), Halt> {
        let mut params = hooks.request.as_object().cloned().unwrap_or_default();
        let is_changed = self.run_before(step, hooks, &mut params).await?;
        let mut changed = match is_changed {
            true => Some(self.rewritten(step, hooks, &params)?),
            false => None,
        };
        let begun = self.begin(step.operation);
        if !(hooks.after.is_empty() && hooks.on_error.is_empty()) {
            let settled = self.settled(changed.as_ref().unwrap_or(step), &mut params);
            changed = Some(self.prepared(begun, settled)?);
        }
        let step = changed.as_ref().unwrap_or(step);
        match Box::pin(self.request_in_parts(begun, step)).await {
            Ok(answered) => self.take_hooked(begun, step, hooks, &mut params, &answered).await,
            Err(Halt::Failed) => {
                self.run_on_error(hooks, &mut params).await?;
                Err(Halt::Failed)
            }
            Err(halt) => Err(halt),
        }
    }

    /// Runs functions around a request one after the other: each sees what those before it have made of its parameters.
    /// The first that fails fails the user; else, whether any has changed them.
    async fn run_hooks(
        &mut self,
        kind: Kind,
        names: &[Template],
        operation: Option<OperationId>,
        params: &mut Map<String, Value>,
        about: &Map<String, Value>,
    ) -> Result<bool, Halt> {
        let mut is_changed = false;
        for name in names {
            let name = self.hook_name(name)?;
            let mut extra = about.clone();
            extra.insert("params".to_owned(), Value::Object(params.clone()));
            match self.run_function(kind, &name, extra).await? {
                Ok(answer) => {
                    is_changed |= !answer.params.is_empty() || !answer.dropped_params.is_empty();
                    params.extend(answer.params);
                    params.retain(|key, _| !answer.dropped_params.contains(key));
                }
                Err(refused) => return Err(self.note_refused(operation, refused)),
            }
        }
        Ok(is_changed)
    }

    /// Whether a function changed the request. One that fails is the end of the user: nothing is sent.
    async fn run_before(
        &mut self,
        step: &HttpStep,
        hooks: &Hooks,
        params: &mut Map<String, Value>,
    ) -> Result<bool, Halt> {
        self.run_hooks(Kind::Before, &hooks.before, Some(step.operation.id), params, &Map::new()).await
    }

    /// The step that the changed parameters describe.
    fn rewritten(
        &mut self,
        step: &HttpStep,
        hooks: &Hooks,
        params: &Map<String, Value>,
    ) -> Result<HttpStep, Halt> {
        let new_name = params.get("name").filter(|name| hooks.request.get("name") != Some(*name));
        if let Some(Value::String(name)) = new_name {
            let shard = Rc::clone(&self.shard);
            let operation = shard.plan().operations.get(usize::from(step.operation.id.0));
            let known = operation.map_or("", |operation| operation.name.as_str());
            self.tell_once(
                "a request's name",
                format!("a function has named a request \"{name}\": it is still counted as \"{known}\""),
            );
        }
        let rewritten =
            self.shard.plan().processor.as_ref().map(|processor| processor.rewrite.step(step, params));
        rewritten.unwrap_or_else(|| Ok(step.clone())).map_err(|why| {
            let detail = format!("a function left a request that cannot be sent: {why}");
            self.note_failure(Some(step.operation.id), Failure::Function, detail)
        })
    }

    /// Captures and demands come first; the functions see the response in any case, and their word is the last.
    async fn take_hooked(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        hooks: &Hooks,
        params: &mut Map<String, Value>,
        answered: &Answered,
    ) -> Result<(), Halt> {
        let taken = self.take_response(begun, step, &answered.response);
        if hooks.after.is_empty() {
            return taken;
        }
        let about = Map::from_iter([("response".to_owned(), self.described(answered))]);
        self.run_hooks(Kind::After, &hooks.after, Some(step.operation.id), params, &about).await?;
        taken
    }

    /// Functions that are told of a request that got no answer, and of no other failure, as in Artillery.
    async fn run_on_error(&mut self, hooks: &Hooks, params: &mut Map<String, Value>) -> Result<(), Halt> {
        if hooks.on_error.is_empty() {
            return Ok(());
        }
        let last = self.last_failure.take().map(|last| (names::failure(last.0), last.1));
        let (code, message) = last.unwrap_or_default();
        let error = json!({ "message": message, "code": code });
        let about = Map::from_iter([("error".to_owned(), error)]);
        self.run_hooks(Kind::Error, &hooks.on_error, None, params, &about).await.map(drop)
    }

    /// The opening as a function wants it: it is given `target`, `subprotocols` and `options.headers`, and changes
    /// them.
    pub(super) async fn directed(
        &mut self,
        step: &WebsocketConnect,
        function: &str,
    ) -> Result<WebsocketConnect, Halt> {
        let target = self.values.text(&step.url);
        let target = self.filled(target)?;
        let target = address::joined(&self.shard.plan().target, &target);
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
                return Err(self.note_refused(Some(step.operation.id), refused));
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
