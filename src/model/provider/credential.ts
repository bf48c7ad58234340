/**
 * Credentials of providers: from the environment or a file that only its owner can read, bound to one origin. A
 * credential shows its name, never its value, wherever it is printed, logged or turned into JSON.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { badInput, OnrecordError } from '../../errors.ts';
import { SECRET_CHARS_MIN, SecretMask } from '../../secret/mask.ts';

export const CREDENTIAL_FILE_BYTES_MAX: number = 64 * 1024;
/** Names another credentials file than the default one. */
export const CREDENTIAL_FILE_VARIABLE = 'ONRECORD_CREDENTIALS';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which credential, and the one origin that it may be sent to. */
export type CredentialWanted = {
  /** Names in the order in which they are tried, for example `ANTHROPIC_API_KEY`. */
  readonly names: readonly string[];
  readonly origin: string;
};

export class Credential {
  readonly name: string;
  /** `environment`, or the path of the file. */
  readonly from: string;
  readonly origin: string;
  readonly #value: string;

  /** Throws `credential-invalid`, without the value. */
  constructor(found: {
    readonly name: string;
    readonly from: string;
    readonly origin: string;
    readonly value: string;
  }) {
    const value = found.value.trim();
    if (value.length < SECRET_CHARS_MIN || !/^[\x21-\x7e]+$/.test(value))
      throw badInput(
        'credential-invalid',
        `${found.name} (${found.from}) is no key: a key has at least ${SECRET_CHARS_MIN} visible ASCII characters and no space.`,
        { name: found.name },
      );
    this.name = found.name;
    this.from = found.from;
    this.origin = new URL(found.origin).origin;
    this.#value = value;
  }

  /** The value, for a request to `origin`. Throws `credential-not-for-origin` for any other, and over plain HTTP. */
  reveal(origin: string): string {
    if (origin !== this.origin)
      throw badInput(
        'credential-not-for-origin',
        `${this.name} may not be sent to "${origin}". It belongs to ${this.origin}.`,
        { name: this.name, origin },
      );
    if (!isPrivateWay(origin))
      throw badInput(
        'credential-not-for-origin',
        `${this.name} may not be sent to "${origin}" in the clear. Use https.`,
        { name: this.name, origin },
      );
    return this.#value;
  }

  /** Takes the value out of texts and bytes. */
  mask(): SecretMask {
    return new SecretMask([{ name: this.name, value: this.#value }]);
  }

  toJSON(): { readonly name: string; readonly from: string; readonly origin: string } {
    return { name: this.name, from: this.from, origin: this.origin };
  }

  toString(): string {
    return `[credential ${this.name}]`;
  }
}

/** Encrypted, or not leaving the machine. */
const isPrivateWay = (origin: string): boolean => {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopback(hostname);
};

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

/** Where credentials are looked for: the path of the file, and whether somebody named it. */
export const credentialFile = (env: Environment): { readonly path: string; readonly named: boolean } => {
  const named = env[CREDENTIAL_FILE_VARIABLE];
  if (named !== undefined && named !== '') return { path: named, named: true };
  const base = env['XDG_CONFIG_HOME'];
  const folder = base === undefined || base === '' ? join(env['HOME'] ?? homedir(), '.config') : base;
  return { path: join(folder, 'onrecord', 'credentials'), named: false };
};

/**
 * The first of the wanted names that the environment holds, else the first that the file holds; undefined where
 * none does. Throws `credential-file-open` (others can read it), `credential-file-invalid`, `credential-invalid`.
 */
export const findCredential = (
  { names, origin }: CredentialWanted,
  env: Environment = process.env,
): Credential | undefined => {
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '')
      return new Credential({ name, value, from: 'environment', origin });
  }
  const file = credentialFile(env);
  const lines = readCredentialFile(file);
  const name = names.find((candidate) => lines.has(candidate));
  if (name === undefined) return undefined;
  return new Credential({ name, value: lines.get(name) ?? '', from: file.path, origin });
};

/** Lines `NAME=value`; empty lines and those that start with # are skipped. */
const readCredentialFile = (file: {
  readonly path: string;
  readonly named: boolean;
}): Map<string, string> => {
  const found = new Map<string, string>();
  for (const [index, line] of contentOf(file).split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, name, quote = '', value = ''] =
      /^\s*([A-Z][A-Z0-9_]*)\s*=\s*(["']?)(.*?)\2\s*$/.exec(line) ?? [];
    if (name === undefined)
      // The line is not quoted: it may hold the key.
      throw badInput(
        'credential-file-invalid',
        `${file.path}, line ${index + 1} is not of the form NAME=value.`,
        { file: file.path, line: index + 1 },
      );
    found.set(name, quote === '' ? value.trim() : value);
  }
  return found;
};

const contentOf = ({ path, named }: { readonly path: string; readonly named: boolean }): string => {
  const handle = openFile(path, named);
  if (handle === undefined) return '';
  try {
    // Judged on the open file, so that it cannot be exchanged between the look and the reading.
    const stats = fstatSync(handle);
    if (!stats.isFile() || stats.size > CREDENTIAL_FILE_BYTES_MAX)
      throw badInput(
        'credential-file-invalid',
        `${path} is no file of at most ${CREDENTIAL_FILE_BYTES_MAX} bytes.`,
        { file: path },
      );
    // Windows has no mode bits; there the folder's rights are the owner's.
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw new OnrecordError(
        `${path} can be read by others (mode ${(stats.mode & 0o777).toString(8)}). It is not used until only its owner can.`,
        {
          code: 'credential-file-open',
          next: 'ask-a-person',
          details: { file: path },
          hint: `chmod 600 ${path}`,
        },
      );
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
};

const openFile = (path: string, named: boolean): number | undefined => {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!named && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw badInput('credential-file-invalid', `${path} could not be read (${String(code)}).`, { file: path });
  }
};
