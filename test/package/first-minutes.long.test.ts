/** In an empty folder with the packed tarball: init, run, approve, replay, test, without a wait; the transcript is kept. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { empty, installed, npm, packed, shell, type Said } from './packed.ts';

/**
 * All commands together, in starts of a bare Node on the same machine: two minutes on one that takes a fifth of a
 * second for a start. What npm takes to install is not ours.
 */
const STARTS_MAX = 600;

/** Milliseconds that work takes. */
const lasted = (work: () => unknown): number => {
  const began = performance.now();
  work();
  return performance.now() - began;
};

let tarball: string;
beforeAll(() => {
  tarball = packed();
}, 600_000);

/** What differs from run to run. */
const steady = (text: string): string =>
  text
    .replaceAll(/s_[0-9A-Z]{8}/g, 's_SESSION1')
    .replaceAll(/[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2} \d{4}/g, 'Mon 30 Nov 2026')
    .replaceAll(/\b\d{2}:\d{2}:\d{2} UTC/g, '12:00:00 UTC')
    .replaceAll(/ *\b[\d.]+ m?s\b/g, ' TIME')
    .replaceAll(/\b[0-9a-f]{8}\b/g, 'DIGEST12')
    .replaceAll(/^> .*\n/gm, '')
    .replaceAll(/duration_ms [\d.]+/g, 'duration_ms TIME')
    .replaceAll(/\([\d.]+ms\)/g, '(TIME)')
    .trim();

describe('the first ten minutes', () => {
  it('init, install, start, approve, replay, test', { timeout: 900_000 }, async () => {
    const began = performance.now();
    const stranger = empty('stranger');
    let installingMs = lasted(() => installed(stranger, tarball));
    const transcript: string[] = [];
    const say = (line: string, said: Said): Said => {
      transcript.push(`$ ${line}\n${steady(said.out + said.errors)}\n`);
      return said;
    };
    const made = say(
      'npx onrecord init my-agent --model anthropic',
      shell(stranger, 'onrecord', 'init', 'my-agent', '--model', 'anthropic'),
    );
    expect(made.code).toBe(0);
    const project = join(stranger, 'my-agent');
    installingMs += lasted(() => installed(project));
    const started = say('npm start', npm(project, 'start', '--silent'));
    expect(started.code).toBe(3);
    const [session = ''] = /s_[0-9A-Z]{8}/.exec(started.out) ?? [];
    const waiting = shell(project, 'onrecord', 'approvals', session, '--json');
    const { approvals } = JSON.parse(waiting.out) as { readonly approvals: readonly { digest: string }[] };
    const [{ digest } = { digest: '' }] = approvals;
    const approved = shell(project, 'onrecord', 'approve', session, '--digest', digest.slice(0, 12));
    say(`npx onrecord approve s_SESSION1 --digest DIGEST12`, approved);
    expect(approved.code).toBe(0);
    expect(readFileSync(join(project, '.onrecord/desk/refunds.log'), 'utf8')).toBe('A-7 4900\n');
    const replayed = say('npx onrecord replay --all', shell(project, 'onrecord', 'replay', '--all'));
    expect(replayed.code).toBe(0);
    const suite = say('npx onrecord suite run', shell(project, 'onrecord', 'suite', 'run'));
    expect(suite.code).toBe(0);
    const tested = npm(project, 'test');
    expect([tested.code, tested.out]).toEqual([0, expect.stringMatching(/pass 2[^]*fail 0/)]);
    const checked = npm(project, 'run', 'check');
    expect([checked.code, checked.out]).toEqual([0, expect.any(String)]);
    const ourMs = performance.now() - began - installingMs;
    const startMs = Math.min(...[1, 2, 3].map(() => lasted(() => shell(project, 'node', '--eval', '0'))));
    const starts = Math.round(ourMs / startMs);
    console.info(
      `from an empty folder to a tested agent: ${((ourMs + installingMs) / 1000).toFixed(1)} s, ` +
        `${(installingMs / 1000).toFixed(1)} s of them to install; the rest is ${starts} starts of Node`,
    );
    expect(starts).toBeLessThan(STARTS_MAX);
    await expect(transcript.join('\n')).toMatchFileSnapshot('first-minutes.txt');
  });

  it('init into a folder with a package.json adds to it, and writes over nothing', () => {
    const folder = empty('there');
    installed(folder, tarball);
    expect(shell(folder, 'onrecord', 'init', '.').code).toBe(0);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(manifest.dependencies['onrecord']).toMatch(/^file:/);
    const again = shell(folder, 'onrecord', 'init', '.');
    expect([again.code, again.errors]).toEqual([2, expect.stringContaining('file-exists')]);
    expect(again.errors).toContain('clerk.ts');
  });
});
