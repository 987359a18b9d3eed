//! How often a user looks at its sources: each look of a thousand users costs.

use super::*;
use crate::vu::Source;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts the looks at it; brings a job at one of them.
#[derive(Default)]
struct Looked {
    looks: Cell<u32>,
    brings_at: Option<u32>,
}

impl Source for Looked {
    fn poll(&self, vu: &Rc<Vu>, _: &mut Context<'_>) -> Poll<()> {
        self.looks.set(self.looks.get() + 1);
        if self.brings_at == Some(self.looks.get()) {
            vu.events.push(Box::new(|_, _| Ok(())));
        }
        Poll::Pending
    }

    fn end(&self, _: &Rc<Vu>) {}

    fn holds(&self) -> bool {
        self.brings_at.is_some()
    }
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A user of the script with such a source, in simulated time.
fn with_user<F: Future<Output = ()>>(
    script: &str,
    brings_at: Option<u32>,
    test: impl FnOnce(User, Rc<Looked>) -> F,
) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let clock = Clock::simulated(Instant::now());
        let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
        let (shard, _) = shard(Path::new("/test"), script, How::default(), &clock, Rc::default());
        let user = User::new(Vu::new(shard, 1)).unwrap();
        let source = Rc::new(Looked { brings_at, ..Looked::default() });
        user.vu.events.add(Rc::clone(&source) as Rc<dyn Source>);
        test(user, source).await;
        driver.abort();
    });
}

#[test]
fn who_finds_a_job_by_looking_is_not_woken_for_it() {
    with_user("", Some(2), async |user, source| {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut cx = Context::from_waker(&waker);
        assert!(user.vu.events.poll(&user.vu, &mut cx).is_pending());
        assert!(user.vu.events.poll(&user.vu, &mut cx).is_ready());
        assert_eq!((source.looks.get(), wakes.0.load(Ordering::Relaxed)), (2, 0));
    });
}

#[test]
fn a_user_that_waits_looks_once_before_and_once_after() {
    let script = "export default () => { setTimeout(() => {}, 1000); };";
    with_user(script, None, async |mut user, source| {
        let never = || Stop::never(&user.vu.shard.clock);
        let (first, second) = (never(), never());
        user.perform(Task::Init, first).await.unwrap();
        let given = Given::Data(None);
        let call = Task::Call { phase: Phase::Iteration, function: "default".into(), given };
        source.looks.set(0);
        user.perform(call, second).await.unwrap();
        assert_eq!(source.looks.get(), 2);
    });
}
