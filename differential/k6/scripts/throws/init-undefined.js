// A name that nothing defines, in init code
nothing.of.this();
export default function () {}
