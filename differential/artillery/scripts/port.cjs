// Sets what of the target's address a script may spell out.
exports.setPort = (context, events, done) => {
  context.vars.port = new URL(context.vars.target).port;
  done();
};
