// jslib.k6.io/httpx: a client that remembers what its requests have in common.
import http from 'k6/http';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];
// A result of `http.url`.
const isNamed = (url) => typeof url === 'object' && url !== null && 'name' in url && 'url' in url;

export class Request {
  // The body is a member of `params`.
  constructor(method, url, params) {
    const { body = null, ...rest } = params ?? {};
    Object.assign(this, { method, url: isNamed(url) ? url.url : url, body, params: rest });
    if (isNamed(url)) this.addTag('name', url.name);
  }
  addHeader(name, value) {
    this.params.headers = { ...this.params.headers, [name]: value };
    return this;
  }
  addTag(name, value) {
    this.params.tags = { ...this.params.tags, [name]: value };
    return this;
  }
}
// A body may also stand before the params.
const of = (method) =>
  class extends Request {
    constructor(url, given, params) {
      const hasBody = params !== undefined || (given !== undefined && typeof given !== 'object');
      super(method, url, hasBody ? { ...params, body: given } : given);
    }
  };
export const Get = of('GET');
export const Head = of('HEAD');
export const Post = of('POST');
export const Put = of('PUT');
export const Patch = of('PATCH');
export const Delete = of('DELETE');
export const Options = of('OPTIONS');
export const Connect = of('CONNECT');
export const Trace = of('TRACE');

export class Httpx {
  constructor({ baseURL = '', headers, tags, errorMetric = null, errorMetricCondition, ...params } = {}) {
    this.baseURL = baseURL;
    this.params = { ...params, headers: { ...headers }, tags: { ...tags } };
    this.errorMetric = errorMetric;
    this.errorMetricCondition = errorMetricCondition ?? (({ status }) => status >= 200 && status <= 399);
    this.lastRequest = { responseObject: null, responseChainDuration: null };
  }
  get lastRequestChainDuration() {
    return this.lastRequest.responseChainDuration;
  }
  setBaseUrl(url) {
    this.baseURL = url;
  }
  addHeader(name, value) {
    this.params.headers[name] = value;
  }
  addHeaders(headers) {
    Object.assign(this.params.headers, headers);
  }
  clearHeader(name) {
    delete this.params.headers[name];
  }
  addTag(name, value) {
    this.params.tags[name] = value;
  }
  addTags(tags) {
    Object.assign(this.params.tags, tags);
  }
  clearTag(name) {
    delete this.params.tags[name];
  }
  setTimeout(timeout) {
    this.params.timeout = timeout;
  }
  #params(own) {
    const { headers, tags } = this.params;
    return { ...this.params, ...own, headers: { ...headers, ...own?.headers }, tags: { ...tags, ...own?.tags } };
  }
  // The arguments of a request as k6/http takes them.
  #asked(method, url, body, params) {
    if (!METHODS.includes(method)) throw new Error(`Invalid method: ${method}. Expected one of ${METHODS}`);
    const all = this.#params(params);
    if (isNamed(url)) all.tags.name = url.name;
    const address = isNamed(url) ? url.url : String(url);
    return [method, address.startsWith('http') ? address : this.baseURL + address, body, all];
  }
  #answered(response, begun, params) {
    this.lastRequest = { responseObject: response, responseChainDuration: Date.now() - begun };
    if (this.errorMetric && params) this.errorMetric.add(!(params.expect ?? this.errorMetricCondition)(response));
    return response;
  }
  request(method, url, body, params) {
    const asked = this.#asked(method, url, body, params);
    const begun = Date.now();
    return this.#answered(http.request(...asked), begun, asked[3]);
  }
  asyncRequest(method, url, body, params) {
    return http.asyncRequest(...this.#asked(method, url, body, params));
  }
  execute({ method, url, body, params }) {
    return this.request(method, url, body, params);
  }
  // Requests side by side, as `Request`s or as lists of their arguments; `params` are those of all of them.
  batch(requests, params) {
    const asked = requests.map((one) => {
      const [method, url, body, own] = Array.isArray(one) ? one : [one.method, one.url, one.body, one.params];
      const { headers, tags, ...rest } = own ?? {};
      return this.#asked(method, url, body ?? null, { ...params, ...rest, headers: { ...params?.headers, ...headers }, tags: { ...params?.tags, ...tags } });
    });
    const begun = Date.now();
    return this.#answered(http.batch(asked), begun);
  }
}

for (const method of METHODS) {
  const name = method[0] + method.slice(1).toLowerCase();
  Object.defineProperties(Httpx.prototype, {
    [name.toLowerCase()]: { value(url, body, params) { return this.request(method, url, body, params); }, writable: true, configurable: true },
    [`async${name}`]: { value(url, body, params) { return this.asyncRequest(method, url, body, params); }, writable: true, configurable: true },
  });
}
