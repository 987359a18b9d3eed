exports.text = (context, events, done) => done('no luck');
exports.empty = (context, events, done) => done(new Error());
