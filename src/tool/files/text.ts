/**
 * The bytes of a text file as text, with the way back: replacing a part of the text leaves every other byte
 * of the file as it was, whatever the encoding.
 */
import { ToolError } from '../tool.ts';
import { quoted } from './fault.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export type TextFile = {
  /** Without the byte order mark; line ends as in the file. */
  readonly text: string;
  readonly encoding: Encoding;
  /** The byte order mark as bytes; empty where there is none. */
  readonly mark: Uint8Array;
  readonly bytes: Uint8Array;
};

/** A part of the text, as string positions [start, end), and what takes its place. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

const startsWith = (bytes: Uint8Array, ...head: readonly number[]): boolean =>
  head.every((byte, at) => bytes[at] === byte);

const decodeAs = (encoding: Encoding, bytes: Uint8Array, markBytes: number): TextFile | undefined => {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(
      bytes.subarray(markBytes),
    );
    return { text, encoding, mark: bytes.subarray(0, markBytes), bytes };
  } catch {
    return undefined;
  }
};

/** Control characters that no text has: their presence says that bytes are not a single-byte text. */
const NOT_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/u; // eslint-disable-line no-control-regex

/**
 * Decodes a file by its byte order mark, else as UTF-8, else (bytes that are not UTF-8 and hold no control
 * characters) as windows-1252, which most such exports are. Undefined for anything else: it is binary.
 */
export const decodeText = (bytes: Uint8Array): TextFile | undefined => {
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return decodeAs('utf-8', bytes, 3);
  if (startsWith(bytes, 0xff, 0xfe, 0, 0)) return undefined;
  if (startsWith(bytes, 0xff, 0xfe)) return decodeAs('utf-16le', bytes, 2);
  if (startsWith(bytes, 0xfe, 0xff)) return decodeAs('utf-16be', bytes, 2);
  const utf8 = decodeAs('utf-8', bytes, 0);
  if (utf8) return utf8.text.includes('\0') ? undefined : utf8;
  const single = decodeAs('windows-1252', bytes, 0);
  return single && !NOT_TEXT.test(single.text) ? single : undefined;
};

/** The encoding for people: "utf-8 with byte order mark". */
export const encodingName = (file: TextFile): string =>
  file.mark.length > 0 ? `${file.encoding} with byte order mark` : file.encoding;

const ALL_BYTES = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
const BYTE_OF: ReadonlyMap<string, number> = new Map(Array.from(ALL_BYTES, (char, byte) => [char, byte]));

const encodeSingle = (text: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(text.length);
  let at = 0;
  for (const char of text) {
    const byte = BYTE_OF.get(char);
    if (byte === undefined) return undefined;
    bytes[at++] = byte;
  }
  return bytes;
};

/** Text as bytes of that encoding. Throws `text-not-encodable`. */
export const encodeText = (text: string, encoding: Encoding): Uint8Array => {
  if (text.isWellFormed())
    switch (encoding) {
      case 'utf-8':
        return Buffer.from(text, 'utf8');
      case 'utf-16le':
        return Buffer.from(text, 'utf16le');
      case 'utf-16be':
        return Buffer.from(text, 'utf16le').swap16();
      case 'windows-1252': {
        const bytes = encodeSingle(text);
        if (bytes) return bytes;
      }
    }
  throw new ToolError(
    `The text ${quoted(text)} has a character that cannot be stored as ${encoding}. Use other characters.`,
    { code: 'text-not-encodable', details: { encoding } },
  );
};

const bytesIn = (text: string, encoding: Encoding): number => {
  if (encoding === 'utf-8') return Buffer.byteLength(text, 'utf8');
  return encoding === 'windows-1252' ? text.length : text.length * 2;
};

/** The file's bytes with the splices (in order, not overlapping) done, and every other byte as it was. */
export const spliceText = (file: TextFile, splices: readonly Splice[]): Uint8Array => {
  const pieces: Uint8Array[] = [];
  let position = 0;
  let byte = file.mark.length;
  let copied = 0;
  for (const { start, end, text } of splices) {
    byte += bytesIn(file.text.slice(position, start), file.encoding);
    pieces.push(file.bytes.subarray(copied, byte), encodeText(text, file.encoding));
    byte += bytesIn(file.text.slice(start, end), file.encoding);
    copied = byte;
    position = end;
  }
  pieces.push(file.bytes.subarray(copied));
  return Buffer.concat(pieces);
};
