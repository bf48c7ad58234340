/** Reports of a suite: the page in a real browser, the summary, and rates of a model that is asked for real. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/event/canonical.ts';
import { ratesOf } from '../../src/cli/exam-lines.ts';
import { scriptedModel } from '../../src/index.ts';
import type { Model } from '../../src/model/model.ts';
import type { Script } from '../../src/model/script.ts';
import { differencesOf, runExams, type ExamReport } from '../../src/suite/exam/exam.ts';
import { examPage } from '../../src/suite/exam/page.ts';
import type { Candidate } from '../../src/suite/exam/play.ts';
import { examSummary } from '../../src/suite/exam/summary.ts';
import { chromium, opened } from '../kit/chromium.ts';
import { tempFolder } from '../kit/folder.ts';
import { shipped } from './exam-stage.ts';

const EVIL = '<img src="http://outside.example/x"><script>document.title="taken"</script>|@all';

const script = (text: string): Script => ({
  name: 'm',
  steps: [
    { calls: [{ tool: 'files.write', args: { path: 'summaries/short.md', new: true, text } }] },
    { text },
  ],
});

const evilReport = async (): Promise<ExamReport> => {
  const candidate = await shipped('research/two-summaries');
  const play = (text: string) => async (): Promise<Candidate> => ({
    ...candidate,
    model: scriptedModel(script(text)),
  });
  const candidates = new Map([
    ['one', play('# Short')],
    [EVIL, play(EVIL)],
  ]);
  return runExams({ exams: [{ name: candidate.scenario.name, candidates }] });
};

test('the page escapes what others wrote and holds no script', async () => {
  const report = await evilReport();
  const differences = differencesOf(report.runs);
  expect(differences).toHaveLength(1);
  const page = examPage(report, differences);
  expect(page).not.toMatch(/<script|<img|<link|@import|url\(/);
  expect(page).toContain('&lt;img src=');
  expect(page).toContain('class="here"');
});

test('each deed leads to the exact request that it came from, where there is something to look at', async () => {
  const candidate = await shipped('research/two-summaries');
  const play = (text: string) => async (): Promise<Candidate> => ({
    ...candidate,
    model: scriptedModel(script(text)),
  });
  const report = await runExams({
    exams: [
      {
        name: 'other',
        candidates: new Map([
          ['one', play('# Short')],
          ['two', play(EVIL)],
        ]),
      },
      { name: 'same', candidates: new Map([['as written', async () => candidate]]) },
    ],
    requests: true,
  });
  const page = examPage(report, differencesOf(report.runs));
  const ids = new Set([...page.matchAll(/<pre id="([^"]+)">/g)].map(([, id]) => id));
  const links = [...page.matchAll(/<a href="#([^"]+)">/g)].map(([, id]) => id);
  expect(links.length).toBeGreaterThanOrEqual(4);
  expect(links.filter((id) => !ids.has(id))).toEqual([]);
  // Two requests of each side; none of the scenario that is as it should be.
  expect([...ids].map((id) => id?.replace(/\d+$/, ''))).toEqual([
    'run-1-request-',
    'run-1-request-',
    'run-2-request-',
    'run-2-request-',
  ]);
  for (const { digest, body = '' } of report.runs.flatMap(({ requests }) => requests)) {
    expect(digest).toBe(sha256(body));
    expect(JSON.parse(body)).toMatchObject({ instructions: expect.any(String) });
  }
  expect(page).not.toMatch(/<img|<script/);
});

test.skipIf(chromium === undefined)(
  'the page opens in a real browser and asks nobody for anything',
  async () => {
    const report = await evilReport();
    const file = join(tempFolder(), 'page.html');
    writeFileSync(file, examPage(report, differencesOf(report.runs)));
    const { dom, log, requests } = await opened(pathToFileURL(file).href);
    expect(requests).toEqual([]);
    expect(log).not.toMatch(/Content Security Policy/);
    expect(dom).toContain('<title>Suite: 1 scenario</title>');
    expect(dom).toContain('<details class="exam  other" open="">');
  },
  120_000,
);

test('the summary is a table that nothing breaks out of', async () => {
  const report = await evilReport();
  const text = examSummary(report, differencesOf(report.runs));
  expect(text).toMatch(/^\*\*✗ 2 of 2 runs did not pass\*\*/);
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  expect(rows.length).toBeGreaterThanOrEqual(5);
  for (const row of rows) expect(row.split('|')).toHaveLength(6);
  expect(text).not.toContain('<img');
  expect(text).not.toContain('@all');
});

/** Answers rightly two times out of three, as a model might that is asked for real. */
const moody = (right: Script, wrong: Script): (() => Model) => {
  let made = 0;
  return () => scriptedModel(++made % 3 === 0 ? wrong : right);
};

test('repeated-runs-of-a-live-model have a rate, its interval and pass^k', async () => {
  const candidate = await shipped('research/two-summaries');
  const agent = await candidate.agent({ desk: join(tempFolder(), 'desk') });
  const model = moody(
    {
      name: 'm',
      steps:
        candidate.scenario.model && 'steps' in candidate.scenario.model ? candidate.scenario.model.steps : [],
    },
    { name: 'm', steps: [{ text: 'I would rather not.' }] },
  );
  expect(agent.definition.name).toBe('research-assistant');
  const made = async (): Promise<Candidate> => ({ ...candidate, model: model(), live: true });
  const { runs } = await runExams({
    exams: [{ name: candidate.scenario.name, candidates: new Map([['live', made]]) }],
    repeat: 6,
    jobs: 1,
  });
  expect(runs.map(({ verdict }) => verdict)).toEqual([
    'passed',
    'passed',
    'failed',
    'passed',
    'passed',
    'failed',
  ]);
  const [rate] = ratesOf(runs);
  expect(rate).toMatchObject({ passed: 4, all: 6, k: 6, power: 0 });
  expect(rate?.low).toBeCloseTo(0.3, 1);
  expect(rate?.high).toBeCloseTo(0.903, 2);
});
