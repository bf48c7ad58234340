/** Where a SQLite store may lie, on a local disk (WAL needs shared memory that network folders do not give), and whether it still lies there. */
import { statfsSync, statSync } from 'node:fs';
import { OnrecordError } from '../errors.ts';

/** File system magic numbers from Linux's statfs(2) and linux/magic.h. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x65735546, 'fuse'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'vmhgfs'],
  [0x7c7c6673, 'prl_fs'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0x00c36400, 'ceph'],
  [0x73757245, 'coda'],
  [0x7461636f, 'ocfs2'],
  [0x01161970, 'gfs2'],
  [0x0bd00bd0, 'lustre'],
]);

/** The name of the network or VM-shared file system below `folder`; undefined for a local one. */
export const remoteFileSystem = (
  folder: string,
  typeOf: (path: string) => number = (path) => statfsSync(path).type,
): string | undefined => REMOTE.get(typeOf(folder) >>> 0);

/** Throws `store-on-network-folder` unless the folder is on a local disk. */
export const refuseRemote = (folder: string, typeOf?: (path: string) => number): void => {
  const type = remoteFileSystem(folder, typeOf);
  if (type === undefined) return;
  throw new OnrecordError(
    `The store would lie on a network or shared folder (${type}): ${folder}. ` +
      'SQLite loses data there. Use a path on a local disk, or PostgreSQL.',
    { code: 'store-on-network-folder', next: 'ask-a-person', details: { folder, type } },
  );
};

/** A file as it was when the store was opened. */
export type Pinned = { readonly path: string; readonly dev: number; readonly ino: number };

export const pin = (path: string): Pinned => {
  const { dev, ino } = statSync(path);
  return { path, dev, ino };
};

/** Whether the path still leads to that file. False, too, where the way to it is broken. */
export const isInPlace = ({ path, dev, ino }: Pinned): boolean => {
  try {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === ino && now.dev === dev;
  } catch {
    return false;
  }
};
