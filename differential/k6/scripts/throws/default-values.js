// Throws of what is no Error
export const options = { iterations: 8 };
export default function () {
  switch (__ITER) {
    case 0: throw 'a text';
    case 1: throw 7;
    case 2: throw { code: 1 };
    case 3: throw null;
    case 4: throw undefined;
    case 5: throw new TypeError('of a type');
    case 6: { class Own extends Error { constructor(text) { super(text); this.name = 'Own'; } } throw new Own('of a class'); }
    default: throw [1, 2];
  }
}
