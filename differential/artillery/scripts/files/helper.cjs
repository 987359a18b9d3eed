exports.double = (n) => 2 * n;
