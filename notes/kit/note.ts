/** A note: a question, the experiment that answers it, and the page that says so. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from './bench.ts';
import { Findings } from './findings.ts';
import { ROOT } from './machine.ts';
import { rewritten, stale } from './page.ts';

export type Note = {
  readonly number: number;
  /** Its folder in notes/. */
  readonly name: string;
  readonly run: (bench: Bench, findings: Findings) => Promise<void>;
};

export type Ran = {
  readonly note: Note;
  readonly findings: Findings;
  /** What on the page, or in the evidence beside it, is not what this run wrote; one sentence each. */
  readonly stale: readonly string[];
  /** Where this run's evidence lies. */
  readonly evidence: string;
};

const NOTES = join(ROOT, 'notes');

/** `evidence` is the folder that the evidence goes to, or `write` to put it, and the quotes, where the page is. */
export const runNote = async (
  note: Note,
  bench: Bench,
  place: { readonly evidence: string } | { readonly write: true },
): Promise<Ran> => {
  const findings = new Findings();
  await note.run(bench, findings);
  findings.piece('shown', findings.table());
  findings.varying('shown.txt', `${findings.table()}\n`);
  const page = join(NOTES, note.name, 'README.md');
  const kept = join(NOTES, note.name, 'evidence');
  if ('write' in place) {
    rmSync(kept, { recursive: true, force: true });
    writeFileSync(page, rewritten(readFileSync(page, 'utf8'), findings));
  }
  const evidence = 'write' in place ? kept : join(place.evidence, note.name);
  for (const [path, { text }] of findings.files) {
    mkdirSync(dirname(join(evidence, path)), { recursive: true });
    writeFileSync(join(evidence, path), text);
  }
  await proveBundles(findings, evidence, bench);
  return {
    note,
    findings,
    evidence,
    stale: [...stale(readFileSync(page, 'utf8'), findings), ...staleEvidence(findings, kept)],
  };
};

const BUNDLE = '.onrecord';

const proveBundles = async ({ files, absent }: Findings, evidence: string, bench: Bench): Promise<void> => {
  const bundles = [...files.keys()].filter((path) => path.endsWith(BUNDLE));
  if (bundles.length === 0 && absent.size === 0) throw new Error('A note leaves at least one bundle.');
  const machine = bench.emptyMachine();
  await Promise.all(bundles.map((path) => machine.onrecord(['verify', join(evidence, path)])));
};

const staleEvidence = ({ files, absent }: Findings, kept: string): readonly string[] => {
  if (!existsSync(kept)) return ['There is no evidence beside the page.'];
  const there = new Set(readdirSync(kept, { recursive: true, encoding: 'utf8' }));
  return [...files].flatMap(([path, { text, varies }]) => {
    if (!there.has(path)) return absent.size > 0 ? [] : [`evidence/${path} is not there.`];
    if (varies || readFileSync(join(kept, path), 'utf8') === text) return [];
    return [`evidence/${path} is not what this run wrote.`];
  });
};

/** Every bundle that is kept beside a page. */
export const keptBundles = (): readonly string[] =>
  readdirSync(NOTES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(BUNDLE))
    .sort()
    .map((path) => join(NOTES, path));
