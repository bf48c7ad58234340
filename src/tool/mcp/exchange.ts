/**
 * What was sent to a tool server and the exact text that came back, request by request. The SDK hands on what JSON.parse
 * made of an answer; the digits of a number, and whether a request was sent at all, are known only here.
 */

/** Of one message, both ways. */
export const MESSAGE_BYTES_MAX: number = 16 * 1024 * 1024;

type RequestId = string | number;

export type Exchange = {
  /** Whether the request was handed to the transport: only before that is it certain that nothing happened. */
  sent: boolean;
  /** The text of the whole answer, secrets masked. */
  reply: string | undefined;
  /** Rejects when no answer can come any more. */
  readonly lost: Promise<never>;
};

type Open = { readonly exchange: Exchange; readonly lose: (error: Error) => void };

export class Exchanges {
  readonly #byParams = new WeakMap<object, Open>();
  readonly #open = new Map<RequestId, Open>();

  /** `params` is the object that the SDK is given: by it the request is known again when it is sent. */
  begin(params: object): Exchange {
    const { promise, reject } = Promise.withResolvers<never>();
    // Whoever waits for the answer hears of it; where nobody does any more, it is no news.
    promise.catch(() => undefined);
    const exchange: Exchange = { sent: false, reply: undefined, lost: promise };
    this.#byParams.set(params, { exchange, lose: reject });
    return exchange;
  }

  sending(message: object): void {
    const { id, params } = message as { readonly id?: RequestId; readonly params?: object };
    const open = params === undefined ? undefined : this.#byParams.get(params);
    if (id === undefined || !open) return;
    open.exchange.sent = true;
    this.#open.set(id, open);
  }

  /** The text of a message from the server; only answers are kept. */
  received(text: string): void {
    for (const { id, method } of answersIn(text)) {
      const open = id === undefined || method !== undefined ? undefined : this.#open.get(id);
      if (id === undefined || !open) continue;
      open.exchange.reply = text;
      this.#open.delete(id);
    }
  }

  /** The stream that was to bring the answer to this request has ended. */
  ended(id: RequestId, why: Error): void {
    this.#open.get(id)?.lose(why);
    this.#open.delete(id);
  }

  allEnded(why: Error): void {
    for (const id of this.#open.keys()) this.ended(id, why);
  }
}

type Answer = { readonly id?: RequestId; readonly method?: string };

const answersIn = (text: string): readonly Answer[] => {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? [message] : [];
  } catch {
    return [];
  }
};
