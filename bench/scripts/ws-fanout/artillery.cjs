// Counts what a user receives in a plain variable; the metric gets the sum once, which is the cheapest form.
exports.listen = (context, _events, done) => {
  context.heard = 0;
  context.ws.on('message', (data) => {
    // The first frame says `joined`; it may come before or after this listener.
    if (data.length === 86) context.heard += 1;
  });
  done();
};

exports.report = (context, events, done) => {
  events.emit('counter', 'heard', context.heard);
  done();
};
