//! A thread's time in the interval it was used in. A shard that is late takes its record late, too: what that tells of
//! more time than its interval has was used after the interval's end, and the next record lacks it.

use crate::recorder::Gauges;

/// What the shards' records told of time that was still to come.
#[derive(Debug, Default)]
pub(crate) struct Overrun {
    /// By shard: how long its thread computed, and how long it waited for a core (ns); it never does both at once.
    shards: Vec<(u64, u64)>,
}

impl Overrun {
    /// Caps each shard's time at the interval's length, and carries the rest to the next.
    pub(crate) fn shift(&mut self, shards: &mut [Gauges], interval_ns: i64) {
        let interval_ns = u64::try_from(interval_ns).unwrap_or(0);
        self.shards.resize(self.shards.len().max(shards.len()), (0, 0));
        for ((cpu_ns, wait_ns), shard) in self.shards.iter_mut().zip(shards) {
            (*cpu_ns, *wait_ns) = (*cpu_ns + shard.cpu_ns, *wait_ns + shard.wait_ns);
            (shard.cpu_ns, shard.wait_ns) = within((*cpu_ns, *wait_ns), interval_ns);
            (*cpu_ns, *wait_ns) = (*cpu_ns - shard.cpu_ns, *wait_ns - shard.wait_ns);
        }
    }

    /// Gives the last interval of a run what is still carried, so that sums lose nothing.
    pub(crate) fn settle(&mut self, shards: &mut Vec<Gauges>) {
        shards.resize(shards.len().max(self.shards.len()), Gauges::default());
        for ((cpu_ns, wait_ns), shard) in self.shards.drain(..).zip(shards) {
            shard.cpu_ns += cpu_ns;
            shard.wait_ns += wait_ns;
        }
    }
}

/// The part of the times that an interval has room for. A thread computes and waits in turns, so each is cut alike.
fn within((cpu_ns, wait_ns): (u64, u64), interval_ns: u64) -> (u64, u64) {
    let all_ns = cpu_ns + wait_ns;
    if all_ns <= interval_ns {
        return (cpu_ns, wait_ns);
    }
    let cpu_ns = (u128::from(cpu_ns) * u128::from(interval_ns) / u128::from(all_ns)) as u64;
    (cpu_ns, (interval_ns - cpu_ns).min(wait_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn told(cpu_ms: u64, wait_ms: u64) -> Gauges {
        Gauges { cpu_ns: cpu_ms * MS, wait_ns: wait_ms * MS, ..Gauges::default() }
    }

    /// What the seconds have of what one shard's records told.
    fn shifted<const N: usize>(records: [Gauges; N]) -> [Gauges; N] {
        let mut overrun = Overrun::default();
        records.map(|record| {
            let mut shards = [record];
            overrun.shift(&mut shards, 1_000 * MS as i64);
            shards[0]
        })
    }

    #[test]
    fn time_beyond_an_interval_moves_to_the_next_ones() {
        let seconds = shifted([told(1_483, 0), told(1_606, 0), told(1, 0), told(806, 15)]);
        assert_eq!(seconds, [told(1_000, 0), told(1_000, 0), told(1_000, 0), told(896, 15)]);
    }

    #[test]
    fn a_thread_that_had_a_core_half_of_the_time_had_it_so_in_each_second() {
        assert_eq!(shifted([told(1_000, 1_000), told(0, 0)]), [told(500, 500), told(500, 500)]);
        assert_eq!(shifted([told(300, 300)]), [told(300, 300)]);
    }

    #[test]
    fn no_time_is_lost_at_the_end_of_a_run() {
        let mut overrun = Overrun::default();
        let mut shards = [told(1_500, 1_500), told(10, 0)];
        overrun.shift(&mut shards, 1_000 * MS as i64);
        let mut last = Vec::new();
        overrun.settle(&mut last);
        assert_eq!((shards[0], &last[..]), (told(500, 500), &[told(1_000, 1_000), Gauges::default()][..]));
    }
}
