// A name of a module: as the module itself gives it, else as a property of its default, which is all of a CommonJS module.
const __sonagi_pick = (whole, name) => (name in whole ? whole[name] : whole.default?.[name]);
