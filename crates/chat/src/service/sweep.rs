//! The one timer of the service: looks at every connection once a tick.
//!
//! A timer per connection would cost each of them memory and the runtime a heap; a look costs some nanoseconds. The
//! tick is a twentieth of the shortest time limit it serves (half a second with the defaults), and limits are kept
//! early by up to a tick rather than late.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::Limits;
use crate::connection::outbox::Close;
use crate::hub::idle_groups;
use crate::rooms::peer::Verdict;
use crate::transports::Transports;

/// How often what has expired is forgotten.
const TIDY: Duration = Duration::from_secs(10);

/// How much longer than a long poll somebody without a connection may be silent before it is forgotten.
const SILENCE: Duration = Duration::from_secs(30);

fn tick(limits: &Limits) -> Duration {
    let Limits { ping_interval, ping_timeout, connect_timeout, upgrade_timeout, .. } = limits;
    let shortest = *ping_interval.min(ping_timeout).min(connect_timeout).min(upgrade_timeout);
    let Limits { sse_heartbeat, stomp_heartbeat, sockjs_heartbeat, sockjs_disconnect, .. } = limits;
    let beats = [sse_heartbeat, stomp_heartbeat, sockjs_heartbeat, sockjs_disconnect];
    // Zero is never.
    let shortest =
        beats.into_iter().filter(|beat| !beat.is_zero()).fold(shortest, |least, beat| least.min(*beat));
    (shortest / 20).clamp(Duration::from_millis(5), Duration::from_secs(1))
}

/// Sweeps until the task is aborted.
pub(crate) async fn run(transports: Arc<Transports>) {
    let hub = &transports.hub;
    let tick = tick(&hub.config.limits);
    let mut ticks = tokio::time::interval(tick);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let tidying = TIDY.min(hub.config.limits.group_idle);
    let mut tidied = Instant::now();
    // Beside the sweep, which must not wait for the store.
    let mut forgetting: Option<tokio::task::JoinHandle<()>> = None;
    loop {
        let now = ticks.tick().await.into_std();
        sweep(&transports, tick.as_millis() as u64);
        transports.sockjs.sweep(now);
        transports.engineio.sweep(now);
        if now.saturating_duration_since(tidied) >= tidying {
            tidied = now;
            hub.accounts.sweep(now);
            let idle = idle_groups::idle(hub, now);
            if !idle.is_empty() && forgetting.as_ref().is_none_or(|before| before.is_finished()) {
                forgetting = Some(tokio::spawn(idle_groups::forget(idle, hub.clone())));
            }
            transports.engineio.sweep_recovery(now);
            let limits = &hub.config.limits;
            let silent = limits.long_hold + SILENCE;
            let since = hub.now().saturating_sub(silent.as_millis() as u64);
            hub.senders.sweep(since);
            transports.pollers.sweep(since);
        }
    }
}

fn sweep(transports: &Transports, tick: u64) {
    let hub = &transports.hub;
    let now = hub.now();
    let mut over = Vec::new();
    hub.peers.each(|peer| match peer.check(now, tick, &hub.config.limits) {
        Verdict::Fine => {}
        verdict => over.push((peer.clone(), verdict)),
    });
    for (peer, verdict) in over {
        match verdict {
            Verdict::Fine => {}
            Verdict::Over(why) => {
                // Unless it was closing already, for a reason of its own.
                if peer.outbox.close(why) && why == Close::Dead {
                    hub.metrics.dead_peers.add(1);
                }
                transports.abandoned(&peer);
            }
            Verdict::Drop => {
                // While it still says why it closes: a polled session is counted by that.
                transports.abandoned(&peer);
                peer.outbox.hang_up();
            }
        }
    }
}
