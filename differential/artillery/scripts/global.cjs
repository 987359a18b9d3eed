exports.speak = (context, events, done) => {
  artillery.log(`SAID ${artillery.util.template('{{ word }}', context)} by log`);
  console.log('SAID %s %d', 'formatted', 5);
  console.error('SAID on the error stream');
  process.stdout.write('SAID without console\n');
  artillery.suggestedExitCode = 17;
  done();
};
