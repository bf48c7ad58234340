/** A page that says something else than its run is found out, wherever it says it. */
import { deepEqual } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { Findings } from '../../notes/kit/findings.ts';
import { rewritten, stale } from '../../notes/kit/page.ts';

const PAGE = `# Note 9: A page

It took \`3 attempts\`, see [note 5](../5-x/README.md) and \`npm run notes -- 9\`.

\`\`\`text table
a  1
\`\`\`
`;

const found = (): Findings => {
  const findings = new Findings();
  findings.piece('table', 'a  1');
  findings.figure('3 attempts');
  return findings;
};

test('a page that is what the run wrote has nothing stale', () => {
  expect(stale(PAGE, found())).toEqual([]);
});

test.each([
  [
    'a block with another figure',
    PAGE.replace('a  1', 'a  2'),
    /"table" is stale.\n  page  a  2\n  run   a  1/,
  ],
  [
    'a figure in prose that the run has not',
    PAGE.replace('3 attempts', '4 attempts'),
    /no figure of the run/,
  ],
  ['a figure that nothing checks', PAGE.replace('It took', 'It took 12 ms and'), /outside of backticks/],
  ['a block that is not quoted', PAGE.replace('text table', 'text other'), /does not quote it/],
  [
    'a block that the run did not write',
    `${PAGE}\n\`\`\`text more\nx\n\`\`\`\n`,
    /wrote nothing of that name/,
  ],
])('%s is stale', (_, page, message) => {
  expect(stale(page, found()).join('\n')).toMatch(message);
});

test('quotes are written anew, and nothing else of the page is touched', () => {
  const findings = found();
  findings.piece('table', 'a  7');
  expect(rewritten(PAGE, findings)).toBe(PAGE.replace('a  1', 'a  7'));
});

const without = (what: string): Findings => {
  const findings = new Findings();
  findings.shown(what, 'seen', () => deepEqual(1, 1));
  findings.without('rooms', 'none here', ['room']);
  findings.piece('shown', findings.table());
  return findings;
};

test('where something is absent, its rows may be missing and no other', () => {
  const page = '```text shown\n✓  one  seen\n✓  two  seen in a room\n```\n';
  expect(stale(page, without('one'))).toEqual([]);
  expect(stale(page, without('three')).join()).toMatch(/"shown" is stale/);
});

test('what does not hold is no finding', () => {
  const findings = new Findings();
  expect(() => findings.shown('one is two', 'counting', () => deepEqual(1, 2))).toThrow(/Not so: one is two/);
  expect(findings.claims).toEqual([]);
});
