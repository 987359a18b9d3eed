// k6 with the extension that reads event streams, which k6 alone cannot. A program of its own, so that the other cases run k6 as it is.
import { built } from './k6.mjs';

export const { name, version, install, script } = built('k6-sse', ['github.com/phymbert/xk6-sse']);
