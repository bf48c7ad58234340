/** The console as a process, for cases about commands. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../cli/project.ts';

export type Refused = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly storeMade: boolean;
};

/** `onrecord import` of a file with this text, in a folder of its own. */
export const importedOrRefused = async (name: string, text: string): Promise<Refused> => {
  const place = project({ [name]: text });
  const { code, stdout, stderr } = await place.start('import', name).done;
  return { code, stdout, stderr, storeMade: existsSync(join(place.folder, '.onrecord')) };
};
