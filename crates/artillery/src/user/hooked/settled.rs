//! A request whose holes are filled before it is sent, so that the functions behind it see what was sent. Filled again
//! for them, it would show what was captured or drawn since.

use serde_json::{Map, Value};
use std::rc::Rc;

use super::User;
use crate::plan::template::JsonPiece;
use crate::plan::{
    Body, FormPart, HttpStep, JsonTemplate, PartContent, Plan, Template, address, own_headers,
};
use crate::values::{Unfilled, Values};
use sonagi_transport::http::USER_AGENT;
use sonagi_transport::net::Failed;

impl User {
    /// The step without a hole, its default headers among its own. `params`, which describe it to functions, say the
    /// same then, in the way Artillery has them behind a request.
    pub(super) fn settled(
        &mut self,
        step: &HttpStep,
        params: &mut Map<String, Value>,
    ) -> Result<HttpStep, Failed> {
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let values = &mut self.values;
        let url = address::joined(&plan.target, &values.text(&step.url)?);
        params.remove("uri");
        params.insert("url".to_owned(), url.as_str().into());
        let headers = headers(plan, step, values)?;
        params.insert("headers".to_owned(), Value::Object(described(plan, &headers)));
        let basic_auth = match &step.basic_auth {
            Some((user, password)) => Some((values.text(user)?, values.text(password)?)),
            None => None,
        };
        params.remove("auth");
        if let Some((user, password)) = &basic_auth {
            params.insert("username".to_owned(), user.as_str().into());
            params.insert("password".to_owned(), password.as_str().into());
        }
        let query = step.query.iter().map(|(name, value)| {
            Ok((name.clone(), Template::constant(values.given(value)?.unwrap_or_default())))
        });
        let query = query.collect::<Result<_, Unfilled>>()?;
        Ok(HttpStep {
            url: Template::constant(url),
            headers: constants(headers),
            query,
            cookies: constants(values.pairs(&step.cookies)?),
            basic_auth: basic_auth
                .map(|(user, password)| (Template::constant(user), Template::constant(password))),
            body: body(&step.body, values, params)?,
            ..step.clone()
        })
    }
}

/// The headers that will be sent, but for those that belong to the body and the connection.
fn headers(plan: &Plan, step: &HttpStep, values: &mut Values) -> Result<Vec<(String, String)>, Unfilled> {
    let given = own_headers(plan, step).filter_map(|(name, template)| {
        let value = values.given_header(name, template).transpose()?;
        Some(value.map(|value| (name.to_owned(), value)))
    });
    given.collect()
}

/// The same by their names in small letters; with ours of the client, which defaults of the script's own replace.
fn described(plan: &Plan, headers: &[(String, String)]) -> Map<String, Value> {
    let ours = plan.http.headers.is_empty().then(|| ("user-agent".to_owned(), Value::from(USER_AGENT)));
    let given = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())));
    ours.into_iter().chain(given).collect()
}

fn body(body: &Body, values: &mut Values, params: &mut Map<String, Value>) -> Result<Body, Unfilled> {
    Ok(match body {
        Body::Empty | Body::Bytes(_) => body.clone(),
        Body::Text(text) => {
            let text = values.text(text)?;
            params.insert("body".to_owned(), text.as_str().into());
            Body::Text(Template::constant(text))
        }
        Body::Json(json) => {
            let text = values.json(json)?;
            params.remove("body");
            params.insert("json".to_owned(), serde_json::from_str(&text).unwrap_or_default());
            Body::Json(JsonTemplate { pieces: vec![JsonPiece::Raw(text)] })
        }
        Body::Form(fields) => {
            let fields = values.pairs(fields)?;
            let described = fields.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            params.insert("form".to_owned(), Value::Object(described.collect()));
            Body::Form(constants(fields))
        }
        Body::Multipart(parts) => {
            let parts = parts.iter().map(|part| {
                let content = match &part.content {
                    PartContent::Text(text) => PartContent::Text(Template::constant(values.text(text)?)),
                    file => file.clone(),
                };
                Ok(FormPart { content, ..part.clone() })
            });
            Body::Multipart(parts.collect::<Result<Vec<_>, Unfilled>>()?.into())
        }
    })
}

fn constants(pairs: Vec<(String, String)>) -> Vec<(String, Template)> {
    pairs.into_iter().map(|(name, value)| (name, Template::constant(value))).collect()
}
