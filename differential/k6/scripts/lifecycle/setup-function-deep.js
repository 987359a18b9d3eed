// A setup that returns a response with a function beside it
import http from 'k6/http';
export const options = { iterations: 1 };
export function setup() { return { all: [http.get(`${__ENV.TARGET}/text`), () => 1] }; }
export default function (data) { console.log('iteration', typeof data); }
