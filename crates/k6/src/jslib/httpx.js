// What scripts import from jslib.k6.io/httpx: a client that remembers what its requests have in common.
import http from 'k6/http';

export class Request {
  constructor(method, url, body = null, params = {}) {
    Object.assign(this, { method, url, body, params });
  }
}
const of = (method, hasBody) =>
  class extends Request {
    constructor(url, body, params) {
      super(method, url, hasBody ? body : null, hasBody ? params : params ?? body);
    }
  };
export const Get = of('GET', false);
export const Head = of('HEAD', false);
export const Post = of('POST', true);
export const Put = of('PUT', true);
export const Patch = of('PATCH', true);
export const Delete = of('DELETE', true);
export const Options = of('OPTIONS', true);

export class Httpx {
  constructor(options = {}) {
    this.baseURL = options.baseURL ?? '';
    this.params = { headers: { ...options.headers }, tags: { ...options.tags } };
    if (options.timeout !== undefined) this.params.timeout = options.timeout;
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
  #url(url) {
    return typeof url === 'string' ? this.baseURL + url : { ...url, url: this.baseURL + url.url };
  }
  request(method, url, body, params) {
    return http.request(method, this.#url(url), body, this.#params(params));
  }
  asyncRequest(method, url, body, params) {
    return http.asyncRequest(method, this.#url(url), body, this.#params(params));
  }
  get(url, body, params) {
    return this.request('GET', url, body, params);
  }
  head(url, body, params) {
    return this.request('HEAD', url, body, params);
  }
  post(url, body, params) {
    return this.request('POST', url, body, params);
  }
  put(url, body, params) {
    return this.request('PUT', url, body, params);
  }
  patch(url, body, params) {
    return this.request('PATCH', url, body, params);
  }
  delete(url, body, params) {
    return this.request('DELETE', url, body, params);
  }
  options(url, body, params) {
    return this.request('OPTIONS', url, body, params);
  }
  asyncGet(url, body, params) {
    return this.asyncRequest('GET', url, body, params);
  }
  asyncPost(url, body, params) {
    return this.asyncRequest('POST', url, body, params);
  }
  asyncPut(url, body, params) {
    return this.asyncRequest('PUT', url, body, params);
  }
  asyncPatch(url, body, params) {
    return this.asyncRequest('PATCH', url, body, params);
  }
  asyncDelete(url, body, params) {
    return this.asyncRequest('DELETE', url, body, params);
  }
  asyncOptions(url, body, params) {
    return this.asyncRequest('OPTIONS', url, body, params);
  }
  // Requests side by side; `params` are those of all of them.
  batch(requests, params) {
    const common = this.#params(params);
    return http.batch(
      requests.map((one) => {
        const { headers, tags, ...rest } = one.params ?? {};
        const own = { ...common, ...rest, headers: { ...common.headers, ...headers }, tags: { ...common.tags, ...tags } };
        return { method: one.method, url: this.#url(one.url), body: one.body, params: own };
      }),
    );
  }
}
