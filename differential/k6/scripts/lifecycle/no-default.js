// A script without a default function
export const options = { iterations: 1 };
export function other() {}
