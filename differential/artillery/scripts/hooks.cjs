// Functions that look at requests and responses, and at what other functions have left.
const path = (url) => url.replace(/^https?:\/\/[^/]+/, '');

module.exports = {
  showRequest(request, response, context, events, done) {
    const { method, url, json, body, form, headers, auth, username } = request;
    const shown = [method, path(url), JSON.stringify(json), body, form && `${form.word} ${form.id}`, headers['x-word'], auth && 'auth', username];
    console.log(`SAID ${shown.map((one) => one ?? '-').join(' | ')}`);
    done();
  },
  showFailed(error, request, context, events, done) {
    console.log(`SAID ${error.code} of ${path(request.url)} with ${request.headers['x-word']}`);
    done();
  },
  showResponse(request, response, context, events, done) {
    const { phases, start, end } = response.timings;
    const known = ['wait', 'dns', 'tcp', 'request', 'firstByte', 'download', 'total'].filter((phase) => phases[phase] >= 0);
    const slow = phases.firstByte >= 150 && phases.firstByte < 1000 && phases.total >= phases.firstByte && end - start >= 150;
    console.log(`SAID ${response.statusCode} ${response.statusMessage} of ${path(response.url)}: ${known.join(' ')}${slow ? ', slow' : ''}`);
    done();
  },
  refuseResponse(request, response, context, events, done) {
    done(new Error('refused'));
  },
  dropWord(context, events, done) {
    delete context.vars.word;
    done();
  },
  setPeople(context, events, done) {
    context.vars.people = [{ id: 'a' }, { id: 'b' }];
    done();
  },
  changeElement(context, events, done) {
    context.vars.$loopElement = { id: `changed-${context.vars.$loopElement.id}` };
    done();
  },
  changeElementInPlace(context, events, done) {
    context.vars.$loopElement.id += '!';
    done();
  },
  dropAuth(request, context, events, done) {
    delete request.auth;
    done();
  },
  dropCookie(request, context, events, done) {
    delete request.cookie;
    done();
  },
  changeCookie(request, context, events, done) {
    request.cookie = { own: 'changed', more: '{{ word }}' };
    done();
  },
  changeForm(request, context, events, done) {
    request.formData = { ...request.formData, user: 'not {{ word }}' };
    done();
  },
  sendBytes(request, context, events, done) {
    request.body = Buffer.from('bytes of a function');
    done();
  },
  rename(request, context, events, done) {
    request.name = 'renamed';
    done();
  },
  throwing() {
    throw new Error('a condition that cannot be worked out');
  },
  never: async () => false,
};
