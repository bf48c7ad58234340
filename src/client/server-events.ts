/** Reads server-sent events (WHATWG HTML, 9.2.6) from a body, however it is cut into pieces. */

export type ServerEvent = { readonly type: string; readonly data: string };

/** Bytes of one event; a server that sends more is none of ours. */
const EVENT_LENGTH_MAX = 64 * 1024 * 1024;

/** Whole events only: what stands at a broken end is not handed out. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let type = '';
  let data: string[] = [];
  for await (const chunk of chunksOf(body)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > EVENT_LENGTH_MAX)
      throw new Error(`An event is longer than ${EVENT_LENGTH_MAX} characters.`);
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end).replace(/\r$/, '');
      text = text.slice(end + 1);
      if (line === '') {
        if (data.length > 0) yield { type: type === '' ? 'message' : type, data: data.join('\n') };
        type = '';
        data = [];
      } else if (line.startsWith('event:')) type = line.slice('event:'.length).trimStart();
      else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    }
  }
}

/** Not every browser can iterate a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
