/** The crash matrix over the examples: killed at every boundary; and bugs planted in tools have to be found by it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { crashMatrix, type Matrix } from '../../src/suite/crash/matrix.ts';
import { crashPage, KILLS_LISTED_MAX } from '../../src/suite/crash/report.ts';
import { project, ROOT } from '../cli/project.ts';
import { StageStream } from '../cli/terminal-stage.ts';
import { tempFolder } from '../kit/folder.ts';
import { bad, matrixOf, SMALL } from './boundaries.ts';

const EXAMPLES = [
  SMALL,
  'examples/inbox-assistant/crash.yaml',
  'examples/bookkeeping-clerk/crash.yaml',
  'examples/research-assistant/crash.yaml',
];

describe('killed at every boundary', () => {
  it.each(EXAMPLES)('%s: no effect twice, nothing lost', { timeout: 240_000 }, async (path) => {
    const matrix = await matrixOf(path);
    expect(bad(matrix)).toEqual([]);
    expect(matrix.complete).toBe(true);
    expect(matrix.results.map(({ kill }) => kill)).toEqual(matrix.boundaries.map((_, i) => [i + 1]));
    expect(matrix.boundaries.length).toBeGreaterThan(40);
  });
});

const planted = (name: string): Parameters<typeof crashMatrix>[0] => ({
  text: { name: `planted/${name}`, agent: `./planted.ts#${name}`, turns: ['Write.'], answers: {} },
  home: import.meta.dirname,
  mode: 'simulated',
  twice: false,
});

const verdictsOf = async (name: string): Promise<ReadonlySet<string>> => {
  const { results } = await crashMatrix(planted(name));
  return new Set(results.filter(({ verdict }) => verdict !== 'same-end').map(({ verdict }) => verdict));
};

describe('a planted bug is found', () => {
  it.each([
    ['forgetful', 'asked, it always says that nothing happened', ['twice']],
    ['boastful', 'asked, it always says that it happened', ['lost']],
    ['careless', 'said to be idempotent, it writes again', ['other-end']],
    ['sly', 'said to read only, it writes', ['other-end']],
    ['honest', 'nothing is planted, and nothing is found', []],
  ])('%s: %s', async (name, _, verdicts) => {
    expect(await verdictsOf(name)).toEqual(new Set(verdicts));
  });
});

/** A folder with the planted agents as a scenario. */
const plantedProject = (name: string): ReturnType<typeof project> =>
  project({
    'crash.yaml': `name: planted/${name}\nagent: ./agent.ts#${name}\nturns: [Write.]\n`,
    'agent.ts': `export * from ${JSON.stringify(join(import.meta.dirname, 'planted.ts'))};\n`,
  });

describe('onrecord crash-test', { timeout: 120_000 }, () => {
  it('prints the table and the verdict, and has exit code 0', async () => {
    const ran = await project({}).onrecord('crash-test', join(ROOT, SMALL));
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout.replace(/[\d.]+ (s|ms), seed/, 'TIME, seed')).toBe(`\
crash/stockroom   44 boundaries, 44 single kills

  boundary                          kills  same end  in doubt  twice  lost
  before append of a decision          12        11         1      0     0
  after append of a decision           12        11         1      0     0
  before the model request              3         3         0      0     0
  after the reply, before record        3         3         0      0     0
  before the preview                    1         1         0      0     0
  after the preview, before record      1         1         0      0     0
  between start and effect              4         3         1      0     0
  between effect and record             4         3         1      0     0
  between a command and its record      2         2         0      0     0
  after record of a command             2         2         0      0     0
                                       44        40         4      0     0

✓ No effect ran twice, nothing was lost. 4 ended in doubt, as effect kind once
  says (delivery.call). TIME, seed 20261127.
`);
  });

  it('names each wrong kill with the command that repeats exactly that kill', async () => {
    const office = plantedProject('forgetful');
    const ran = await office.onrecord('crash-test', 'crash.yaml');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('kills ended wrong');
    const commands = [...ran.stdout.matchAll(/^ +onrecord (crash-test crash\.yaml --only (\d+))$/gm)];
    expect(commands.length).toBeGreaterThan(0);
    for (const [, words = '', kill = ''] of commands) {
      const again = await office.onrecord(...words.split(' '));
      expect(again.code).toBe(1);
      expect(again.stdout).toContain(`✗ kill ${kill} `);
      expect(again.stdout).toContain('twice: write 1.1.1, 2 times');
    }
  });

  it('cannot judge a scenario that takes another way each time: exit code 8', async () => {
    const ran = await plantedProject('wandering').onrecord('crash-test', 'crash.yaml');
    expect([ran.code, ran.stdout]).toEqual([8, expect.stringMatching(/^! \d+ kills could not be judged/m)]);
  });

  it('says all of it as one JSON value', async () => {
    const ran = await project({}).onrecord('crash-test', join(ROOT, SMALL), '--only', '20,24', '--json');
    const matrix = JSON.parse(ran.stdout) as Matrix;
    expect(matrix.results).toMatchObject([{ kill: [20, 24], verdict: 'same-end', wrong: false }]);
    expect(matrix.results[0]?.struck.map(({ point }) => point)).toEqual(['call.after', 'command.after']);
  });

  it('keeps to the width of a narrow terminal', async () => {
    const ran = await plantedProject('forgetful').on({ columns: 60 }, 'crash-test', 'crash.yaml');
    const lines = ran.stdout.replaceAll(/\u001B\[[\d;]*m/g, '').split('\n');
    // A command to paste is never wrapped.
    expect(lines.filter((line) => line.length > 60 && !line.includes('onrecord crash-test'))).toEqual([]);
  });

  it('stops at Ctrl C with what was done: exit code 130', async () => {
    const streams = { stdin: new StageStream(), stdout: new StageStream(), stderr: new StageStream() };
    const stage = {
      ...streams,
      argv: ['node', 'onrecord', 'crash-test', join(ROOT, SMALL)],
      env: { TZ: 'UTC' },
      cwd: tempFolder,
      once: (_: string, interrupt: () => void) => interrupt(),
    };
    expect(await main(stage as unknown as NodeJS.Process)).toBe(130);
    expect(streams.stdout.written).toContain('44 boundaries');
    expect(streams.stderr.written).toContain('Interrupted after 0 kills');
  });

  it.each([
    [['--only', '17,17'], 'kill-invalid', 'rising order'],
    [['--only', '0'], 'kill-invalid', 'rising order'],
    [['--only', '45'], 'kill-not-found', 'There is no boundary 45: the scenario has 44'],
    [['--only', '1', '--twice'], 'usage', '--twice goes without it'],
    [['--faults', 'missing.yaml'], 'fault-plan-not-found', 'There is no fault plan missing.yaml'],
    [['--html', 'missing/page.html', '--only', '1'], 'file-not-writable', '"missing/page.html"'],
  ])('%j is refused', async (words, code, message) => {
    const ran = await project({}).onrecord('crash-test', join(ROOT, SMALL), ...words);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(code);
    expect(ran.stderr).toContain(message);
  });

  it.each([
    ['name: x\nagent: ./agent.ts#honest\nturns: [Write.]\nturn: [Write.]', '4:1', 'did you mean "turns"?'],
    ['name: x\nagent: ./agent.ts\nturns: [Write.]', '2:8', './agent.ts#name'],
    ['name: x\nagent: ./agent.ts#honest\nturns: [Write.]\nanswers: { write: maybe }', '4:19', ''],
  ])('a scenario that is written wrong says where: %j', async (text, place, words) => {
    const office = plantedProject('honest');
    office.write('crash.yaml', text);
    const ran = await office.onrecord('crash-test', 'crash.yaml');
    expect(ran.stderr).toContain(`crash.yaml:${place}`);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).toContain('scenario-invalid');
  });

  it.each([
    ['./agent.ts#nobody', 'exports no function called "nobody"'],
    ['./nowhere.ts#agent', './nowhere.ts could not be loaded'],
  ])('an agent that is not there is named: %s', async (agent, words) => {
    const office = plantedProject('honest');
    office.write('crash.yaml', `name: x\nagent: ${agent}\nturns: [Write.]`);
    const ran = await office.onrecord('crash-test', 'crash.yaml');
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain(office.folder);
  });
});

it('a matrix that is stopped keeps what was done', async () => {
  const stop = new AbortController();
  const matrix = await matrixOf(SMALL, {
    signal: stop.signal,
    onProgress: ({ done }) => (done === 5 ? stop.abort() : undefined),
  });
  expect(matrix.results).toHaveLength(5);
  expect(matrix.complete).toBe(false);
});

const styleOf = (page: string): string => /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';

describe('the page', () => {
  it('is written where it was asked for, with everything in it', async () => {
    const office = plantedProject('forgetful');
    const ran = await office.onrecord('crash-test', 'crash.yaml', '--html', 'page.html');
    expect(ran.stderr).toContain('The page is in page.html.');
    const page = readFileSync(join(office.folder, 'page.html'), 'utf8');
    expect(page).toContain('planted/forgetful');
    expect(page).toContain('twice: write 1.1.1, 2 times');
    expect(page).toContain('--only ');
  });

  it('loads nothing, runs nothing, and its policy allows exactly its own style', async () => {
    const page = crashPage(await matrixOf(SMALL, { only: [1] }));
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    const digest = createHash('sha256').update(styleOf(page)).digest('base64');
    expect(policy.replaceAll('&#39;', "'")).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    );
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|style="|https?:|url\(|@import/);
  });

  it('escapes what others wrote, and makes hidden characters visible', async () => {
    const matrix = await matrixOf(SMALL, { only: [1] });
    const evil = `</style><script>alert('"&\u202E\u0000')</script>`;
    const [result] = matrix.results;
    if (!result) throw new Error('there is one');
    const struck = [{ point: 'call.after', what: evil, call: '1.1.1' }] as const;
    const page = crashPage({
      ...matrix,
      scenario: evil,
      results: [{ ...result, struck, verdict: 'twice', wrong: true, detail: evil }],
    });
    expect(page).not.toContain('<script');
    expect(page.split('</style>')).toHaveLength(2);
    expect(page).not.toMatch(/[\u202E\u0000]/);
    expect(page.split('&lt;script&gt;alert(&#39;&quot;&amp;')).toHaveLength(5);
  });

  it('lists no more kills than a page can show, and says how many are left out', async () => {
    const matrix = await matrixOf(SMALL, { only: [1] });
    const [result] = matrix.results;
    if (!result) throw new Error('there is one');
    const many = Array.from({ length: KILLS_LISTED_MAX + 7 }, () => ({
      ...result,
      verdict: 'in-doubt' as const,
    }));
    const page = crashPage({ ...matrix, results: many });
    expect(page.split('<li>')).toHaveLength(KILLS_LISTED_MAX + 1);
    expect(page).toContain('… 7 more');
  });
});
