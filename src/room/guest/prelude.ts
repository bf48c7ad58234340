/**
 * The part of the room that is JavaScript for the engine itself. It takes what it needs of the language before the
 * program runs, so that a program that changes the language changes only what it sees itself.
 *
 * Evaluates to a function of the runner's functions. Gives `open(config)`, for the job as JSON text, `start(program)`,
 * which begins, and `collect()`, which says how it stands: "" not over, "v" + JSON for a value, "u" for none, "e" + JSON
 * of {name, message, stack} for an error. Math.random() is ours, so that an engine can be made before its seed is known:
 * sfc32 of PractRand (Chris Doty-Humphrey, public domain) over four words of the seed.
 */
export const PRELUDE = `(host) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { create, freeze } = Object;
  const text = String, Failure = Error, Later = Promise, { then } = Promise.prototype;
  const { log, read, bytes, write, list, call } = host;
  let input, tools, outcome;
  let a = 0, b = 0, c = 0, counter = 1;
  Math.random = function random() {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + word | 0;
    return (word >>> 0) / 4294967296;
  };
  const { random } = Math;
  const describe = (thrown) => {
    try {
      const error = typeof thrown === 'object' && thrown !== null;
      const name = error ? text(thrown.name) : 'thrown';
      const message = error ? text(thrown.message) : text(thrown);
      const stack = error ? text(thrown.stack) : '';
      return '{"name":' + stringify(name) + ',"message":' + stringify(message) + ',"stack":' + stringify(stack) + '}';
    } catch {
      return '{"name":"thrown","message":"something that cannot be read","stack":""}';
    }
  };
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return text(value);
    try {
      if (value instanceof Failure) return text(value);
      return stringify(value) ?? text(value);
    } catch {
      return '[something that cannot be written]';
    }
  };
  const line = (...values) => {
    let written = '';
    for (let i = 0; i < values.length; i++) written += (i === 0 ? '' : ' ') + shown(values[i]);
    log(written);
  };
  const console = freeze({ log: line, info: line, warn: line, error: line, debug: line });
  const files = freeze({
    read: (name) => read(text(name)),
    bytes: (name) => bytes(text(name)),
    write: (name, content) => void write(text(name), content),
    list: () => parse(list()),
  });
  return {
    open(config) {
      const { seed, tools: names, input: given } = parse(config);
      input = given;
      outcome = '';
      [a, b, c] = seed;
      counter = 1;
      tools = create(null);
      for (let i = 0; i < 12; i++) random();
      for (let i = 0; i < names.length; i++) {
        const name = names[i];
        tools[name] = (args) => new Later((resolve, reject) => {
          const answer = call(name, stringify(args ?? {}) ?? 'null');
          if (answer === undefined) return;
          if (answer[0] === 'e') reject(new Failure(answer.slice(1)));
          else resolve(parse(answer.slice(1)));
        });
      }
      freeze(tools);
    },
    start(program) {
      const running = apply(program, undefined, [input, files, tools, console]);
      apply(then, running, [
        (value) => {
          try {
            const written = stringify(value);
            outcome = written === undefined ? 'u' : 'v' + written;
          } catch (error) {
            outcome = 'e' + describe(error);
          }
        },
        (error) => { outcome = 'e' + describe(error); },
      ]);
    },
    collect: () => outcome,
  };
}`;
