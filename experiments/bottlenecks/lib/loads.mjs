// The loads of plants, as scripts of Sonagi's.

/** Seconds of load in a run. */
export const SECONDS = 12;

/** New users come at a rate, and each takes these steps. */
export const arrivals = (rate, flow, { seconds = SECONDS, timeout = 5, ...config } = {}) => ({
  config: { phases: [{ duration: seconds, arrivalRate: rate }], http: { timeout }, ...config },
  scenarios: [{ flow }],
});

/** The same for one page. */
export const pages = (rate, url, options) => arrivals(rate, [{ get: { url } }], options);

/** Users join a room over Socket.IO one after the other, and each says something about once a second. */
export const room = (users, { seconds = SECONDS, perSecond = 1 } = {}) => ({
  config: { phases: [{ duration: 2, arrivalCount: users }], delivery: { deadline: 1, drain: 2 }, socketio: { transports: ['websocket'] } },
  scenarios: [
    {
      engine: 'socketio',
      room: { name: 'lobby', joinedAfter: 'join' },
      flow: [
        { emit: ['join', 'lobby'], acknowledge: { match: { json: '$.0.ok', value: true } } },
        { think: 2 },
        { loop: [{ emit: ['say', 'lobby', 'hello {{ $stamp }}'] }, { think: 1 / perSecond, jitter: '60%' }], count: Math.round(seconds * perSecond) },
      ],
    },
  ],
});

/** The same over plain WebSockets, as the service on FastAPI has them. */
export const sockets = (users, { seconds = SECONDS, perSecond = 1 } = {}) => ({
  config: { phases: [{ duration: 2, arrivalCount: users }], delivery: { deadline: 1, drain: 2 } },
  scenarios: [
    {
      engine: 'ws',
      room: { name: 'lobby', joinedAfter: 'connect' },
      flow: [
        { connect: '/ws?name=lobby' },
        { think: 2 },
        { loop: [{ send: { text: 'hello {{ $stamp }}' } }, { think: 1 / perSecond, jitter: '60%' }], count: Math.round(seconds * perSecond) },
      ],
    },
  ],
});
