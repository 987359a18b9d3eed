// A node of a page, with the DOM's names as functions.
(function (native, Page, Selection, unique) {
  const TYPES = { 1: 'element', 3: '#text', 8: '#comment', 9: '#document', 10: '#doctype' };

  // Attributes the DOM tells by another name, and those that are there or not.
  const TEXTS = {
    accessKey: 'accesskey', accept: 'accept', acceptCharset: 'accept-charset', action: 'action', align: 'align', alt: 'alt',
    autocomplete: 'autocomplete', charset: 'charset', cite: 'cite', content: 'content', coords: 'coords', crossOrigin: 'crossorigin',
    data: 'data', dateTime: 'datetime', dir: 'dir', dirName: 'dirname', download: 'download', enctype: 'enctype', formAction: 'formaction',
    formEnctype: 'formenctype', formMethod: 'formmethod', formTarget: 'formtarget', headers: 'headers', href: 'href', hreflang: 'hreflang',
    htmlFor: 'for', httpEquiv: 'http-equiv', inputMode: 'inputmode', isMap: 'ismap', kind: 'kind', label: 'label', list: 'list', max: 'max',
    media: 'media', method: 'method', min: 'min', name: 'name', pattern: 'pattern', placeholder: 'placeholder', poster: 'poster',
    preload: 'preload', rel: 'rel', referrerPolicy: 'referrerpolicy', scope: 'scope', shape: 'shape', sizes: 'sizes', src: 'src',
    srcdoc: 'srcdoc', srclang: 'srclang', srcset: 'srcset', step: 'step', target: 'target', title: 'title', useMap: 'usemap', wrap: 'wrap',
  };
  const FLAGS = {
    async: 'async', autofocus: 'autofocus', autoplay: 'autoplay', checked: 'checked', contentEditable: 'contenteditable', controls: 'controls',
    default: 'default', defaultChecked: 'checked', defaultMuted: 'muted', defaultSelected: 'selected', defer: 'defer', disabled: 'disabled',
    formNoValidate: 'formnovalidate', hidden: 'hidden', loop: 'loop', multiple: 'multiple', muted: 'muted', noModule: 'nomodule',
    noValidate: 'novalidate', open: 'open', readOnly: 'readonly', required: 'required', reversed: 'reversed', selected: 'selected',
  };
  const NUMBERS = {
    colSpan: 1, cols: 20, height: 0, high: 0, low: 0, maxLength: -1, minLength: -1, optimum: 0, rowSpan: 1, rows: 2, size: 0, span: 1,
    start: 1, tabIndex: 0, width: 0,
  };
  const ADDRESSES = ['href', 'src', 'action', 'formAction', 'cite', 'data', 'poster'];

  const cut = (text, mark) => {
    const at = text.indexOf(mark);
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
  };
  // An address by its parts, as a link has them.
  const parts = (url) => {
    const [bare, hash] = cut(url, '#');
    const [path, search] = cut(bare, '?');
    const at = path.indexOf('://');
    if (at < 0) return { protocol: ':', username: '', password: '', host: '', pathname: path, search, hash };
    const [authority, pathname] = cut(path.slice(at + 3), '/');
    const who = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : '';
    const [username, password] = cut(who, ':');
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    return { protocol: path.slice(0, at).toLowerCase(), username, password: password.slice(1), host, pathname, search, hash };
  };

  class Element {
    #page;
    #node;
    constructor(page, node) {
      this.#page = page;
      this.#node = node;
    }
    static node = (element) => element.#node;
    static of = (page, node) => (node === undefined ? undefined : new Element(page, node));
    static all = (page, nodes) => nodes.map((node) => new Element(page, node));
    #of = (node) => Element.of(this.#page, node);
    #all = (nodes) => Element.all(this.#page, nodes);
    #attribute = (name) => this.#page.attribute(this.#node, name);
    #children = () => this.#page.ask('children', this.#node);
    #beside(step) {
      const parent = this.#page.ask('parent', this.#node);
      if (parent === undefined) return undefined;
      const all = this.#page.ask('children', parent);
      return all[all.indexOf(this.#node) + step];
    }
    // An attribute that is an address, seen from the page's.
    static address(element, name) {
      const value = element.#attribute(TEXTS[name]) ?? '';
      return element.#page.url === '' || value === '' ? value : native.resolved(element.#page.url, value);
    }

    selection() {
      return new Selection(this.#page, [this.#node]);
    }
    nodeName() {
      return this.#page.ask('name', this.#node) ?? TYPES[this.nodeType()];
    }
    nodeType() {
      return this.#page.ask('type', this.#node);
    }
    nodeValue() {
      return [3, 8].includes(this.nodeType()) ? this.#page.ask('text', this.#node) : undefined;
    }
    id() {
      return this.#attribute('id') ?? '';
    }
    className() {
      return this.#attribute('class');
    }
    classList() {
      return (this.#attribute('class') ?? '').split(' ').filter(Boolean);
    }
    lang() {
      return this.#attribute('lang');
    }
    type() {
      return this.#attribute('type') ?? (this.nodeName() === 'input' ? 'text' : this.nodeName() === 'button' ? 'submit' : '');
    }
    value() {
      return this.nodeName() === 'li' ? Number(this.#attribute('value') ?? 0) : this.selection().val() ?? this.#attribute('value') ?? '';
    }
    defaultValue() {
      return this.#attribute('value') ?? '';
    }
    text() {
      return this.textContent();
    }
    getAttribute(name) {
      return this.#attribute(name);
    }
    getAttributeNode(name) {
      return this.attributes()[name];
    }
    hasAttribute(name) {
      return this.#attribute(name) !== undefined;
    }
    hasAttributes() {
      return this.#page.ask('attributes', this.#node).length > 0;
    }
    attributes() {
      const node = ([name, value]) => [name, { name, value, ownerElement: this, prefix: () => '', localName: () => name, namespaceURI: () => this.namespaceURI() }];
      return Object.fromEntries(this.#page.ask('attributes', this.#node).map(node));
    }
    toString() {
      return this.nodeType() === 1 ? '[object html.Node]' : `[object ${this.nodeName()}]`;
    }
    textContent() {
      return this.#page.ask('text', this.#node);
    }
    innerHTML() {
      return this.#page.ask('html', this.#node);
    }
    hasChildNodes() {
      return this.#children().length > 0;
    }
    childNodes() {
      return this.#all(this.#children());
    }
    children() {
      return this.#all(this.#page.elements(this.#node));
    }
    childElementCount() {
      return this.#page.elements(this.#node).length;
    }
    firstChild() {
      return this.#of(this.#children()[0]);
    }
    lastChild() {
      return this.#of(this.#children().at(-1));
    }
    firstElementChild() {
      return this.#of(this.#page.elements(this.#node)[0]);
    }
    lastElementChild() {
      return this.#of(this.#page.elements(this.#node).at(-1));
    }
    nextSibling() {
      return this.#of(this.#beside(1));
    }
    previousSibling() {
      return this.#of(this.#beside(-1));
    }
    nextElementSibling() {
      return this.#of(this.#page.beside(this.#node, 1)[0]);
    }
    previousElementSibling() {
      return this.#of(this.#page.beside(this.#node, -1)[0]);
    }
    parentNode() {
      return this.#of(this.#page.ask('parent', this.#node));
    }
    parentElement() {
      return this.#of(this.#page.parent(this.#node));
    }
    ownerDocument() {
      return this.#of(0);
    }
    ownerForm() {
      return this.#of(Selection.nodes(this.selection().closest('form'))[0]);
    }
    form() {
      return this.ownerForm();
    }
    labels() {
      const id = this.id();
      const own = Selection.nodes(this.selection().closest('label'));
      const others = id === '' ? [] : this.#page.ask('select', 0, `label[for="${id}"]`);
      return this.#all(unique([...own, ...others]));
    }
    namespaceURI() {
      return 'http://www.w3.org/1999/xhtml';
    }
    isDefaultNamespace() {
      return true;
    }
    contains(other) {
      return other instanceof Element && this.#page.ancestors(other.#node).includes(this.#node);
    }
    isSameNode(other) {
      return other instanceof Element && other.#node === this.#node && other.#page === this.#page;
    }
    isEqualNode(other) {
      return other instanceof Element && other.innerHTML() === this.innerHTML();
    }
    matches(selector) {
      return this.#page.matches(this.#node, selector);
    }
    querySelector(selector) {
      return this.querySelectorAll(selector)[0];
    }
    querySelectorAll(selector) {
      return this.#all(this.#page.ask('select', this.#node, selector));
    }
    getElementsByClassName(name) {
      return this.querySelectorAll(`.${name}`);
    }
    getElementsByTagName(name) {
      return this.querySelectorAll(name);
    }
    options() {
      return this.querySelectorAll('option');
    }
    selectedOptions() {
      return this.querySelectorAll('option[selected]');
    }
    selectedIndex() {
      return this.options().findIndex((option) => option.selected());
    }
    index() {
      return this.selection().index();
    }
    elements() {
      return this.querySelectorAll('input,select,button,textarea,fieldset');
    }
    length() {
      return this.nodeName() === 'select' ? this.options().length : this.elements().length;
    }
    rows() {
      return this.nodeName() === 'textarea' ? Number(this.#attribute('rows') ?? 2) : this.querySelectorAll('tr');
    }
    cells() {
      return this.querySelectorAll('th,td');
    }
    tBodies() {
      return this.querySelectorAll('tbody');
    }
    // The table's own: of another one in its cells nothing is asked.
    #part(name) {
      return this.children().find((child) => child.nodeName() === name);
    }
    caption() {
      return this.#part('caption');
    }
    tHead() {
      return this.#part('thead');
    }
    tFoot() {
      return this.#part('tfoot');
    }
    #place(around, selector) {
      return Selection.nodes(this.selection().closest(around).find(selector)).indexOf(this.#node);
    }
    cellIndex() {
      return this.#place('tr', 'th,td');
    }
    rowIndex() {
      return this.#place('table', 'tr');
    }
    sectionRowIndex() {
      return this.#place('thead,tbody,tfoot', 'tr');
    }
  }

  const method = (name, of) => {
    if (!Object.hasOwn(Element.prototype, name)) {
      Object.defineProperty(Element.prototype, name, { value: of, writable: true, configurable: true });
    }
  };
  for (const name of ADDRESSES) method(name, function () { return Element.address(this, name); });
  for (const name of Object.keys(TEXTS)) method(name, function () { return this.getAttribute(TEXTS[name]) ?? ''; });
  for (const name of Object.keys(FLAGS)) method(name, function () { return this.hasAttribute(FLAGS[name]); });
  for (const name of Object.keys(NUMBERS)) {
    method(name, function () {
      const value = Number.parseInt(this.getAttribute(name.toLowerCase()), 10);
      return Number.isNaN(value) ? NUMBERS[name] : value;
    });
  }
  const link = (name, of) => method(name, function () { return of(parts(this.href())); });
  const USUAL = { http: ':80', https: ':443' };
  const withoutUsual = ({ protocol, host }) => (USUAL[protocol] && host.endsWith(USUAL[protocol]) ? host.slice(0, -USUAL[protocol].length) : host);
  link('host', withoutUsual);
  for (const name of ['hash', 'password', 'pathname', 'protocol', 'search', 'username']) link(name, (url) => url[name]);
  link('hostname', ({ host }) => (host.includes(':') && !host.endsWith(']') ? host.slice(0, host.lastIndexOf(':')) : host));
  link('port', ({ host }) => (host.includes(':') && !host.endsWith(']') ? host.slice(host.lastIndexOf(':') + 1) : ''));
  link('origin', ({ protocol, host }) => (host === '' ? '' : `${protocol}://${host}`));
  method('relList', function () { return this.rel().split(' ').filter(Boolean); });
  return Element;
})
