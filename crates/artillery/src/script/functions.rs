//! The functions of a script's processor: where they are called from, and what they leave of a request.
//!
//! A module's exports are known only when Node has loaded it: until then a name is only a name. After Node was asked,
//! [`crate::script::Loaded::not_exported`] tells which names the module lacks.

use crate::plan::template::Piece;
use crate::plan::{Call, Hooks, Processor, ProcessorFile, Rewrite, Step, Template};
use serde_json::{Map, Value};
use sonagi_measure::outcome::OperationKind;
use sonagi_transpile::{FileFault, Format};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::script::called::{Called, Functions, called};
use crate::script::condition::guarded;
use crate::script::context::{Around, Flow};
use crate::script::problem::Problem;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::yaml::Place;

mod rewrite;

/// How long a function may take to say that it is done.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds the module. From here on functions may set any variable.
/// It is looked for in each of these folders in turn.
pub(crate) fn module(reader: &mut Reader, config: &Fields<'_>, folders: &[PathBuf]) {
    let Some(node) = config.get("processor") else { return };
    // Whatever is wrong with it, what calls its functions is no further problem.
    reader.names.may_be_anything();
    reader.functions.module = folders.last().cloned();
    let Some(name) = reader.text(config, "processor") else { return };
    let within =
        |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone()).join(&name);
    match folders.iter().find_map(|folder| resolve(&within(folder))) {
        Some(module) => reader.functions.module = Some(module),
        None => {
            let what = format!("the processor {name:?} is not there");
            reader.problem(node.place, what, Some("its path is relative to the script's folder".into()));
        }
    }
}

/// The file a module's path means, by Node's rules: itself, with an extension, or a folder's index.
fn resolve(path: &Path) -> Option<PathBuf> {
    const EXTENSIONS: [&str; 7] = ["js", "json", "cjs", "mjs", "ts", "mts", "cts"];
    let with = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
    let index = |extension: &str| path.join("index").with_extension(extension);
    let candidates = std::iter::once(path.to_owned())
        .chain(EXTENSIONS.into_iter().map(with))
        .chain(EXTENSIONS.into_iter().map(index));
    let found = candidates.into_iter().find(|candidate| candidate.is_file())?;
    found.canonicalize().ok()
}

/// The processor that the engine runs. None without one.
pub(crate) fn processor(reader: &mut Reader) -> Option<Processor> {
    let Functions { module, called } = &reader.functions;
    let (module, called) = (module.clone(), called.keys().cloned().collect());
    let constants = reader.constants.clone();
    let module = module?;
    Some(Processor {
        files: files(reader, &module),
        module,
        functions: called,
        timeout: PATIENCE,
        environment: constants.stand_ins(),
        constants: constants.known(),
        rewrite: Rewrite::new(move |step, params| rewrite::step(&constants, step, params)),
    })
}

/// The functions the script calls; nothing without a processor.
pub(crate) fn take_called(reader: &mut Reader) -> Vec<Called> {
    let Functions { module, called } = std::mem::take(&mut reader.functions);
    let of = |(name, place): (String, Place)| Called { name, file: reader.file_of(place.origin), place };
    called.into_iter().filter(|_| module.is_some()).map(of).collect()
}

/// The files among the module and its neighbours that Node cannot load as written.
fn files(reader: &mut Reader, module: &Path) -> Vec<ProcessorFile> {
    if !module.is_file() {
        return Vec::new();
    }
    let file = |file: sonagi_transpile::File| ProcessorFile {
        path: file.path,
        code: file.module.code,
        is_common: file.module.format == Format::CommonJs,
        imports: file.links,
    };
    match sonagi_transpile::graph(module) {
        Ok(files) => files.into_iter().map(file).collect(),
        Err(faults) => {
            reader.problems.extend(faults.into_iter().map(|FileFault { path, fault }| Problem {
                file: path,
                line: fault.line,
                column: fault.column,
                what: fault.what,
                hint: None,
                tolerated: None,
            }));
            Vec::new()
        }
    }
}

/// A step that calls a function.
pub(crate) fn function(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let function = name(reader, fields, verb)?;
    let named = flow.operation_name(reader, fields).unwrap_or_else(|| function.clone());
    let operation = reader.operation(fields.place, &named, OperationKind::Function)?;
    let step = vec![Step::Call(Call { operation, function })];
    Some(guarded(reader, fields, step))
}

/// The name of a function that is called from here.
pub(crate) fn name(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<String> {
    let node = fields.get(key)?;
    let name = reader.text(fields, key)?;
    called(reader, node, &name);
    Some(name)
}

/// The functions a scenario calls before its first and after its last step.
pub(crate) fn calls(reader: &mut Reader, fields: &Fields<'_>, key: &'static str) -> Vec<Step> {
    let mut steps = Vec::new();
    for node in reader.list(fields, key, true) {
        let Some(function) = node.as_text().map(str::to_owned) else {
            reader.wrong(fields, key, node);
            continue;
        };
        called(reader, node, &function);
        let operation = reader.operation(node.place, &function, OperationKind::Function);
        steps.extend(operation.map(|operation| Step::Call(Call { operation, function })));
    }
    steps
}

/// The hooks a scenario lays around its requests.
pub(crate) fn around(reader: &mut Reader, fields: &Fields<'_>) -> Around {
    Around {
        before: names(reader, fields, "beforeRequest"),
        after: names(reader, fields, "afterResponse"),
        on_error: names(reader, fields, "onError"),
    }
}

/// The hooks around one request: the scenario's, then its own.
pub(crate) fn hooks(
    reader: &mut Reader,
    flow: &Flow<'_>,
    own: &Fields<'_>,
    method: &str,
) -> Option<Box<Hooks>> {
    if flow.behalf.as_ref().is_some_and(|behalf| behalf.is_publish) {
        return refuse(reader, flow, own);
    }
    let Around { mut before, mut after, on_error } = flow.around.clone();
    before.extend(names(reader, own, "beforeRequest"));
    after.extend(names(reader, own, "afterResponse"));
    if before.is_empty() && after.is_empty() && on_error.is_empty() {
        return None;
    }
    let mut request = match own.to_node().to_value() {
        Value::Object(request) => request,
        _ => Map::new(),
    };
    let written =
        request.get("url").or_else(|| request.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let target = reader.constants.target.clone().unwrap_or_default();
    let absolute = written.filter(|url| url.starts_with('/')).map(|url| format!("{target}{url}"));
    if let Some(absolute) = absolute {
        request.remove("uri");
        request.insert("url".to_owned(), absolute.into());
    }
    request.insert("method".to_owned(), method.into());
    Some(Box::new(Hooks { before, after, on_error, request: Value::Object(request) }))
}

/// Around a message to a room no function is called: what is sent is what the ledger counts on.
fn refuse(reader: &mut Reader, flow: &Flow<'_>, own: &Fields<'_>) -> Option<Box<Hooks>> {
    for key in ["beforeRequest", "afterResponse"] {
        if own.entry(key).is_some() {
            let what = format!("{key}: no function is called around what `publish` sends");
            let hint = "let a `function` step set a variable, and say it in the template".to_owned();
            reader.problem(own.place_of(key), what, Some(hint));
        }
    }
    let Around { before, after, on_error } = &flow.around;
    if !(before.is_empty() && after.is_empty() && on_error.is_empty()) {
        let text = "the scenario's functions around requests are not called for what `publish` sends";
        reader.notice(own.place, text);
    }
    None
}

/// Names of functions; they may have holes.
fn names(reader: &mut Reader, fields: &Fields<'_>, key: &'static str) -> Vec<Template> {
    let mut names = Vec::new();
    for node in reader.list(fields, key, true) {
        if plain_text(node).is_none() {
            reader.wrong(fields, key, node);
        }
        let Some(template) = reader.template(node) else { continue };
        // Only its user knows a name with template expressions.
        if let [Piece::Text(name)] = template.pieces.as_slice() {
            called(reader, node, name);
        }
        names.push(template);
    }
    names
}
