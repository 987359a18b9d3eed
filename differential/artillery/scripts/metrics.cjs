// Metrics whose names an expression would take apart.
module.exports = {
  measure(context, events, done) {
    events.emit('counter', 'my-counter', 1);
    events.emit('counter', 'a/b', 1);
    events.emit('counter', 'http://h:80/x', 1);
    events.emit('histogram', 'login-time', 5);
    events.emit('histogram', 'login time', 5);
    done();
  },
};
