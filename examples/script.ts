/** The script of an example, for a model that needs no key and no network and is the same every time. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Script } from '../src/index.ts';
import { readScript } from '../src/model/script-file.ts';

/** `folder` is the example's own. Throws `script-invalid`. */
export const scriptOf = (folder: string): Script =>
  readScript(readFileSync(join(folder, 'script.yaml'), 'utf8'), `examples/${basename(folder)}/script.yaml`);
