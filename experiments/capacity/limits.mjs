// The planted limits: the script that loads each service, what is varied, and the truth in its unit.

/** Users that ask a few times each: a connection for every request would be the limit of this machine, not of the service. */
const asking = (times) => [{ flow: [{ loop: [{ get: { url: '/' } }], count: times }] }];
const refused = "'http.codes.503' <= 0.001 * http.requests";

export const LIMITS = {
  bucket500: { vary: 'rate', from: 10, to: 5000, truth: 500, until: refused, scenarios: asking(1) },
  bucket2000: { vary: 'rate', from: 10, to: 2000, truth: 200, until: refused, scenarios: asking(10) },
  bucket8000: { vary: 'rate', from: 10, to: 2000, truth: 400, until: refused, scenarios: asking(20) },
  pool: { vary: 'rate', from: 10, to: 1000, truth: 80, until: 'http.response_time.p99 < 300', scenarios: asking(1) },
  // Everybody says something once a second, and each costs as much as there are members: N × N × 0.1 ms are a second at N = 100.
  // The loop has no count: it ends with the trial.
  room: {
    vary: 'users',
    from: 10,
    to: 1000,
    truth: 100,
    until: 'http.response_time.p99 < 300',
    scenarios: [{ flow: [{ loop: [{ get: { url: '/' } }], pace: 1 }] }],
  },
};
