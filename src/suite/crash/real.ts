/** Real kills: each process of a run is a child that ends itself with SIGKILL at a boundary. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bug } from '../../errors.ts';
import { CODE_FOLDER, CODE_SUFFIX } from '../../package-folder.ts';
import type { Played, RealRun } from './run.ts';

const CHILD = join(CODE_FOLDER, 'suite', 'crash', `child.${CODE_SUFFIX}`);
/** A child that does neither end nor die within this time is stuck. */
const CHILD_MS_MAX = 120_000;

/** `cache` keeps compiled code: most of a short process is loading. */
export const playKilled = async (run: RealRun, cache: string): Promise<Played> => {
  const { kill, faults } = run;
  const deaths = kill.length + faults.filter((fault) => fault.do === 'crash').length;
  for (let processes = 0; processes <= deaths; processes++) {
    const { signal, text } = await spawned(JSON.stringify(run), cache);
    if (signal !== 'SIGKILL') return JSON.parse(text) as Played;
  }
  throw bug('a run is killed as often as was planned', { kill, deaths });
};

type Ended = { readonly signal: NodeJS.Signals | null; readonly text: string };

const spawned = (run: string, cache: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, run], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl C is for the matrix: a run that is under way is played to its end.
      detached: true,
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
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
      else reject(new Error(`A process of a crash run ended with ${signal ?? code}: ${errors.trim()}`));
    });
  });
