// Answers each echo at once on the socket itself: the cheapest ping-pong Artillery can play.
const payload = '.'.repeat(100);

exports.play = (context, events, done) => {
  let heard = 0;
  const { ws } = context;
  const answer = () => {
    heard += 1;
    ws.send(payload);
  };
  ws.on('message', answer);
  ws.send(payload);
  setTimeout(() => {
    ws.off('message', answer);
    events.emit('counter', 'heard', heard);
    done();
  }, 1000 * Number(process.env.SECONDS));
};
