// Functions that end in two ways at once.
exports.both = async (context, events, done) => {
  context.vars.made = 'early';
  await new Promise((wait) => setTimeout(wait, 50));
  context.vars.made = 'late';
  done();
};
