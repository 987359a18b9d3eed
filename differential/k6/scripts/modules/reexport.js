// Options and functions exported from another file
export { options, helper as default } from '../_files/lib/exported.js';
