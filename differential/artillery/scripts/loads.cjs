// Says that it was loaded.
console.log('SAID loaded');
process.stdout.write('SAID loaded to the end\n');
exports.noted = async (context) => {
  context.vars.noted = 'noted';
};
