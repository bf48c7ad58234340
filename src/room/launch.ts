/** How a room's process is started at each level. Nothing of this process's environment is handed on. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNNER, type GuestFolder } from './guest-folder.ts';
import type { Engine } from './level.ts';
import type { RoomLimits } from './limits.ts';
import type { Launch } from './room.ts';
import type { Rootfs } from './rootfs.ts';

const MIB = 1024 * 1024;
const ENV: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
const SETPRIV = '/usr/bin/setpriv';
/** Megabytes of Node's own heap beside the engine's. */
const OLD_SPACE_MB = 96;

/** Address space that Node takes before a program has any; measured for Node 26 under gVisor. */
const ADDRESS_BYTES: Readonly<Record<Engine, number>> = { quickjs: 1408 * MIB, node: 1312 * MIB };
/** Bytes that the process may take beyond that, whichever engine it runs. */
const PROCESS_BYTES: number = 256 * MIB;
const TMP_MB = 32;
/**
 * gVisor counts threads, of all processes of a room together. Node starts with 7 and takes 4 more for its pool; a second
 * Node does not fit beside that, so what bounds the memory of a process bounds that of the room.
 */
const THREADS_MAX = 12;
const DESCRIPTORS_MAX = 256;
const FILE_BYTES_MAX: number = 64 * MIB;

export const isRoot = (): boolean => process.getuid?.() === 0;

export const hasSetpriv = (): boolean => process.platform === 'linux' && existsSync(SETPRIV);

/** Dies with the process that started it, however that one ends. */
const bound = (
  command: string,
  args: readonly string[],
  flags: readonly string[],
): Pick<Launch, 'command' | 'args'> =>
  hasSetpriv()
    ? { command: SETPRIV, args: ['--pdeathsig', 'KILL', ...flags, '--', command, ...args] }
    : { command, args };

const engineFlags = (engine: Engine, limits: RoomLimits): readonly string[] => [
  engine,
  JSON.stringify(limits),
];

/** A process without files, environment or rights of its own; the boundary is the interpreter. */
export const wasmLaunch = ({ path }: GuestFolder, limits: RoomLimits): Launch => {
  const node = [
    '--permission',
    `--allow-fs-read=${path}`,
    `--max-old-space-size=${OLD_SPACE_MB}`,
    '--disable-warning=SecurityWarning',
    join(path, RUNNER),
    ...engineFlags('quickjs', limits),
  ];
  const flags = ['--no-new-privs', ...(isRoot() ? ['--inh-caps=-all', '--bounding-set=-all'] : [])];
  return { ...bound(process.execPath, node, flags), env: ENV, cwd: path, clean: () => undefined };
};

export type GvisorPlace = {
  readonly root: Rootfs;
  readonly runsc: string;
  readonly engine: Engine;
  readonly limits: RoomLimits;
};

/** A sandbox of its own; its bundle and state lie in `folder` and go with it. */
export const gvisorLaunch = (
  place: GvisorPlace,
  folder: { readonly path: string; readonly number: number },
): Launch => {
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify(bundleOf(place)));
  const args = [
    `--root=${join(folder.path, 'state')}`,
    '--platform=ptrace',
    '--network=none',
    '--ignore-cgroups',
    ...(isRoot() ? [] : ['--rootless']),
    'run',
    `--bundle=${folder.path}`,
    `room-${process.pid}-${folder.number}`,
  ];
  return {
    ...bound(place.runsc, args, []),
    env: ENV,
    cwd: folder.path,
    clean: () => rmSync(folder.path, { recursive: true, force: true, maxRetries: 5 }),
  };
};

const limit = (type: string, most: number): object => ({ type, soft: most, hard: most });

/** An OCI runtime bundle (opencontainers/runtime-spec 1.0): no mount of the host, no capability, no network. */
const bundleOf = ({ root, engine, limits }: GvisorPlace): object => ({
  ociVersion: '1.0.0',
  hostname: 'room',
  root: { path: root.path, readonly: true },
  process: {
    // Without root only user 0 of the sandbox can be mapped to the caller; it has no capabilities there.
    user: isRoot() ? { uid: 65_534, gid: 65_534 } : { uid: 0, gid: 0 },
    cwd: '/tmp',
    noNewPrivileges: true,
    args: [
      '/bin/node',
      ...(engine === 'quickjs'
        ? [
            '--permission',
            '--allow-fs-read=/room',
            '--disable-wasm-trap-handler',
            '--disable-warning=SecurityWarning',
          ]
        : []),
      `--max-old-space-size=${OLD_SPACE_MB}`,
      root.runner,
      ...engineFlags(engine, limits),
    ],
    env: ['PATH=/bin', 'HOME=/tmp', 'TZ=UTC', 'LANG=C.UTF-8'],
    capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    // Not RLIMIT_CPU: gVisor does not enforce it.
    rlimits: [
      limit('RLIMIT_AS', ADDRESS_BYTES[engine] + PROCESS_BYTES),
      limit('RLIMIT_NPROC', THREADS_MAX),
      limit('RLIMIT_NOFILE', DESCRIPTORS_MAX),
      limit('RLIMIT_FSIZE', FILE_BYTES_MAX),
      limit('RLIMIT_CORE', 0),
    ],
  },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'size=1m'] },
    {
      destination: '/tmp',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'noexec', 'nodev', `size=${TMP_MB}m`, 'mode=1777'],
    },
  ],
  linux: { namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
});
