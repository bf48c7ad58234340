/** The folder that the demo and the example of the window work in, and the job that both have done. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openScreen, type Screen } from '../src/cli/terminal/screen.ts';
import { systemClock } from '../src/clock.ts';
import { badInput } from '../src/errors.ts';

export const CHECKOUT: string = resolve(import.meta.dirname, '..');
export const AGENT = 'inbox-assistant';
export const MESSAGE =
  'Halden cannot make Thursday. Move the review, draft the reply, note it on their file. Do not send anything.';

const CONFIG = 'onrecord.config.ts';

/** An empty folder with the configuration of the examples. Removes what an earlier run left, and nothing else. */
export const setUpFolder = (folder: string): void => {
  if (existsSync(folder) && !isOurs(folder) && readdirSync(folder).length > 0)
    throw badInput('folder-not-empty', `"${folder}" is not empty and was not made by the demo.`, { folder });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'desks'), { recursive: true });
  const agents = pathToFileURL(join(CHECKOUT, 'examples', 'agents.ts')).href;
  writeFileSync(
    join(folder, CONFIG),
    `import { join } from 'node:path';
import { exampleAgents } from '${agents}';

export default { agents: exampleAgents(join(import.meta.dirname, 'desks')) };
`,
  );
};

/** Whether an earlier run made it. */
export const isOurs = (folder: string): boolean =>
  existsSync(join(folder, CONFIG)) && existsSync(join(folder, 'desks'));

export const screenOf = ({ stdin, stdout, stderr, env }: NodeJS.Process): Screen =>
  openScreen({
    stdin,
    stdout,
    stderr,
    env,
    clock: systemClock,
    color: 'auto',
    ascii: false,
    utc: false,
    quiet: false,
    json: false,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
