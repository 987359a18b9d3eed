// Pages as jQuery's users know them: Selection and Element. A page's tree is `page`'s, which answers by numbers of nodes:
// page(what, node, text). Number 0 is the document.
(function (native) {
  const ELEMENT = 1;
  const INPUTS = ['input', 'select', 'textarea', 'keygen'];
  const UNSENT = ['submit', 'button', 'reset', 'image', 'file'];

  const unique = (nodes) => {
    const seen = Object.create(null);
    return nodes.filter((node) => !seen[node] && (seen[node] = true));
  };
  const wrong = (what) => native.fail(what);

  // A tree and its address; what Selections and Elements share.
  class Page {
    constructor(ask, url) {
      this.ask = ask;
      this.url = url;
    }
    isElement = (node) => this.ask('type', node) === ELEMENT;
    elements = (node) => this.ask('children', node).filter(this.isElement);
    parent(node) {
      const parent = this.ask('parent', node);
      return parent !== undefined && this.isElement(parent) ? parent : undefined;
    }
    ancestors(node) {
      const all = [];
      for (let at = this.parent(node); at !== undefined; at = this.parent(at)) all.push(at);
      return all;
    }
    // Siblings after (step 1) or before (step -1), the nearest first.
    beside(node, step) {
      const parent = this.ask('parent', node);
      if (parent === undefined) return [];
      const all = this.elements(parent);
      const at = all.indexOf(node);
      return step > 0 ? all.slice(at + 1) : all.slice(0, at).reverse();
    }
    matches = (node, selector) => this.ask('matches', node, selector);
    attribute = (node, name) => this.ask('attribute', node, name);
    value(node) {
      const own = this.attribute(node, 'value');
      return own === undefined ? this.ask('html', node) : own;
    }
  }

  const DATA = { true: true, false: false, null: undefined, undefined };
  const converted = (text) => {
    if (text === '' || Object.hasOwn(DATA, text)) return DATA[text];
    if (text[0] === '{' || text[0] === '[') {
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    }
    return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  // Words that k6 writes in capitals, as Go does.
  const CAPITALS = 'API ASCII CPU CSS DNS EOF GUID HTML HTTP HTTPS ID IP JSON LHS QPS RAM RHS RPC SLA SMTP SSH TLS TTL UID UI UUID URI URL UTF8 VM XML XSRF XSS'.split(' ');
  const capital = (part) => (CAPITALS.includes(part.toUpperCase()) ? part.toUpperCase() : part.slice(0, 1).toUpperCase() + part.slice(1));
  const camel = (name) => name.split('-').map((part, at) => (at === 0 ? part : capital(part))).join('');
  const dashed = (name) => {
    const words = new Array();
    let from = 0;
    for (let at = 1; at < name.length; at += 1) {
      if (name[at] < 'A' || name[at] > 'Z') continue;
      const whole = CAPITALS.filter((word) => name.startsWith(word, from)).sort((one, other) => other.length - one.length)[0];
      words.push(whole ?? name.slice(from, at));
      if (whole) at = from + whole.length;
      from = at;
    }
    words.push(name.slice(from));
    return words.filter(Boolean).join('-').toLowerCase();
  };

  class Selection {
    #page;
    #nodes;
    #before;
    constructor(page, nodes, before) {
      this.#page = page;
      this.#nodes = nodes;
      this.#before = before;
      this.url = page.url;
    }
    static nodes = (selection) => selection.#nodes;
    #with(nodes) {
      return new Selection(this.#page, nodes, this);
    }
    #map(of) {
      return this.#with(unique(this.#nodes.flatMap(of)));
    }
    // The nodes a selector, a Selection or an Element stands for, in the whole page.
    #meant(what) {
      if (what instanceof Selection) return what.#nodes;
      if (what instanceof Element) return [Element.node(what)];
      if (typeof what === 'string') return this.#page.ask('select', 0, what);
      return wrong(`invalid argument, cannot use a '${what === undefined || what === null ? '<nil>' : typeof what}' as a selector`);
    }
    // A function of a node and its place that says whether it is one of those.
    #test(what, name) {
      if (typeof what === 'string') return (node) => this.#page.matches(node, what);
      if (typeof what === 'function') return (node, at) => what.call(what, at, this.#with([node]));
      if (what instanceof Selection || what instanceof Element) return (node) => this.#meant(what).includes(node);
      return wrong(`the argument to ${name}() must be a function, a selector or a selection`);
    }
    #filtered(nodes, selector) {
      return selector === undefined ? nodes : nodes.filter((node) => this.#page.matches(node, selector));
    }
    #until(of, end, selector) {
      const stops = end === undefined || end === null ? () => false : this.#test(end, 'until');
      return this.#map((node) => {
        const all = of(node);
        const at = all.findIndex(stops);
        return this.#filtered(at < 0 ? all : all.slice(0, at), selector);
      });
    }

    size() {
      return this.#nodes.length;
    }
    find(what) {
      if (typeof what === 'string') return this.#map((node) => this.#page.ask('select', node, what));
      const meant = this.#meant(what);
      return this.#with(meant.filter((node) => this.#page.ancestors(node).some((one) => this.#nodes.includes(one)) || this.#nodes.includes(0)));
    }
    // The first one found.
    single(what) {
      return what === undefined ? this.#with([]) : this.#with(Selection.nodes(this.find(what)).slice(0, 1));
    }
    add(what) {
      return this.#with(unique([...this.#nodes, ...this.#meant(what)]));
    }
    closest(what) {
      const test = this.#test(what, 'closest');
      return this.#map((node) => [node, ...this.#page.ancestors(node)].filter(this.#page.isElement).filter(test).slice(0, 1));
    }
    has(what) {
      const meant = typeof what === 'string' ? undefined : this.#meant(what);
      const within = (node) => (meant ?? this.#page.ask('select', node, what)).some((one) => this.#page.ancestors(one).includes(node));
      return this.#with(this.#nodes.filter(within));
    }
    filter(what) {
      return this.#with(this.#nodes.filter(this.#test(what, 'filter')));
    }
    not(what) {
      const test = this.#test(what, 'not');
      return this.#with(this.#nodes.filter((node, at) => !test(node, at)));
    }
    is(what) {
      return this.#nodes.some(this.#test(what, 'is'));
    }
    next(selector) {
      return this.#map((node) => this.#filtered(this.#page.beside(node, 1).slice(0, 1), selector));
    }
    nextAll(selector) {
      return this.#map((node) => this.#filtered(this.#page.beside(node, 1), selector));
    }
    nextUntil(end, selector) {
      return this.#until((node) => this.#page.beside(node, 1), end, selector);
    }
    prev(selector) {
      return this.#map((node) => this.#filtered(this.#page.beside(node, -1).slice(0, 1), selector));
    }
    prevAll(selector) {
      return this.#map((node) => this.#filtered(this.#page.beside(node, -1), selector));
    }
    prevUntil(end, selector) {
      return this.#until((node) => this.#page.beside(node, -1), end, selector);
    }
    parent(selector) {
      return this.#map((node) => this.#filtered(this.#page.ancestors(node).slice(0, 1), selector));
    }
    parents(selector) {
      return this.#map((node) => this.#filtered(this.#page.ancestors(node), selector));
    }
    parentsUntil(end, selector) {
      return this.#until((node) => this.#page.ancestors(node), end, selector);
    }
    siblings(selector) {
      const both = (node) => [...this.#page.beside(node, -1).reverse(), ...this.#page.beside(node, 1)];
      return this.#map((node) => this.#filtered(both(node), selector));
    }
    children(selector) {
      return this.#map((node) => this.#filtered(this.#page.elements(node), selector));
    }
    contents() {
      return this.#map((node) => this.#page.ask('children', node));
    }
    end() {
      return this.#before ?? this.#with([]);
    }
    eq(at) {
      return this.#with(this.#nodes.slice(at, at === -1 ? undefined : at + 1));
    }
    first() {
      return this.eq(0);
    }
    last() {
      return this.eq(-1);
    }
    slice(from, to) {
      return this.#with(this.#nodes.slice(from, to));
    }
    get(at) {
      if (at === undefined) return this.#nodes.map((node) => new Element(this.#page, node));
      const node = this.#nodes.at(at);
      return node === undefined ? undefined : new Element(this.#page, node);
    }
    toArray() {
      return this.#nodes.map((node) => this.#with([node]));
    }
    each(visit) {
      if (typeof visit !== 'function') return wrong('the argument to each() must be a function');
      this.#nodes.forEach((node, at) => visit.call(visit, at, new Element(this.#page, node)));
      return this;
    }
    // A part that throws is left out.
    map(make) {
      if (typeof make !== 'function') return wrong('the argument to map() must be a function');
      return this.#nodes.flatMap((node, at) => {
        try {
          return [make.call(make, at, this.#with([node]))];
        } catch {
          return [];
        }
      });
    }
    index(what) {
      const first = this.#nodes[0];
      if (what === undefined) return first === undefined ? -1 : this.#page.beside(first, -1).length;
      if (typeof what === 'string') return this.#meant(what).indexOf(first);
      return this.#nodes.indexOf(this.#meant(what)[0]);
    }
    text() {
      return this.#nodes.map((node) => this.#page.ask('text', node)).join('');
    }
    html() {
      return this.#nodes.length === 0 ? '' : this.#page.ask('html', this.#nodes[0]);
    }
    attr(name, otherwise) {
      const value = this.#nodes.length === 0 ? undefined : this.#page.attribute(this.#nodes[0], name);
      return value === undefined ? otherwise : value;
    }
    data(name) {
      const attributes = this.#nodes.length === 0 ? [] : this.#page.ask('attributes', this.#nodes[0]);
      if (attributes.length === 0) return undefined;
      if (name !== undefined) {
        const value = this.attr(`data-${dashed(String(name))}`);
        return value === undefined ? undefined : converted(value);
      }
      const own = attributes.filter(([key]) => key.startsWith('data-') && key.length > 5);
      return Object.fromEntries(own.map(([key, value]) => [camel(key.slice(5)), converted(value)]));
    }
    val() {
      const node = this.#nodes[0];
      switch (node === undefined ? '' : this.#page.ask('name', node)) {
        case 'input':
          return this.attr('value', ['radio', 'checkbox'].includes(this.attr('type')) ? 'on' : '');
        case 'button':
          return this.attr('value', '');
        case 'textarea':
          return this.html();
        case 'option':
          return this.#page.value(node);
        case 'select': {
          const chosen = this.#page.ask('select', node, 'option[selected]').map((one) => this.#page.value(one));
          return this.attr('multiple') === undefined ? (chosen[0] ?? '') : chosen;
        }
        default:
          return undefined;
      }
    }
    serializeArray() {
      const inputs = INPUTS.join(',');
      const fields = this.is('form') ? this.find(inputs) : this.filter(inputs);
      const isSent = (field) => {
        const type = field.attr('type', '');
        const isOn = field.attr('checked') === 'checked' || !['checkbox', 'radio'].includes(type);
        return field.attr('name', '') !== '' && field.attr('disabled') !== 'disabled' && !UNSENT.includes(type) && isOn;
      };
      return fields.toArray().filter(isSent).map((field) => ({ name: field.attr('name'), value: field.val() }));
    }
    serializeObject() {
      return Object.fromEntries(this.serializeArray().map(({ name, value }) => [name, value]));
    }
    serialize() {
      return native.encoded(this.serializeObject());
    }
  }

  const Element = native.element(native, Page, Selection, unique);
  const select = (ask, url, selector) => {
    const whole = new Selection(new Page(ask, url), [0]);
    return selector === undefined ? whole : whole.find(String(selector));
  };

  const found = (response, selector, what) => {
    const page = response.html(selector);
    if (page.size() === 0) wrong(`no ${what} found for selector '${selector}' in response '${response.url}'`);
    return page;
  };
  const submitForm = (response, options) => {
    const { formSelector = 'form', submitSelector = '[type="submit"]', fields, params } = options ?? {};
    const form = found(response, formSelector, 'form');
    const method = form.attr('method', 'GET').toUpperCase();
    const action = form.attr('action');
    const url = action === undefined ? response.url : native.resolved(response.url, action);
    const values = form.serializeObject();
    const submit = form.find(submitSelector);
    const [name, value] = [submit.attr('name'), submit.val()];
    if (name !== undefined && value !== undefined) values[name] = value;
    Object.assign(values, fields);
    if (method !== 'GET') return native.request(method, url, values, params);
    const texts = Object.fromEntries(Object.entries(values).map(([key, one]) => [key, String(one)]));
    const [bare] = url.split('#')[0].split('?');
    const query = native.encoded(texts);
    return native.request('GET', query === '' ? bare : `${bare}?${query}`, null, params);
  };
  const clickLink = (response, options) => {
    const { selector = 'a[href]', params } = options ?? {};
    const href = found(response, selector, 'element').attr('href');
    if (href === undefined) wrong(`no valid href attribute value found on element '${selector}' in response '${response.url}'`);
    return native.request('GET', native.resolved(response.url, href), null, params);
  };
  return { select, submitForm, clickLink };
})
