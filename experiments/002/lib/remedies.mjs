// The remedies of the report: their place in its ranking, the runs here that ask each, and how good each is by the report's
// criteria but the first, the effect on performance, which is measured.
//
// Grades are those of `sonagi explain`: from 1 (bad) to 3 (good). One with a star is the report's: it names this remedy, or
// why it put it off, as an example of the criterion. The others are ours.

/** What `host.mjs` can change of its host: the values of REMEDY beside `none` and `all`. */
export const CHANGES = ['processes', 'nginx', 'services', 'redis', 'postgres', 'pool', 'pgbouncer'];

/** The runs of the host as it was. */
export const BASE = { service: 'nest', remedy: 'none', host: 't2.micro', swap: 0 };

/** What the grades are of, in their order. */
export const CRITERIA = ['ease', 'at hand', 'cost', 'scales', 'severity', 'safety'];

const SMALL = BASE.host;
const LARGER = 't3.small';

/**
 * In the order of the report. `runs`: the values of the matrix that ask it, where they are not those of BASE; without,
 * `untried` says why there are none. What the report does not have has no grades.
 */
export const REMEDIES = [
  {
    name: 'a smaller load',
    place: 1,
    grades: '3* 3 3 1 1 3',
    untried: "no change of the host: at the report's own peak nobody fails on it (above); `sonagi capacity` says what it holds",
  },
  { name: 'two Node processes', place: 2, grades: '2 3 3 3* 3* 2', runs: { remedy: 'processes', host: SMALL } },
  { name: 'nginx', place: 3, grades: '3 3 3* 2 3* 3*', runs: { remedy: 'nginx', host: SMALL } },
  { name: 'needless services off', place: 4, grades: '3 3* 3 1 1 3*', runs: { remedy: 'services', host: SMALL } },
  { name: 'swap', place: 5, grades: '3 3 3* 1 2 2', runs: { swap: '1 GiB' } },
  { name: 'a Redis cache', place: 6, grades: '3* 1* 2 3* 2 2', runs: { remedy: 'redis', host: SMALL } },
  { name: 'PostgreSQL: settings', place: 7, grades: '2 3* 3 2 2 1*', runs: { remedy: 'postgres', host: SMALL } },
  { name: 'PostgreSQL: 20 connections', place: 7, grades: '3 3 3 1 2 2', runs: { remedy: 'pool', host: SMALL } },
  { name: 'PostgreSQL: PgBouncer', place: 7, grades: '2 2 3 3 2 1*', runs: { remedy: 'pgbouncer', host: SMALL } },
  { name: 'a second instance', place: 8, grades: '1* 1* 1* 3 3 2', runs: { remedy: 'processes', host: LARGER } },
  { name: 'a larger instance', place: 8, grades: '1* 1* 1* 2 3 2', runs: { remedy: 'none', host: LARGER } },
  { name: 'all on the small host', runs: { remedy: 'all', host: SMALL } },
  { name: '`sonagi serve` in place of it', runs: { service: 'sonagi', remedy: 'none', host: SMALL } },
];
