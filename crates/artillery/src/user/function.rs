//! Calls into the script's processor. What a user's variables are is known on both sides; a call takes along what
//! changed on this one, its answer what changed on the other.

use serde_json::{Map, Value, json};
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::secrets::masked;

use super::{Halt, User, Waited, after};
use crate::plan::{Call, Condition};
use crate::processor::{self, FunctionResult, Kind};
use crate::values::Acquaintance;

/// Things of functions that a shard tells of.
const MOST_TOLD: usize = 10;

/// Why a function brought nothing.
pub(super) struct FunctionFailure {
    pub(super) failure: Failure,
    /// The name under which Artillery counts it: the code or message of the exception. Empty: its failure's.
    pub(super) called: String,
    pub(super) detail: String,
    /// Whether it was cut off at its time limit.
    pub(super) timed_out: bool,
}

impl User {
    /// A step that calls a function.
    pub(super) async fn call(&mut self, step: &Call) -> Result<(), Halt> {
        let begun = self.begin(step.operation);
        match self.run_function(Kind::Function, &step.function, Map::new()).await? {
            Ok(_) => {
                self.succeed(begun, None, Outcome::Ok);
                Ok(())
            }
            Err(refused) => {
                let sidecar = self.shard.processor.as_ref().filter(|_| refused.timed_out);
                let limit = sidecar.map(|sidecar| sidecar.timeout());
                Err(self.fail_called(begun, limit, refused.failure, &refused.called, refused.detail))
            }
        }
    }

    /// A function failed outside a step of its own.
    pub(super) fn note_refused(&mut self, operation: Option<OperationId>, refused: FunctionFailure) -> Halt {
        self.note_called(operation, refused.failure, &refused.called, refused.detail)
    }

    /// Whether steps are to be taken; a function is asked in the way of its kind.
    pub(super) async fn holds(&mut self, condition: &Condition, kind: Kind) -> Result<bool, Halt> {
        match condition {
            Condition::Holds(expression) => Ok(self.values.is_truthy(expression)),
            // Like filtrex and Artillery: a condition that cannot be evaluated, with an invalid pattern, holds.
            Condition::Formula(formula) => {
                Ok(formula.evaluate(&mut self.values).map_or(true, |value| value.is_truthy()))
            }
            Condition::Named(name) if !self.has_function(name) => Ok(self.values.is_set_and_true(name)),
            // Boxed, so that a condition that is a mere value costs no more than it did.
            Condition::Function(name) | Condition::Named(name) => {
                match Box::pin(self.run_function(kind, name, Map::new())).await? {
                    Ok(answer) => Ok(answer.value == Some(Value::Bool(true))),
                    // Like Artillery: a condition that cannot be evaluated holds.
                    Err(refused) if kind == Kind::If && refused.failure == Failure::Function => {
                        self.tell_once(name, format!("{}: the step is taken", refused.detail));
                        Ok(true)
                    }
                    Err(refused) => Err(self.note_refused(None, refused)),
                }
            }
        }
    }

    fn has_function(&self, name: &str) -> bool {
        self.shard.processor.as_ref().is_some_and(|sidecar| sidecar.exports(name))
    }

    /// Runs a function and takes over the variables it leaves behind, also when it failed.
    pub(super) async fn run_function(
        &mut self,
        kind: Kind,
        function: &str,
        extra: Map<String, Value>,
    ) -> Result<Result<FunctionResult, FunctionFailure>, Halt> {
        let Some(sidecar) = self.shard.processor.clone() else {
            if self.shard.is_stopping() {
                // The run was asked to end before the module was loaded.
                return Err(Halt::Stopped);
            }
            let detail = format!("the function \"{function}\" has no processor to run in");
            let (failure, called) = (Failure::ProcessorLost, String::new());
            return Ok(Err(FunctionFailure { failure, called, detail, timed_out: false }));
        };
        let (set, extra) = self.news(sidecar.generation(), extra);
        let call = processor::Call { user: self.values.member, kind, function, set, extra };
        let (id, answer) = sidecar.call(call);
        let limit = sidecar.timeout();
        let until = after(self.now(), limit);
        let waited = self.alongside(until, answer).await;
        if !matches!(waited, Ok(Waited::Done(_))) {
            sidecar.abandon(id);
        }
        // A function's duration is part of the time before the next operation, as a pause would be, and not of the
        // target's.
        self.due = self.due.max(self.now());
        let refused = |failure, detail, timed_out| {
            Ok(Err(FunctionFailure { failure, called: String::new(), detail, timed_out }))
        };
        match waited? {
            Waited::Done(Ok(answer)) => {
                self.take_over(&answer);
                match &answer.error {
                    None => Ok(Ok(answer)),
                    Some(error) => {
                        let detail = format!("the function \"{function}\" failed: {}", error.told());
                        let called = masked(&self.values.shown(error.called()));
                        Ok(Err(FunctionFailure {
                            failure: Failure::Function,
                            called,
                            detail,
                            timed_out: false,
                        }))
                    }
                }
            }
            Waited::Done(Err(_)) => {
                let detail = format!("the processor's Node ended while \"{function}\" was under way");
                refused(Failure::ProcessorLost, detail, false)
            }
            Waited::Elapsed => {
                let limit = limit.as_millis();
                let detail =
                    format!("the function \"{function}\" was not done within {limit} ms: did it call done?");
                refused(Failure::FunctionTimeout, detail, true)
            }
        }
    }

    /// The values to send to a process that knows this much of the user.
    fn news(
        &mut self,
        generation: u32,
        mut extra: Map<String, Value>,
    ) -> (Map<String, Value>, Map<String, Value>) {
        let innermost = self.values.innermost();
        let mut known = self.values.acquaintance.take().unwrap_or_default();
        let mut set = Map::new();
        let told_loops = match known.generation == Some(generation) {
            true => {
                for name in known.take_changed() {
                    if let Some(value) = self.values.own_value(&name) {
                        set.insert(name, value);
                    }
                }
                known.loops.take()
            }
            false => {
                set = self.values.all();
                set.retain(|name, _| !known.has_lost(name));
                let name = &self.shard.plan().scenarios[usize::from(self.scenario)].name;
                extra.insert("scenario".to_owned(), json!({ "name": name }));
                if !known.lost.is_empty() {
                    // Each process begins with what all users have.
                    extra.insert("unset".to_owned(), json!(known.lost));
                }
                None
            }
        };
        if let Some(innermost) = innermost.as_ref().filter(|innermost| told_loops.as_ref() != Some(innermost))
        {
            set.insert("$loopCount".to_owned(), innermost.count.into());
            if let Some(element) = &innermost.element {
                set.insert("$loopElement".to_owned(), Value::clone(element));
            }
        }
        let lost = std::mem::take(&mut known.lost);
        *known = Acquaintance { generation: Some(generation), changed: Vec::new(), lost, loops: innermost };
        self.values.acquaintance = Some(known);
        (set, extra)
    }

    /// The variables a function left behind. They are known over there.
    fn take_over(&mut self, answer: &FunctionResult) {
        // Another branch of the user may have set variables meanwhile that are not known over there.
        let known = self.values.acquaintance.as_mut();
        let mut changed = known.map(|known| known.take_changed()).unwrap_or_default();
        changed.retain(|name| !answer.set.contains_key(name) && !answer.unset.contains(name));
        for (name, value) in &answer.set {
            self.values.take_over(name, value.clone());
        }
        for name in &answer.unset {
            self.values.unset(name);
        }
        let loops = self.values.innermost();
        if let Some(known) = &mut self.values.acquaintance {
            (known.changed, known.loops) = (changed, loops);
        }
    }

    /// Says something of a function's doing, of each `what` once.
    pub(super) fn tell_once(&mut self, what: &str, text: String) {
        let mut told = self.shard.told_functions.borrow_mut();
        if told.len() == MOST_TOLD || told.iter().any(|known| **known == *what) {
            return;
        }
        told.push(what.into());
        drop(told);
        self.shard.tell(Some(self.values.member), self.values.shown(&text));
    }

    /// The processor need not remember the user any longer.
    pub(super) fn part_with_processor(&mut self) {
        if self.values.acquaintance.take().is_some()
            && let Some(sidecar) = &self.shard.processor
        {
            sidecar.forget(self.values.member);
        }
    }
}
