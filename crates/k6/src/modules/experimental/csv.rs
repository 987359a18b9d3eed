//! Records of CSV files.

use csv::{Reader, ReaderBuilder, StringRecord};
use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Value};
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use super::file;
use crate::bundle::SharedList;
use crate::interpreter::go_error;
use crate::modules::binding::is_true;
use crate::modules::k6::data::array;
use crate::vu::Vu;

/// A reader's own buffer; the file is in memory.
const BUFFER: usize = 4 << 10;

/// Which of a file's lines are records, and how.
struct Settings {
    delimiter: u8,
    skip_first: bool,
    /// The first line and the last one, from 0; 0: nobody said.
    from: u64,
    to: u64,
    as_objects: bool,
}

impl Settings {
    /// `delimiter, skipFirstLine, fromLine, toLine, asObjects`
    fn of<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> rquickjs::Result<Settings> {
        let [delimiter, skip_first, from, to, as_objects] = given else {
            return Err(rquickjs::Error::Unknown);
        };
        let delimiter: String = delimiter.get()?;
        let &[delimiter] = delimiter.as_bytes() else {
            return Err(go_error(ctx, "delimiter must be a single character of ASCII"));
        };
        let line = |value: &Value<'js>| value.as_number().map_or(0, |line| line as u64);
        Ok(Settings {
            delimiter,
            skip_first: is_true(skip_first),
            from: line(from),
            to: line(to),
            as_objects: is_true(as_objects),
        })
    }
}

/// The rest of a file.
struct Records {
    reader: Reader<Cursor<Arc<[u8]>>>,
    names: Option<StringRecord>,
    /// The line of the next record.
    line: u64,
    to: u64,
}

impl Records {
    fn new(bytes: Arc<[u8]>, settings: &Settings) -> Result<Records, String> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(settings.delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(Cursor::new(bytes));
        let mut records = Records { reader, names: None, line: 0, to: settings.to };
        if settings.as_objects {
            let names = records.record()?.ok_or("failed to read the first line; reason: EOF")?;
            records.names = Some(names);
        } else if settings.skip_first && settings.from == 0 {
            records.record()?.ok_or("failed to skip the first line; reason: EOF")?;
        }
        while records.line < settings.from {
            let missing = || format!("failed to skip lines until line {}; reason: EOF", settings.from);
            records.record()?.ok_or_else(missing)?;
        }
        Ok(records)
    }

    fn record(&mut self) -> Result<Option<StringRecord>, String> {
        let mut record = StringRecord::new();
        let is_there = self.reader.read_record(&mut record).map_err(|why| why.to_string())?;
        self.line += 1;
        Ok(Some(record).filter(|_| is_there))
    }

    /// The next record's JSON.
    fn next(&mut self) -> Result<Option<String>, String> {
        if self.to > 0 && self.line > self.to {
            return Ok(None);
        }
        let Some(record) = self.record()? else { return Ok(None) };
        let Some(names) = &self.names else {
            return Ok(Some(serde_json::Value::from_iter(record.iter()).to_string()));
        };
        if names.len() != record.len() {
            let (record, names) = (record.len(), names.len());
            return Err(format!("record length ({record}) doesn't match header length ({names})"));
        }
        let members = names.iter().map(str::to_owned).zip(record.iter().map(serde_json::Value::from));
        Ok(Some(serde_json::Value::Object(members.collect()).to_string()))
    }
}

fn begun<'js>(ctx: &Ctx<'js>, handle: &Object<'js>, settings: &Settings) -> rquickjs::Result<Records> {
    Records::new(file(ctx, handle)?, settings)
        .map_err(|why| go_error(ctx, &format!("failed to create a new parser; reason: {why}")))
}

fn unread(ctx: &Ctx<'_>, why: &str) -> rquickjs::Error {
    go_error(ctx, &format!("failed to read record; reason: {why}"))
}

/// All records as a list that all users share.
pub(super) fn records<'js>(
    ctx: Ctx<'js>,
    path: String,
    handle: Object<'js>,
    given: Rest<Value<'js>>,
) -> rquickjs::Result<Object<'js>> {
    let settings = Settings::of(&ctx, &given)?;
    let vu = Vu::of(&ctx);
    let Settings { delimiter, skip_first, from, to, as_objects } = settings;
    let name = format!("\0csv\0{path}\0{delimiter} {skip_first} {from} {to} {as_objects}");
    let bundle = &vu.shard.common.bundle;
    let shared: SharedList = match bundle.shared(&name) {
        Some(shared) => shared,
        None => {
            let (mut records, mut all) = (begun(&ctx, &handle, &settings)?, Vec::new());
            while let Some(record) = records.next().map_err(|why| unread(&ctx, &why))? {
                all.push(record.into_boxed_str());
            }
            bundle.share(&name, all.into())
        }
    };
    array(&ctx, shared)
}

/// A function that gives the next record, until there is none.
pub(super) fn reader<'js>(
    ctx: Ctx<'js>,
    handle: Object<'js>,
    given: Rest<Value<'js>>,
) -> rquickjs::Result<Function<'js>> {
    let records = Mutex::new(begun(&ctx, &handle, &Settings::of(&ctx, &given)?)?);
    Function::new(ctx, move |ctx: Ctx<'js>| {
        let next = records.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        match next.map_err(|why| unread(&ctx, &why))? {
            Some(record) => ctx.json_parse(record),
            None => Ok(Value::new_undefined(ctx)),
        }
    })
}
