// Counts frames in a plain variable for SECONDS; the metric gets the sum once.
exports.flood = (context, events, done) => {
  let heard = 0;
  context.ws.on('message', () => {
    heard += 1;
  });
  setTimeout(() => {
    events.emit('counter', 'heard', heard);
    context.ws.terminate();
    done();
  }, Number(process.env.SECONDS) * 1000);
};
