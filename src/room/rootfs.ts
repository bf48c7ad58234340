/**
 * The root that a program sees inside gVisor: Node with the libraries it names, and the guest. Nothing of the host is
 * mounted. Made once for each build of Node and of the guest; read-only inside.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256, type Digest } from '../event/canonical.ts';
import { DIGEST_SHOWN, guestDigest, placeFolder, RUNNER, writeGuest } from './guest-folder.ts';

export type Rootfs = { readonly path: string; readonly runner: string; readonly digest: Digest };

const FOLDERS = ['bin', 'etc', 'proc', 'dev', 'tmp', 'room'];
const USER = 'room:x:65534:65534::/tmp:/bin/false\n';

/** Paths of the shared objects that a program names, as ldd(1) resolves them. */
const librariesOf = (program: string): readonly string[] => {
  const text = execFileSync('ldd', [program], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  return [...text.matchAll(/(\/\S+\.so\S*) \(0x/g)].map(([, path = '']) => path);
};

const copyIn = (root: string, from: string, to: string): void => {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  // Not cpSync: it refuses a library that is a symbolic link.
  copyFileSync(realpathSync(from), target, constants.COPYFILE_FICLONE);
};

export const rootfs = (base: string, node: string = process.execPath): Rootfs => {
  const digest = guestDigest();
  const { size, mtimeMs, ino } = statSync(node);
  const build = sha256(`${process.version} ${size} ${mtimeMs} ${ino} ${node} ${digest}`);
  const path = join(base, `root-${build.slice(0, DIGEST_SHOWN)}`);
  placeFolder(path, (folder) => {
    for (const name of FOLDERS) mkdirSync(join(folder, name));
    copyIn(folder, node, 'bin/node');
    for (const library of librariesOf(node)) copyIn(folder, library, library);
    writeFileSync(join(folder, 'etc', 'passwd'), USER);
    writeGuest(join(folder, 'room'));
    // The guest's user is nobody: whatever umask this process has, it reads and changes nothing.
    chmodSync(folder, 0o755);
  });
  return { path, runner: `/room/${RUNNER}`, digest };
};
