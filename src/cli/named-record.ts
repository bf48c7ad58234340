/** What a command line names: a session of the store, or a bundle, which is read into a store of its own. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { badInput } from '../errors.ts';
import { bundleStore } from '../bundle/bundle-store.ts';
import { readBundle, type Bundle } from '../bundle/read.ts';
import type { LogStore } from '../log/store.ts';
import type { Cli } from './cli.ts';
import { openRecord } from './record.ts';

export type NamedRecord = {
  readonly store: LogStore;
  readonly session: string;
  /** Where a file was named. */
  readonly bundle: Bundle | undefined;
};

/** A name with a dot or a slash in it is a file, if there is one. Throws `store-not-found`, `bundle-invalid`, … */
export const openNamed = async (cli: Cli, name: string): Promise<NamedRecord> => {
  const bundle = /[./\\]/.test(name) ? await bundleAt(cli, name) : undefined;
  if (!bundle) return { store: await openRecord(cli), session: name, bundle };
  return { store: await bundleStore(bundle), session: bundle.manifest.session, bundle };
};

/** Undefined where there is no such file. */
export const bundleAt = async (cli: Cli, name: string): Promise<Bundle | undefined> => {
  const path = resolve(cli.cwd, name);
  if (!existsSync(path) || statSync(path).isDirectory()) return undefined;
  return readBundle(createReadStream(path));
};

/** For a command that needs all of a session. Throws `bundle-redacted`. */
export const refuseRemoved = ({ bundle, session }: NamedRecord, what: string): void => {
  if (!bundle?.manifest.removed) return;
  throw badInput(
    'bundle-redacted',
    `Something was removed from this bundle of ${session} by rule (${bundle.manifest.removed.join(', ')}). It cannot be ${what}: the facts are not all there.`,
    { session },
  );
};
