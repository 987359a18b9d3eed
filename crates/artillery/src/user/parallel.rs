//! Steps of one user at the same time.
//!
//! Each branch is walked by a user of its own, with its own operation under way, its own loops and its own HTTP
//! connection. What makes it the same user — variables, cookies, what the processor knows of it — exists once: it lies
//! with the user that split, and is lent to the branch that is being polled until that one waits ([`User::take_up`],
//! [`User::put_down`]). So a value captured in one branch is there for the next step of every other, and no step knows
//! that it is in a branch.

use sonagi_measure::At;
use sonagi_measure::recorder::Counter;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::swap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{Halt, NEVER, User, Waited};
use crate::plan::{Parallel, Step};
use crate::values::Values;
use sonagi_transport::http::Jar;

/// Where a user split into branches.
pub(crate) struct Fork {
    /// The values that branches share, while one of them is polled and has not taken them; placeholders otherwise.
    lent: RefCell<Lent>,
    /// The branch being polled has it.
    is_taken: Cell<bool>,
    /// A branch has failed: the others end the request they are in and take no further step.
    is_over: Cell<bool>,
    /// The fork that the user that split here is a branch of.
    outer: Option<Rc<Fork>>,
}

struct Lent {
    values: Values,
    jar: Jar,
}

impl Fork {
    fn is_over(&self) -> bool {
        self.is_over.get() || self.outer.as_ref().is_some_and(|outer| outer.is_over())
    }

    /// Lends what the user that split has, or gives it back.
    fn pass(&self, user: &mut User) {
        let lent = &mut *self.lent.borrow_mut();
        swap(&mut lent.values, &mut user.values);
        swap(&mut lent.jar, &mut user.jar);
    }
}

type Branch<'p> = Pin<Box<dyn Future<Output = (Box<User>, Result<(), Halt>)> + 'p>>;

/// The branches of a user on their way.
struct Branches<'p> {
    fork: Rc<Fork>,
    running: Vec<Branch<'p>>,
    waiting: std::slice::Iter<'p, Vec<Step>>,
    outcome: Result<(), Halt>,
    /// When the last one so far ended.
    due: At,
}

impl User {
    /// Takes all branches, so many at a time, and goes on when the last one has ended. The first that fails fails the
    /// user.
    pub(super) async fn parallel(&mut self, parallel: &Parallel) -> Result<(), Halt> {
        let lent = RefCell::new(Lent { values: self.values.hollow(), jar: Jar::default() });
        let outer = self.fork.clone();
        let fork = Fork { lent, is_taken: Cell::new(false), is_over: Cell::new(false), outer };
        let mut branches = Branches {
            fork: Rc::new(fork),
            running: Vec::with_capacity(parallel.limit.min(parallel.branches.len())),
            waiting: parallel.branches.iter(),
            outcome: Ok(()),
            due: self.due,
        };
        for steps in branches.waiting.by_ref().take(parallel.limit.max(1)) {
            let branch = self.branch(&branches.fork, self.due, steps);
            branches.running.push(branch);
        }
        self.is_split = true;
        // Their own limits come first.
        let waited = self.wait(NEVER, |user, cx| branches.poll(user, cx)).await;
        self.is_split = false;
        self.due = branches.due;
        match waited? {
            Waited::Done(outcome) => outcome,
            Waited::Elapsed => Ok(()),
        }
    }

    fn branch<'p>(&mut self, fork: &Rc<Fork>, due: At, steps: &'p [Step]) -> Branch<'p> {
        let mut values = self.values.hollow();
        values.loops.clone_from(&self.values.loops);
        let mut branch = Box::new(User::with_values(Rc::clone(&self.shard), values, due));
        branch.fork = Some(Rc::clone(fork));
        branch.cut_at = self.cut_at;
        branch.scenario = self.scenario;
        branch.client = self.client.take().or_else(|| self.spare_clients.as_mut()?.0.pop().map(Box::new));
        Box::pin(async move {
            branch.take_up();
            let walked = branch.walk(steps).await;
            branch.put_down();
            (branch, walked)
        })
    }

    /// A branch has ended: its connections are there for the next one.
    fn join_branch(&mut self, branch: &mut User) {
        self.shard.count(Counter::OperationsCut, u64::from(branch.under_way.is_some()));
        let Some(client) = branch.client.take() else { return };
        match &self.client {
            None => self.client = Some(client),
            Some(_) => self.spare_clients.get_or_insert_default().0.push(*client),
        }
    }

    /// Before a branch goes on: what it shares with the others is its own until it waits again. Its loops are in any
    /// case. Most users are no branch, and come by here with every message.
    #[inline]
    pub(super) fn take_up(&mut self) {
        if self.fork.is_some() {
            self.change_hands(true);
        }
    }

    /// When a branch waits: the others may have what they share.
    #[inline]
    pub(super) fn put_down(&mut self) {
        if self.fork.is_some() {
            self.change_hands(false);
        }
    }

    fn change_hands(&mut self, takes: bool) {
        let Some(fork) = self.fork.as_ref().filter(|fork| fork.is_taken.get() != takes) else { return };
        fork.is_taken.set(takes);
        let lent = &mut *fork.lent.borrow_mut();
        swap(&mut lent.values, &mut self.values);
        swap(&mut lent.values.loops, &mut self.values.loops);
        swap(&mut lent.jar, &mut self.jar);
    }

    /// Whether another branch has failed and this one is to take no further step.
    pub(super) fn is_called_off(&self) -> bool {
        self.fork.as_ref().is_some_and(|fork| fork.is_over())
    }
}

impl Branches<'_> {
    /// Moves all branches; their common outcome once all have ended.
    fn poll(&mut self, user: &mut User, cx: &mut Context<'_>) -> Option<Result<(), Halt>> {
        let mut index = 0;
        while index < self.running.len() {
            self.fork.pass(user);
            let polled = self.running[index].as_mut().poll(cx);
            self.fork.pass(user);
            let Poll::Ready((mut branch, outcome)) = polled else {
                index += 1;
                continue;
            };
            drop(self.running.swap_remove(index));
            user.join_branch(&mut branch);
            self.due = self.due.max(branch.due);
            match outcome {
                Ok(()) if !self.fork.is_over() => {
                    if let Some(steps) = self.waiting.next() {
                        self.running.push(user.branch(&self.fork, branch.due, steps));
                    }
                }
                Ok(()) => {}
                Err(halt) => {
                    self.outcome = self.outcome.and(Err(halt));
                    self.fork.is_over.set(true);
                    // Branches that only wait are told now.
                    index = 0;
                }
            }
        }
        self.running.is_empty().then_some(self.outcome)
    }
}
