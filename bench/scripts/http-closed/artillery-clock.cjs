// Ends the loops of all users SECONDS after the first one began.
let end;

function begin(context, events, done) {
  end ??= Date.now() + 1000 * Number(process.env.SECONDS);
  done();
}

const timeLeft = (context, done) => done(Date.now() < end);

module.exports = { begin, timeLeft };
