/** Who this process is to its neighbours on the machine, and whether a neighbour is gone. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { randomId, type Random } from '../clock.ts';
import type { Owner } from './store.ts';

const OWNER_ID_LENGTH = 12;

/** Changes with every boot of the machine; empty where the system does not say. */
const bootId = (): string => read('/proc/sys/kernel/random/boot_id').trim();

/**
 * When a process started, in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)). The name in field 2
 * may hold spaces and brackets, so counting begins after the last bracket. Empty where there is no /proc.
 */
const startedAt = (pid: number): string => {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

export const thisOwner = (random: Random): Owner => ({
  id: randomId(random, OWNER_ID_LENGTH),
  host: hostname(),
  boot: bootId(),
  pid: process.pid,
  started: startedAt(process.pid),
});

/**
 * Whether an owner is known to be gone, so that its lease need not run out first. False wherever this
 * machine cannot know: another host, or a system without /proc and a live process of that number.
 */
export const isGone = (owner: Owner): boolean => {
  if (owner.host !== hostname()) return false;
  if (owner.boot !== bootId()) return true;
  if (owner.started !== '' && startedAt(owner.pid) !== owner.started) return true;
  return !isAlive(owner.pid);
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not Linux, or the process ended: both are answers here, not faults.
    return '';
  }
};
