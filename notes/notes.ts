/** Every note, by number. */
import { note as first } from './1-what-the-model-sees/run.ts';
import { note as second } from './2-what-survives-a-restart/run.ts';
import { note as third } from './3-a-tool-needs-a-room/run.ts';
import { note as fourth } from './4-a-retry-needs-a-name/run.ts';
import { note as fifth } from './5-what-is-reused/run.ts';
import { note as sixth } from './6-what-a-run-costs/run.ts';
import { note as seventh } from './7-another-model/run.ts';
import type { Note } from './kit/note.ts';

export const NOTES: readonly Note[] = [first, second, third, fourth, fifth, sixth, seventh];
