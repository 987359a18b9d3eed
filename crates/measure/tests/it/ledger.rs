use sonagi_measure::ledger::Counts;
#[allow(unused)]
fn todo(_: Counts) {}
