const babelHelpers = {
  // Legacy decorators, the last one first: of a class (two arguments), or of a member, whose fourth argument is null for
  // a method and missing for a field.
  decorate(decorators, target, key, field) {
    const isClass = arguments.length < 3;
    const isMethod = field === null;
    let made = isClass ? target : isMethod ? Object.getOwnPropertyDescriptor(target, key) : field;
    for (const decorator of [...decorators].reverse()) {
      made = (isClass ? decorator(made) : decorator(target, key, made)) || made;
    }
    if (!isClass && made) Object.defineProperty(target, key, made);
    return made;
  },
  decorateParam(index, decorator) {
    return (target, key) => decorator(target, key, index);
  },
  decorateMetadata(key, value) {
    return typeof Reflect === 'object' && typeof Reflect.metadata === 'function' ? Reflect.metadata(key, value) : () => {};
  },
  // `using` and `await using`: what was taken is given back in reverse, and the errors of that do not hide one another.
  usingCtx() {
    const none = {};
    const held = [];
    const take = (isAsync) => (value) => {
      if (value === null || value === undefined) {
        if (isAsync) held.push({ isAsync });
        return value;
      }
      const later = isAsync ? value[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')] : undefined;
      const giveBack = later ?? value[Symbol.dispose ?? Symbol.for('Symbol.dispose')];
      if (typeof giveBack !== 'function') throw new TypeError('a value that is used has no dispose method');
      held.push({ isAsync, giveBack: () => giveBack.call(value) });
      return value;
    };
    const context = { e: none, u: take(false), a: take(true) };
    const failed = (error) => {
      const before = context.e;
      const both = new Error('an error was suppressed during disposal', { cause: error });
      context.e = before === none ? error : Object.assign(both, { name: 'SuppressedError', error, suppressed: before });
    };
    const end = () => {
      if (context.e !== none) throw context.e;
    };
    const rest = async () => {
      while (held.length > 0) {
        const { isAsync, giveBack } = held.pop();
        try {
          const given = giveBack?.();
          if (isAsync) await given;
        } catch (error) {
          failed(error);
        }
      }
      end();
    };
    context.d = () => {
      if (held.some((one) => one.isAsync)) return rest();
      while (held.length > 0) {
        try {
          held.pop().giveBack();
        } catch (error) {
          failed(error);
        }
      }
      return end();
    };
    return context;
  },
};
