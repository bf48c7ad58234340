/** On what it was measured, in words that name no machine and no folder. */
import { readFileSync, statfsSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { PROGRAM } from '../src/worker/program.ts';

export type Machine = {
  readonly program: string;
  readonly node: string;
  readonly sqlite: string;
  readonly system: string;
  readonly processor: string;
  readonly memoryGb: number;
  readonly fileSystem: string;
  /** Processes that were ready to run on average in the last minute, this one's own included. */
  readonly load: number;
};

/** Magic numbers of statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x01021994: 'tmpfs',
  0x9123683e: 'btrfs',
  0x58465342: 'xfs',
  0x794c7630: 'overlayfs',
  0x2fc12fc1: 'zfs',
};

export const machineOf = (scratch: string): Machine => {
  const processors = cpus();
  return {
    program: PROGRAM,
    node: process.versions.node,
    sqlite: process.versions['sqlite'] ?? '',
    system: systemName(),
    processor: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    fileSystem: FILE_SYSTEMS[statfsSync(scratch).type] ?? 'another',
    load: loadavg()[0] ?? 0,
  };
};

/** The kernel's version without what a vendor has added to it. */
const systemName = (): string => {
  if (process.platform !== 'linux') return process.platform;
  const release = /^\d+\.\d+/.exec(readFileSync('/proc/sys/kernel/osrelease', 'utf8'))?.[0] ?? '';
  return `Linux ${release}`;
};

export const machineLines = (machine: Machine): readonly string[] => {
  const { program, node, sqlite, system, processor, memoryGb, fileSystem, load } = machine;
  return [
    `${program}, Node ${node} with SQLite ${sqlite}.`,
    `${system}, ${processor}, ${memoryGb} GB, stores on ${fileSystem}; load ${load.toFixed(1)} at the end.`,
    ...(fileSystem === 'tmpfs'
      ? ['Memory is no disk: syncs cost nothing here, times of steps say little.']
      : []),
  ];
};
