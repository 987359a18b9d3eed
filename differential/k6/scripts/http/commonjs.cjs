// require() and module.exports
const http = require('k6/http');
const { check } = require('k6');
const { word } = require('../_files/plain.cjs');
module.exports.options = { iterations: 1 };
module.exports.default = function () { check(http.get(`${__ENV.TARGET}/a`), { yes: (r) => r.status === 200 }); console.log(word, typeof http.default, typeof module, typeof exports); };
