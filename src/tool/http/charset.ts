/**
 * Bytes to text. Order: byte order mark, declared charset where the bytes are valid in it, the page's own
 * declaration, UTF-8 where valid, else windows-1252 with a note. Text never comes back as replacement
 * characters without a word about it.
 */

export type Decoded = {
  readonly text: string;
  /** WHATWG name of the encoding that was used. */
  readonly charset: string;
  /** Present where what was declared and what was found differ. */
  readonly note?: string;
};

/** Bytes searched for a declaration inside the document (WHATWG HTML: 1024). */
const PRESCAN_BYTES = 1024;
const META = /<meta[^>]{0,512}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([A-Za-z0-9_:.-]{1,40})/i;
const XML_DECLARATION = /^<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([A-Za-z0-9_:.-]{1,40})/i;

const decoderFor = (label: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    return undefined;
  }
};

const decodeAs = (bytes: Uint8Array, label: string): { text: string; charset: string } | undefined => {
  const decoder = decoderFor(label);
  if (!decoder) return undefined;
  try {
    return { text: decoder.decode(bytes), charset: decoder.encoding };
  } catch {
    return undefined;
  }
};

const byteOrderMark = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return undefined;
};

const written = (bytes: Uint8Array): string | undefined => {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN_BYTES));
  const label = XML_DECLARATION.exec(head)?.[1] ?? META.exec(head)?.[1];
  // A page that can be searched byte by byte is not UTF-16, whatever it says (WHATWG HTML, prescan).
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
};

/** `markup` says whether the document itself may declare a charset (HTML, XML). */
export const decodeText = (bytes: Uint8Array, declared: string | undefined, markup: boolean): Decoded => {
  const wrong: string[] = [];
  const candidates: readonly (readonly [string | undefined, string])[] = [
    [byteOrderMark(bytes), 'byte order mark'],
    [declared, 'declared'],
    [markup ? written(bytes) : undefined, 'written in the page'],
  ];
  const finish = (found: { text: string; charset: string }): Decoded =>
    wrong.length === 0 ? found : { ...found, note: `${wrong.join('; ')}; read as ${found.charset}` };
  for (const [label, how] of candidates) {
    if (label === undefined) continue;
    const found = decodeAs(bytes, label);
    if (found) return finish(found);
    wrong.push(`charset ${label} ${how} but ${decoderFor(label) ? 'invalid' : 'unknown'}`);
  }
  const utf8 = decodeAs(bytes, 'utf-8');
  if (utf8) return finish(utf8);
  if (wrong.length === 0) wrong.push('no charset declared and not valid utf-8');
  return finish({ text: new TextDecoder('windows-1252').decode(bytes), charset: 'windows-1252' });
};
