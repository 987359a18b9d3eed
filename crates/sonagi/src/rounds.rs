//! Rounds: the order in which the runs of a script are made when each is made several times.
//!
//! A machine gets slower or faster while it is measured. So every combination has its turn before any has its next, in
//! an order that is drawn anew for each round, and a drift is shared by all instead of being one's. The runs of a round
//! have one seed, so that the values compared saw the same arrivals and variables; each round has another, as runs that
//! repeat one draw would vary less than the service does. Last, the first combination is run once more: it is compared
//! with its own other runs alone, and so shows what the machine did meanwhile.

use crate::error::Error;
use crate::load::Script;
use fastrand::Rng;

/// More runs of a script are refused: nobody waits for them.
const RUNS_MAX: usize = 1000;

/// One run's place in the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Which of the combinations.
    pub(crate) combination: usize,
    /// From 1.
    pub(crate) round: usize,
    pub(crate) seed: u64,
    /// Whether it is the first combination once more, behind all rounds.
    pub(crate) is_anchor: bool,
}

/// All turns, in their order. The first round has the seed that draws them.
fn turns(combinations: usize, repeat: usize, seed: u64) -> Vec<Turn> {
    let mut random = Rng::with_seed(seed);
    let mut turns = Vec::with_capacity(combinations * repeat + 1);
    for round in 1..=repeat {
        let seed = if round == 1 { seed } else { random.u64(..) };
        let mut order: Vec<usize> = (0..combinations).collect();
        random.shuffle(&mut order);
        turns.extend(order.into_iter().map(|combination| Turn {
            combination,
            round,
            seed,
            is_anchor: false,
        }));
    }
    // A script without a matrix is its own anchor.
    if combinations > 1 {
        turns.push(Turn { combination: 0, round: repeat + 1, seed, is_anchor: true });
    }
    turns
}

/// The turns of so many combinations, in their order; None where each is run once.
///
/// # Errors
/// These are more runs than anybody waits for.
pub(crate) fn drawn(combinations: usize, repeat: usize, seed: u64) -> Result<Option<Vec<Turn>>, String> {
    if combinations.checked_mul(repeat).is_none_or(|runs| runs > RUNS_MAX) {
        return Err(format!(
            "a script is run at most {RUNS_MAX} times; {combinations} combinations {repeat} times each are more\nhint: \
             narrow the matrix (--matrix name=value,value), or repeat less often (--repeat N)"
        ));
    }
    Ok((repeat > 1).then(|| turns(combinations, repeat, seed)))
}

/// Repeats the runs of a script: as often as `repeat` says, or else the script.
///
/// # Errors
/// These are more runs than anybody waits for.
pub(crate) fn schedule(script: &mut Script, repeat: Option<usize>, seed: u64) -> Result<(), Error> {
    let repeat = repeat.or(script.experiment.repeat).unwrap_or(1);
    let drawn = drawn(script.runs.len(), repeat, seed);
    let drawn = drawn.map_err(|what| Error::Problems(format!("error: {}: {what}", script.path.display())));
    let Some(turns) = drawn? else { return Ok(()) };
    let once = std::mem::take(&mut script.runs);
    let run = |turn: Turn| once[turn.combination].repeated(turn);
    script.runs = turns.into_iter().map(run).collect();
    script.repeat = repeat;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_combination_has_its_turn_before_any_has_its_next() {
        let turns = turns(4, 5, 7);
        assert_eq!(turns.len(), 21);
        let mut orders = BTreeSet::new();
        for (at, round) in turns[..20].chunks(4).enumerate() {
            let mut order: Vec<usize> = round.iter().map(|turn| turn.combination).collect();
            orders.insert(order.clone());
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3]);
            assert!(round.iter().all(|turn| turn.round == at + 1 && turn.seed == round[0].seed));
        }
        assert!(orders.len() > 1, "rounds have orders of their own: {orders:?}");
        let seeds: BTreeSet<u64> = turns.iter().map(|turn| turn.seed).collect();
        assert_eq!((seeds.len(), turns[0].seed), (5, 7));
    }

    #[test]
    fn the_first_combination_is_run_once_more_behind_all_others() {
        let last = turns(3, 2, 1).pop().unwrap();
        assert_eq!(last, Turn { combination: 0, round: 3, seed: 1, is_anchor: true });
        assert!(turns(1, 3, 1).iter().all(|turn| !turn.is_anchor));
    }

    #[test]
    fn a_seed_draws_the_same_order_again_and_another_seed_another() {
        assert_eq!(turns(5, 5, 3), turns(5, 5, 3));
        assert_ne!(turns(5, 5, 3), turns(5, 5, 4));
    }
}
