// An import by a bare name
import x from 'lodash';
export default function () {}
