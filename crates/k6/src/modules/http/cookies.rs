//! Cookie jars as scripts see them.

use rquickjs::function::{Opt, This};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Value};
use sonagi_engine::http::{Jar, cookie_date};
use sonagi_engine::net::Origin;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use super::named::Named;
use crate::modules::go_error;
use crate::runtime::{Opaque, Vu, opaque, opaque_in};

/// A jar in an object that scripts hand about.
pub(crate) struct CookieJar;

impl CookieJar {
    /// An object for a jar.
    pub(super) fn object<'js>(ctx: &Ctx<'js>, jar: &Rc<RefCell<Jar>>) -> rquickjs::Result<Object<'js>> {
        let object = opaque(ctx, Opaque::Jar(Rc::clone(jar)))?;
        object.set("cookiesForURL", Function::new(ctx.clone(), cookies_for_url)?)?;
        object.set("set", Function::new(ctx.clone(), set)?)?;
        object.set("clear", Function::new(ctx.clone(), clear)?)?;
        object.set("delete", Function::new(ctx.clone(), delete)?)?;
        Ok(object)
    }

    /// The jar of an object.
    pub(super) fn given<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Rc<RefCell<Jar>>> {
        let rule = "a jar must be what http.cookieJar() or new http.CookieJar() gives";
        CookieJar::of(value).ok_or_else(|| Exception::throw_type(ctx, rule))
    }

    /// The jar of an object that is one.
    pub(super) fn of(value: &Value<'_>) -> Option<Rc<RefCell<Jar>>> {
        match value.as_object().and_then(opaque_in) {
            Some(Opaque::Jar(jar)) => Some(jar),
            _ => None,
        }
    }
}

fn place(ctx: &Ctx<'_>, url: &str) -> rquickjs::Result<(Origin, String)> {
    Origin::parse(url).map_err(|failed| Exception::throw_message(ctx, &failed.detail))
}

/// `{ name: [value, …] }` of what would be sent there.
fn cookies_for_url<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, url: String) -> rquickjs::Result<Value<'js>> {
    let jar = CookieJar::given(&ctx, &this.0)?;
    let (origin, path) = place(&ctx, &url)?;
    let mut found: Named<Vec<String>> = Named::default();
    for (name, value) in jar.borrow().pairs(&origin, &path) {
        match found.known(name) {
            Some(values) => values.push(value.to_owned()),
            None => _ = found.add(name.to_owned(), vec![value.to_owned()]),
        }
    }
    found.object(&ctx)
}

fn set<'js>(
    ctx: Ctx<'js>,
    this: This<Value<'js>>,
    url: String,
    name: String,
    value: Coerced<String>,
    options: Opt<Option<Object<'js>>>,
) -> rquickjs::Result<bool> {
    let jar = CookieJar::given(&ctx, &this.0)?;
    let (origin, path) = place(&ctx, &url)?;
    let mut header = format!("{name}={}", value.0);
    let options = options.0.flatten();
    for (key, attribute) in
        [("domain", "Domain"), ("path", "Path"), ("expires", "Expires"), ("max_age", "Max-Age")]
    {
        let given: Option<Coerced<String>> =
            options.as_ref().map(|options| options.get(key)).transpose()?.flatten();
        if let Some(given) = given {
            if key == "expires" && cookie_date(&given.0).is_none() {
                let rule = format!("unable to parse \"expires\" date string {:?}", given.0);
                return Err(go_error(&ctx, &rule));
            }
            let _ = write!(header, "; {attribute}={}", given.0);
        }
    }
    let is_secure: Option<bool> =
        options.as_ref().map(|options| options.get("secure")).transpose()?.flatten();
    if is_secure == Some(true) {
        header.push_str("; Secure");
    }
    jar.borrow_mut().keep_one(&origin, &path, &header);
    Ok(true)
}

fn clear<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, url: String) -> rquickjs::Result<()> {
    remove(&ctx, &this.0, &url, None)
}

fn delete<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, url: String, name: String) -> rquickjs::Result<()> {
    remove(&ctx, &this.0, &url, Some(&name))
}

fn remove<'js>(ctx: &Ctx<'js>, this: &Value<'js>, url: &str, name: Option<&str>) -> rquickjs::Result<()> {
    let jar = CookieJar::given(ctx, this)?;
    let (origin, path) = place(ctx, url)?;
    jar.borrow_mut().remove(&origin, &path, name);
    Ok(())
}

/// A jar of the user's own, or of nobody else.
pub(super) fn cookie_jar<'js>(ctx: Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let jar = Rc::clone(&*Vu::of(&ctx).kept.http.jar.borrow());
    CookieJar::object(&ctx, &jar)
}

pub(super) fn new_cookie_jar<'js>(ctx: Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    CookieJar::object(&ctx, &Rc::default())
}
