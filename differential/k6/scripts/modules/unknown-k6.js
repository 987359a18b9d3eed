// An import of a module of k6 that there is not
import x from 'k6/not-there';
export default function () {}
