// What one who polls has heard: messages are numbered without gaps, so two cursors say it. One of long polling is `STORE.NUMBER`.
const number = (cursor) => Number(String(cursor).split('.').at(-1));

exports.report = (context, events, done) => {
  const { first, next } = context.vars;
  events.emit('counter', 'heard', number(next) - number(first));
  done();
};
