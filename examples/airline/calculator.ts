/** Arithmetic as the airline's calculator does it: + - * /, brackets, decimals; an answer to the cent. */
import { Refusal } from './records.ts';
import { floatText } from './text.ts';

const EXPRESSION_LENGTH_MAX = 2000;
const DEPTH_MAX = 100;

/** "(6 - 4) + 10 / 4" gives "4.5"; always with a decimal point. Throws Refusal. */
export const calculate = (expression: string): string => {
  if (expression.length > EXPRESSION_LENGTH_MAX)
    throw new Refusal(`the expression is longer than ${EXPRESSION_LENGTH_MAX} characters`);
  const value = new Arithmetic(expression).value();
  return floatText(toCents(value));
};

/** Half a cent goes to the even neighbour, where the binary number is exactly half. */
const toCents = (value: number): number => {
  const rounded = Number(value.toFixed(2));
  const exactlyHalf = (value * 200) % 2 === 1 || (value * 200) % 2 === -1;
  // Only multiples of an eighth can be exactly half a cent in binary, so the products here are exact.
  if (!exactlyHalf || (value * 8) % 1 !== 0) return rounded;
  const below = Math.floor(value * 100);
  return (below % 2 === 0 ? below : below + 1) / 100;
};

/** Recursive descent: sum, product, sign, atom. */
class Arithmetic {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(expression: string) {
    this.#tokens = expression.match(/\d+\.?\d*|\.\d+|[^\s]/g) ?? [];
  }

  value(): number {
    const value = this.#sum();
    if (this.#at < this.#tokens.length) throw this.#unexpected();
    return value;
  }

  #take(...wanted: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      const operator = this.#take('+', '-');
      if (operator === undefined) return value;
      const right = this.#product();
      value = operator === '+' ? value + right : value - right;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      const operator = this.#take('*', '/');
      if (operator === undefined) return value;
      const right = this.#signed();
      if (operator === '/' && right === 0) throw new Refusal('division by zero');
      value = operator === '*' ? value * right : value / right;
    }
  }

  #signed(): number {
    let sign = 1;
    for (;;) {
      const taken = this.#take('+', '-');
      if (taken === undefined) return sign * this.#atom();
      if (taken === '-') sign = -sign;
    }
  }

  #atom(): number {
    if (this.#take('(') !== undefined) {
      if (++this.#depth > DEPTH_MAX) throw new Refusal(`more than ${DEPTH_MAX} brackets inside each other`);
      const value = this.#sum();
      this.#depth--;
      if (this.#take(')') === undefined) throw this.#unexpected();
      return value;
    }
    const token = this.#tokens[this.#at];
    if (token === undefined || !/^[\d.]+$/.test(token) || token === '.') throw this.#unexpected();
    this.#at++;
    return Number(token);
  }

  #unexpected(): Refusal {
    const token = this.#tokens[this.#at];
    return new Refusal(
      token === undefined ? 'the expression ends too early' : `unexpected "${token}" in the expression`,
    );
  }
}
