export const colors: readonly string[] = ['red', 'green'];
