//! The functions of a script's processor: where they are, and where a flow calls them.

use serde_json::{Map, Value};
use sonagi_measure::outcome::CountedAs;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Formula;
use super::request::HttpStep;
use super::template::{Expression, Template};

/// A script's processor: a module of JavaScript whose functions users call. Each shard runs it in a Node of its own, so
/// its module state is shared by the users of a shard.
#[derive(Clone, Debug)]
pub struct Processor {
    /// The module, absolute.
    pub module: PathBuf,
    /// The functions the script calls by name: a run does not start when one of them is missing.
    pub functions: Vec<String>,
    /// Files that Node cannot load as they are written, turned into JavaScript.
    pub files: Vec<ProcessorFile>,
    /// Variables of its environment beside our own.
    pub environment: Vec<(String, String)>,
    /// The template values known before the run, which functions find among the variables: `$environment`, `$testId`, …
    pub constants: Map<String, Value>,
    /// Longest wait for the module to be loaded, and for a function to say that it is done.
    pub timeout: Duration,
    /// The step that a request's parameters describe once functions have changed them; or what is wrong with them.
    pub rewrite: Rewrite,
}

impl Processor {
    /// Whether a Node that has loaded one of the two has loaded the other.
    pub(crate) fn is_loaded_like(&self, other: &Processor) -> bool {
        self.module == other.module && self.files == other.files && self.environment == other.environment
    }
}

/// Makes a step of a request's parameters: its front end's work, for it knows how a step is written.
#[derive(Clone)]
pub struct Rewrite(Arc<Rewriting>);

type Rewriting = dyn Fn(&HttpStep, &Map<String, Value>) -> Result<HttpStep, String> + Send + Sync;

impl Rewrite {
    /// By this function: of the step as it was, and the parameters as they are.
    pub fn new(
        rewriting: impl Fn(&HttpStep, &Map<String, Value>) -> Result<HttpStep, String> + Send + Sync + 'static,
    ) -> Rewrite {
        Rewrite(Arc::new(rewriting))
    }

    pub(crate) fn step(&self, step: &HttpStep, params: &Map<String, Value>) -> Result<HttpStep, String> {
        (self.0)(step, params)
    }
}

impl fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rewrite")
    }
}

/// A file of a processor, as Node is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorFile {
    /// Where it was written, absolute.
    pub path: PathBuf,
    /// JavaScript.
    pub code: String,
    /// Whether it is a CommonJS module; an ECMAScript module else.
    pub is_common: bool,
    /// Its imports of neighbouring files: as written, and the file meant.
    pub imports: Vec<(String, PathBuf)>,
}

/// A step that calls a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// Its name among the module's exports.
    pub function: String,
}

/// The functions around a request, each list in its order.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Called before it is written; may change it.
    pub before: Vec<Template>,
    /// Called with its response.
    pub after: Vec<Template>,
    /// Called when it failed.
    pub on_error: Vec<Template>,
    /// The request as the script has it, its holes open: what the functions are given.
    pub request: Value,
}

/// A condition for taking steps, or for repeating them.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A value that holds or not, as JavaScript sees it.
    Holds(Expression),
    /// Worked out of several values.
    Formula(Box<Formula>),
    /// A function's word.
    Function(String),
    /// A function's word, if the processor has one of this name; else whether the variable holds.
    Named(String),
}

impl Condition {
    pub(crate) fn may_call(&self) -> bool {
        matches!(self, Condition::Function(_) | Condition::Named(_))
    }
}
