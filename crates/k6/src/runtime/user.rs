//! A virtual user as executors hold it: its fiber, and what it is told to do.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::machine::{Given, Machine};
use super::thrown::Thrown;
use crate::executor::Stop;
use crate::interpreter::{Fiber, block_on};
use crate::vu::{Phase, Vu};

/// Something a user does, on its fiber.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Runs the init code; gives nothing.
    Init,
    /// Gives the script's options.
    Options,
    /// Gives the names of the functions the script exports, as a JSON list.
    Functions,
    /// Calls one of them; gives what it returned where that is of interest.
    Call { phase: Phase, function: Arc<str>, given: Given },
}

/// The result of a task: JSON, or why there is none.
pub(crate) type Outcome = Result<Option<String>, Thrown>;

/// The tasks and results that pass between a user and its fiber.
#[derive(Default)]
struct TaskSlot {
    /// The next task; `None` inside: there will be none any more.
    next: RefCell<Option<Option<(Task, Stop)>>>,
    done: RefCell<Option<Outcome>>,
}

/// A virtual user, initialised or not.
pub(crate) struct User {
    pub(crate) vu: Rc<Vu>,
    slot: Rc<TaskSlot>,
    fiber: Fiber,
}

impl User {
    /// A user that has done nothing yet.
    pub(crate) fn new(vu: Rc<Vu>) -> std::io::Result<User> {
        let slot = Rc::new(TaskSlot::default());
        let (mine, of_fiber) = (Rc::clone(&vu), Rc::clone(&slot));
        let fiber = Fiber::new(vu.shard.common.limits.stack_bytes, move || live(&mine, &of_fiber))?;
        Ok(User { vu, slot, fiber })
    }

    /// Has it do something. Not cancel safe: a task that was begun is carried through, or cut off by `stop`.
    pub(crate) async fn perform(&mut self, task: Task, stop: Stop) -> Outcome {
        self.slot.next.replace(Some(Some((task, stop))));
        poll_fn(|cx| {
            let is_over = Pin::new(&mut self.fiber).poll(cx).is_ready();
            match self.slot.done.take() {
                Some(outcome) => Poll::Ready(outcome),
                None if is_over => Poll::Ready(Err(Thrown::Error("the user is gone".to_owned()))),
                None => Poll::Pending,
            }
        })
        .await
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // Idle, it ends at once. In the middle of something it stays on its stack until the process ends.
        self.slot.next.replace(Some(None));
        let _ = Pin::new(&mut self.fiber).poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// A user's whole life, on its fiber.
fn live(vu: &Rc<Vu>, slot: &Rc<TaskSlot>) {
    let mut machine = None;
    while let Some((task, stop)) = block_on(poll_fn(|_| match slot.next.take() {
        Some(next) => Poll::Ready(next),
        None => Poll::Pending,
    })) {
        let outcome = match &machine {
            None => match Machine::new(vu) {
                Ok(made) => carry_out(vu, machine.insert(made), task, stop),
                Err(error) => Err(Thrown::Error(format!("the interpreter could not be made: {error}"))),
            },
            Some(machine) => carry_out(vu, machine, task, stop),
        };
        slot.done.replace(Some(outcome));
    }
}

fn carry_out(vu: &Rc<Vu>, machine: &Machine, task: Task, stop: Stop) -> Outcome {
    match task {
        Task::Init => {
            vu.begin(Phase::Init, stop);
            machine.init().map(|()| None)
        }
        Task::Options => machine.options(),
        Task::Functions => machine.functions().map(|names| Some(serde_json::Value::from(names).to_string())),
        Task::Call { phase, function, given } => {
            vu.begin(phase, stop);
            match phase {
                Phase::Setup => vu.set_group("::setup"),
                Phase::Teardown => vu.set_group("::teardown"),
                Phase::Init | Phase::Iteration | Phase::Summary => {}
            }
            let outcome = machine.call(&function, &given);
            if matches!(phase, Phase::Setup | Phase::Teardown) {
                vu.observe_traffic(&vu.tags(), vu.now());
            }
            outcome
        }
    }
}
