// Functions of the scripts: every signature, every way to end.
const { readFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const helper = require('./files/helper.cjs');

const rose = readFileSync(join(__dirname, 'files/rose.txt'), 'utf8').trim();
const turns = new Map();

module.exports = {
  setUser(context, events, done) {
    context.vars.user = { name: 'ann', rose };
    setImmediate(done);
  },
  setAsync: async (context) => {
    await new Promise((wait) => setTimeout(wait, 5));
    context.vars.late = [1, 2];
    context.vars.helper = helper.double(21);
  },
  replaceVars(context, events, done) {
    context.vars = { only: 'this' };
    done();
  },
  enter(context, events, done) {
    context.vars.entered = 'door';
    done();
  },
  leave(context, events, done) {
    console.log(`SAID leaving by the ${context.vars.entered}`);
    done();
  },
  sign(request, context, events, done) {
    request.headers = { ...request.headers, 'x-signed': `${request.method} ${request.url.replace(/^http:\/\/[^/]+/, '')}` };
    done();
  },
  addJson(request, context, events, done) {
    request.json = { ...request.json, added: '{{ $uuid }}' };
    done();
  },
  signTwice: async (request) => {
    request.headers['x-twice'] = 'yes';
  },
  toElsewhere(request, context, events, done) {
    request.url = `${context.vars.target}/elsewhere`;
    done();
  },
  look(request, response, context, events, done) {
    console.log(`SAID ${request.method} ${response.statusCode} ${response.headers['content-type']}`);
    done();
  },
  keepName(request, response, context, events, done) {
    context.vars.kept = JSON.parse(response.body).name;
    done();
  },
  refuse(request, response, context, events, done) {
    done(new Error('refused by a hook'));
  },
  tell(error, request, context, events, done) {
    console.log(`SAID ${error.code} of ${request.url.replace(/^http:\/\/[^/]+/, '')}`);
    done();
  },
  refuseStep(context, events, done) {
    done(new Error('refused by a step'));
  },
  rejectStep: async () => {
    throw new Error('rejected by a step');
  },
  measure(context, events, done) {
    events.emit('counter', 'own.counter', 2);
    events.emit('histogram', 'own.histogram', 40);
    events.emit('rate', 'own.rate');
    events.emit('customStat', { stat: 'own.stat', value: 5 });
    events.emit('error', 'EOWN');
    done();
  },
  describe(context, events, done) {
    const { vars, scenario, funcs } = context;
    const text = funcs.$randomString(4);
    context.vars.described = {
      word: vars.word,
      scenario: scenario.name,
      random: text.length,
      number: funcs.$randomNumber(3, 3),
      template: funcs.$template('{{ word }}!'),
      uid: context._uid === vars.$uuid,
      target: vars.target,
      environment: vars.$environment ?? 'none',
      script: basename(vars.$scenarioFile),
      folder: typeof vars.$dirname,
      test: typeof vars.$testId,
      env: [vars.$env.PATH, vars.$processEnvironment.PATH].every((path) => path === process.env.PATH),
    };
    done();
  },
  describeFlow(context, events, done) {
    context.vars.steps = context.scenario.flow?.length ?? 'unknown';
    done();
  },
  isBig: (vars) => vars.number > 10,
  isSmall: (vars) => vars.number < 10,
  twice(context, next) {
    const turn = (turns.get(context.vars.$uuid) ?? 0) + 1;
    turns.set(context.vars.$uuid, turn);
    next(turn < 2);
  },
  choose(params, context, done) {
    params.target = `${params.target}/chosen?by=function`;
    params.options.headers = { ...params.options.headers, 'x-chosen': 'yes' };
    params.subprotocols = ['chosen.v1'];
    done();
  },
  begin(context, events, done) {
    context.vars.began = Date.now();
    done();
  },
  since(context, events, done) {
    const ms = Date.now() - context.vars.began;
    console.log(`SAID it took ${ms < 300 ? 'hardly any time' : ms < 1500 ? 'about a second' : 'seconds'}`);
    done();
  },
};
