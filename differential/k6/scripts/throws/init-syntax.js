// A script that cannot be parsed
export default function () { let = ; }
