/** Real kills: each process of a run is a child that ends itself with SIGKILL at a boundary. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Ending } from './play.ts';

const CHILD = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url);
/** A child that does neither end nor die within this time is stuck. */
const CHILD_MS_MAX = 60_000;

export const playKilled = async (path: string, folder: string, kill: readonly number[]): Promise<Ending> => {
  for (let processes = 0; processes <= kill.length + 1; processes++) {
    const { signal, text } = await run([path, folder, kill.join(',')]);
    if (signal === 'SIGKILL') continue;
    return JSON.parse(text) as Ending;
  }
  throw new Error(`the run with kills at ${kill.join(', ')} did not come to an end`);
};

type Ended = { readonly signal: NodeJS.Signals | null; readonly text: string };

const run = (args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    if (!existsSync(CHILD)) reject(new Error(`${CHILD.pathname} is missing`));
    const child = spawn(process.execPath, [CHILD.pathname, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: CHILD_MS_MAX,
      killSignal: 'SIGTERM',
    });
    let text = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve({ signal, text });
      else reject(new Error(`a child ended with ${signal ?? code}: ${errors}`));
    });
  });
