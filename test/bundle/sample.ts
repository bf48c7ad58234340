/** Sessions in memory, and their bundles as bytes. */
import { bundleStore, verifyBundle } from '../../src/bundle/bundle-store.ts';
import type { Importer } from '../../src/bundle/import.ts';
import { readBundle, type Bundle } from '../../src/bundle/read.ts';
import { bundleLines, type Redacted } from '../../src/bundle/write.ts';
import { canonical, sha256 } from '../../src/event/canonical.ts';
import type { LogStore } from '../../src/log/store.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import type { Verified, VerifyOptions } from '../../src/replay/verify.ts';
import type { Owner } from '../../src/log/store.ts';

export const REPLAY: NonNullable<VerifyOptions['replay']> = {
  encoderOf: () => neutralEncoder,
  program: 'onrecord test',
};

export const OWNER: Owner = { id: 'importer', host: 'here', boot: 'b', pid: 1, started: '1' };
export const IMPORTER: Importer = { owner: OWNER, isGone: () => false, now: 1000 };

export const bytesOf = async (store: LogStore, session: string, redacted?: Redacted): Promise<Buffer> => {
  const lines: string[] = [];
  for await (const line of bundleLines(store, session, redacted)) lines.push(line);
  return Buffer.from(lines.join(''));
};

/** In pieces of an awkward size, as a stream brings them. */
export async function* pieces(bytes: Uint8Array, size = 1021): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export type ReadBack = { readonly bundle: Bundle; readonly store: LogStore; readonly verified: Verified };

export const readBack = async (bytes: Uint8Array): Promise<ReadBack> => {
  const bundle = await readBundle(pieces(bytes));
  const store = await bundleStore(bundle);
  return { bundle, store, verified: await verifyBundle(bundle, store, { replay: REPLAY }) };
};

/** A bundle whose trailer fits its lines again: what somebody makes who changes one on purpose. */
export const resealed = (lines: readonly string[], trailer: Readonly<Record<string, unknown>>): Buffer => {
  const text = lines.map((line) => `${line}\n`).join('');
  return Buffer.from(`${text}${canonical({ end: { ...trailer, sha256: sha256(text) } as never })}\n`);
};

export const linesOf = (
  bytes: Buffer,
): { readonly lines: string[]; readonly trailer: Record<string, unknown> } => {
  const lines = bytes.toString('utf8').trimEnd().split('\n');
  const last = JSON.parse(lines.pop() ?? '') as { end: Record<string, unknown> };
  return { lines, trailer: last.end };
};
