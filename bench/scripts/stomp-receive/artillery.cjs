// CONNECT, SUBSCRIBE once CONNECTED, and every MESSAGE is counted by its first letter, in a plain variable. Its version of ws gives texts.
const CONNECT = 'CONNECT\naccept-version:1.2\nhost:localhost\nheart-beat:0,0\n\n\0';
const SUBSCRIBE = `SUBSCRIBE\nid:0\ndestination:${process.env.DESTINATION}\n\n\0`;

exports.subscribe = (context, _events, done) => {
  context.heard = 0;
  context.ws.on('message', (frame) => {
    if (frame[0] === 'M') context.heard += 1;
    else if (frame[0] === 'C') context.ws.send(SUBSCRIBE);
  });
  context.ws.send(CONNECT);
  done();
};

exports.report = (context, events, done) => {
  events.emit('counter', 'heard', context.heard);
  done();
};
