exports.word = 'of a CommonJS file';
