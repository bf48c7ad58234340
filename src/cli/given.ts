/** What the command line says: options as text, and values that may lie in a file or come through stdin. */
import { readFile } from 'node:fs/promises';
import { stdin } from 'node:process';
import { badInput } from '../errors.ts';
import { isCallId, type CallId } from '../event/call-id.ts';
import { MODES, type Mode } from '../event/definition.ts';
import type { Input, Option } from './command.ts';

/** UTF-8 bytes of a value from a file or from stdin. */
export const GIVEN_BYTES_MAX: number = 4 * 1024 * 1024;

export const givenOption = ({ options }: Input, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

export const isGiven = ({ options }: Input, name: string): boolean => options[name] === true;

export const MODE_OPTION: Option = {
  flags: '--mode <mode>',
  description: `what the session may start: ${MODES.join(', ')}`,
};

/** Throws `mode-unknown`. */
export const givenMode = (input: Input): { readonly mode?: Mode } => {
  const word = givenOption(input, 'mode');
  if (word === undefined) return {};
  const mode = MODES.find((one) => one === word);
  if (mode !== undefined) return { mode };
  throw badInput('mode-unknown', `There is no mode "${word}". There are ${MODES.join(', ')}.`, {
    mode: word,
  });
};

/** Throws `call-invalid`. */
export const givenCall = (input: Input): CallId | undefined => {
  const call = givenOption(input, 'call');
  if (call === undefined || isCallId(call)) return call;
  throw badInput(
    'call-invalid',
    `"${call}" names no call. A call is known by turn, step and index, as in 3.7.2.`,
    { call },
  );
};

/** A whole number from 1 up. Throws `number-invalid`. */
export const givenSeq = (input: Input, name: string): number | undefined => {
  const text = givenOption(input, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw badInput('number-invalid', `--${name} "${text}" is no event: it takes a whole number from 1 up.`, {
    [name]: text,
  });
};

const PORT_MAX = 65_535;

/** Throws `number-invalid`. */
export const givenPort = (input: Input): number => {
  const text = givenOption(input, 'port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= PORT_MAX) return port;
  throw badInput('number-invalid', `--port "${text}" is no port: a whole number from 0 to ${PORT_MAX}.`, {
    port: text,
  });
};

/**
 * The value itself; with "@" in front the file of that name, and "-" for stdin. Throws `file-not-readable`,
 * `value-too-large`, `value-not-utf8`.
 */
export const givenText = async (option: string, value: string): Promise<string> => {
  if (value === '-') return decoded(option, await readAll(option));
  if (!value.startsWith('@')) return value;
  const path = value.slice(1);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw badInput(
      'file-not-readable',
      `--${option} names the file "${path}", which cannot be read (${why}).`,
      { path, why },
    );
  }
  return decoded(option, bytes);
};

const tooLarge = (option: string): Error =>
  badInput('value-too-large', `--${option} is larger than ${GIVEN_BYTES_MAX} bytes.`, {
    limit: GIVEN_BYTES_MAX,
  });

const readAll = async (option: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > GIVEN_BYTES_MAX) throw tooLarge(option);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const decoded = (option: string, bytes: Buffer): string => {
  if (bytes.length > GIVEN_BYTES_MAX) throw tooLarge(option);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw badInput('value-not-utf8', `--${option} is not UTF-8 text.`);
  }
};
