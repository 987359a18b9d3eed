//! Cookie jars as scripts see them.

use rquickjs::{Coerced, Ctx, Function, Object, Value};
use sonagi_transport::http::{Jar, cookie_date};
use sonagi_transport::net::Origin;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use super::address;
use super::named_values::NamedValues;
use super::state::HttpState;
use crate::interpreter::{HostObject, go_error, host_object, host_object_with};
use crate::modules::binding::{Argument, TextArgument, is_true};
use crate::vu::Vu;

impl HostObject for RefCell<Jar> {}

/// A jar in an object that scripts hand about.
pub(crate) struct CookieJar;

impl CookieJar {
    /// An object for a jar. Its functions may be handed about without it.
    pub(super) fn object<'js>(ctx: &Ctx<'js>, jar: &Rc<RefCell<Jar>>) -> rquickjs::Result<Object<'js>> {
        let object = host_object(ctx, Rc::clone(jar) as Rc<dyn HostObject>)?;
        let it = Rc::clone(jar);
        let cookies = move |ctx: Ctx<'js>, url: TextArgument| cookies_for_url(&ctx, &it, &url.0);
        object.set("cookiesForURL", Function::new(ctx.clone(), cookies)?)?;
        let it = Rc::clone(jar);
        let set = move |ctx: Ctx<'js>,
                        url: TextArgument,
                        name: TextArgument,
                        value: TextArgument,
                        options: Argument<'js>| {
            set(&ctx, &it, &url.0, (&name.0, &value.0), &options.0)
        };
        object.set("set", Function::new(ctx.clone(), set)?)?;
        let it = Rc::clone(jar);
        let clear = move |ctx: Ctx<'js>, url: TextArgument| remove(&ctx, &it, &url.0, None);
        object.set("clear", Function::new(ctx.clone(), clear)?)?;
        let it = Rc::clone(jar);
        let delete = move |ctx: Ctx<'js>, url: TextArgument, name: TextArgument| {
            remove(&ctx, &it, &url.0, Some(&name.0))
        };
        object.set("delete", Function::new(ctx.clone(), delete)?)?;
        Ok(object)
    }

    /// The jar of an object, if it is one.
    pub(super) fn of(value: &Value<'_>) -> Option<Rc<RefCell<Jar>>> {
        value.as_object().and_then(host_object_with)
    }
}

/// Where the cookies of a URL belong; nowhere, unless it is one of HTTP, as Go's jars have it.
fn place(ctx: &Ctx<'_>, url: &str) -> rquickjs::Result<Option<(Origin, String)>> {
    if let Some(why) = address::unparsable(url) {
        return Err(go_error(ctx, &format!("parse {url:?}: {why}")));
    }
    let (bare, ..) = address::without_credentials(url);
    let is_http = bare
        .split_once("://")
        .is_some_and(|(scheme, _)| ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)));
    Ok(Origin::parse(&bare).ok().filter(|_| is_http))
}

/// `{ name: [value, …] }` of what would be sent there.
fn cookies_for_url<'js>(ctx: &Ctx<'js>, jar: &RefCell<Jar>, url: &str) -> rquickjs::Result<Value<'js>> {
    let mut found: NamedValues<Vec<String>> = NamedValues::default();
    if let Some((origin, path)) = place(ctx, url)? {
        for (name, value) in jar.borrow().pairs(&origin, &path) {
            match found.known(name) {
                Some(values) => values.push(value.to_owned()),
                None => _ = found.add(name.to_owned(), vec![value.to_owned()]),
            }
        }
    }
    found.object(ctx)
}

fn set<'js>(
    ctx: &Ctx<'js>,
    jar: &RefCell<Jar>,
    url: &str,
    (name, value): (&str, &str),
    options: &Value<'js>,
) -> rquickjs::Result<bool> {
    let place = place(ctx, url)?;
    let mut header = format!("{name}={value}");
    for option in options.as_object().into_iter().flat_map(Object::props::<String, Value<'js>>) {
        let (option, given) = option?;
        attribute(ctx, &mut header, &option, &given)?;
    }
    if let Some((origin, path)) = place {
        jar.borrow_mut().keep_one(&origin, &path, &header);
    }
    Ok(true)
}

/// Adds what an option says to a Set-Cookie header.
fn attribute(ctx: &Ctx<'_>, header: &mut String, option: &str, given: &Value<'_>) -> rquickjs::Result<()> {
    let text = || given.get::<Coerced<String>>().map(|text| text.0);
    let _ = match option.to_ascii_lowercase().as_str() {
        "path" => write!(header, "; Path={}", text()?),
        "domain" => write!(header, "; Domain={}", text()?),
        "expires" => match text()? {
            none if none.is_empty() => Ok(()),
            date if cookie_date(&date).is_some() => write!(header, "; Expires={date}"),
            other => {
                return Err(go_error(ctx, &format!("unable to parse \"expires\" date string {other:?}")));
            }
        },
        // 0 is what nobody said.
        "max_age" => match given.get::<Coerced<f64>>()?.0 as i64 {
            0 => Ok(()),
            seconds => write!(header, "; Max-Age={seconds}"),
        },
        "secure" if is_true(given) => write!(header, "; Secure"),
        _ => Ok(()),
    };
    Ok(())
}

fn remove(ctx: &Ctx<'_>, jar: &RefCell<Jar>, url: &str, name: Option<&str>) -> rquickjs::Result<()> {
    if let Some((origin, path)) = place(ctx, url)? {
        jar.borrow_mut().remove(&origin, &path, name);
    }
    Ok(())
}

/// A jar of the user's own, or of nobody else.
pub(super) fn cookie_jar<'js>(ctx: Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let jar = Rc::clone(&*Vu::of(&ctx).module_state::<HttpState>().jar.borrow());
    CookieJar::object(&ctx, &jar)
}

pub(super) fn new_cookie_jar<'js>(ctx: Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    CookieJar::object(&ctx, &Rc::default())
}
