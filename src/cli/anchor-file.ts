/** Anchors and keys as files. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { badInput } from '../errors.ts';
import { ANCHOR_BYTES_MAX, readAnchor, type Anchor } from '../replay/anchor.ts';
import type { Cli } from './cli.ts';
import type { Input } from './command.ts';
import { givenOption } from './given.ts';

/** Bytes of a key file. */
const KEY_BYTES_MAX = 64 * 1024;

/** Throws `usage`, `file-not-readable`, `value-too-large`, and what reading an anchor throws. */
export const givenAnchor = (cli: Cli, input: Input): Anchor | undefined => {
  const file = givenOption(input, 'anchor');
  const key = givenOption(input, 'publicKey');
  if (file === undefined) {
    if (key === undefined) return undefined;
    throw badInput('usage', '--public-key goes with --anchor.', {}, 'onrecord help verify');
  }
  const text = fileText(cli, file, { option: 'anchor', limit: ANCHOR_BYTES_MAX });
  return readAnchor(text, key === undefined ? undefined : keyOf(cli, key, 'public-key'));
};

/** The private key of --key; undefined where none is given. Throws `key-invalid`. */
export const givenKey = (cli: Cli, input: Input): KeyObject | undefined => {
  const file = givenOption(input, 'key');
  return file === undefined ? undefined : keyOf(cli, file, 'key');
};

const keyOf = (cli: Cli, file: string, option: 'key' | 'public-key'): KeyObject => {
  const pem = fileText(cli, file, { option, limit: KEY_BYTES_MAX });
  let key: KeyObject | undefined;
  try {
    key = option === 'key' ? createPrivateKey(pem) : createPublicKey(pem);
  } catch {
    // Said below. The cause may quote the key.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  const kind = option === 'key' ? 'private' : 'public';
  throw badInput(
    'key-invalid',
    `--${option} "${file}" holds no ${kind} Ed25519 key as PEM.`,
    { file },
    option === 'key'
      ? 'openssl genpkey -algorithm ed25519 -out FILE'
      : 'openssl pkey -in KEY -pubout -out FILE',
  );
};

const fileText = (
  cli: Cli,
  file: string,
  { option, limit }: { readonly option: string; readonly limit: number },
): string => {
  const path = resolve(cli.cwd, file);
  let bytes: Buffer;
  try {
    if (statSync(path).size > limit)
      throw badInput('value-too-large', `--${option} "${file}" is larger than ${limit} bytes.`, {
        file,
        limit,
      });
    bytes = readFileSync(path);
  } catch (cause) {
    if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
    const why = String((cause as NodeJS.ErrnoException).code);
    throw badInput('file-not-readable', `--${option} "${file}" cannot be read (${why}).`, { file, why });
  }
  return bytes.toString('utf8');
};
