//! The part of a `package.json` that decides how Node takes the files beside and below it.

use std::fs;
use std::path::Path;

/// The two keys that matter here.
#[derive(Default)]
pub(crate) struct Package {
    /// `"type": "module"`: plain `.js` files are ECMAScript modules.
    pub(crate) is_module: bool,
    /// The file a `require` of the folder means.
    pub(crate) main: Option<String>,
}

/// The `package.json` of `folder`. A broken one counts as an empty one: Node will say what is wrong with it.
pub(crate) fn read(folder: &Path) -> Option<Package> {
    let text = fs::read(folder.join("package.json")).ok()?;
    let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let main = value.get("main").and_then(|main| main.as_str()).map(str::to_owned);
    Some(Package { is_module: value.get("type").is_some_and(|kind| kind == "module"), main })
}

/// Whether the nearest `package.json` above `file` says that plain `.js` files are modules.
pub(crate) fn is_module(file: &Path) -> bool {
    let folders = file.ancestors().skip(1);
    let inside = folders.take_while(|folder| !folder.ends_with("node_modules"));
    inside.filter_map(read).next().is_some_and(|package| package.is_module)
}
