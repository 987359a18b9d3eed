//! Blocking work, a few pieces at a time.
//!
//! A permit ends with the work, not with whoever asked for it: blocking work cannot be stopped, so a client that goes
//! away must not make room for the next one while its work still runs.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// How many pieces of blocking work run at once.
#[derive(Clone)]
pub(crate) struct BlockingLimit(Arc<Semaphore>);

/// Held as long as the work takes.
pub(crate) type BlockingPermit = tokio::sync::OwnedSemaphorePermit;

impl BlockingLimit {
    /// At least one.
    pub(crate) fn new(at_once: usize) -> BlockingLimit {
        BlockingLimit(Arc::new(Semaphore::new(at_once.max(1))))
    }

    /// Waits for a permit; `None` when there are none to come.
    pub(crate) async fn wait(&self) -> Option<BlockingPermit> {
        self.0.clone().acquire_owned().await.ok()
    }

    /// Runs the work on a thread that may block; `None` when it panicked or the runtime stops.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = self.wait().await?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::mpsc::channel;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_permit_lasts_as_long_as_its_work_though_nobody_waits_for_it() {
        let limit = BlockingLimit::new(1);
        let (release, released) = channel::<()>();
        {
            let mut first = pin!(limit.run(move || released.recv().unwrap()));
            poll_fn(|cx| {
                assert!(first.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(limit.0.available_permits(), 0);
        release.send(()).unwrap();
        assert_eq!(limit.run(|| 7).await, Some(7));
    }
}
