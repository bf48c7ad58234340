/** A report as Markdown, for a pull request: the verdict, a table of what did not pass or differs, and sums. */
import { countOf, formatCost, formatDuration } from '../../view/format.ts';
import { reveal } from '../../view/reveal.ts';
import type { ExamReport, PairDifference } from './exam.ts';

/** Rows of the table; a comment of a code host has little room. */
export const ROWS_MAX = 50;
const WORDS_MAX = 300;

/** One cell: nothing in it ends the cell, begins a tag or names a person. */
const cell = (text: string): string => {
  const cut = text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}…` : text;
  return reveal(cut)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|@#!~]/g, (character) => `&#${character.codePointAt(0) ?? 0};`);
};

export const examSummary = ({ runs, ms }: ExamReport, differences: readonly PairDifference[]): string => {
  const bad = runs.filter(({ verdict }) => verdict !== 'passed');
  const rows = [
    ...bad.map(({ scenario, model, verdict, problems: [first] }) => [
      scenario,
      model,
      verdict,
      first ? `${first.expectation}: ${first.message}` : '',
    ]),
    ...differences.map(({ scenario, models, divergence }) => [
      scenario,
      models.join(' and '),
      'first difference',
      `${divergence.other?.what ?? divergence.one?.what ?? divergence.path}: ${divergence.cause}`,
    ]),
  ];
  const sum = runs.reduce((all, { cost }) => all + (cost ?? 0), 0);
  const head =
    bad.length === 0
      ? `✓ ${countOf(runs.length, 'run')} passed`
      : `✗ ${bad.length} of ${countOf(runs.length, 'run')} did not pass`;
  return [
    `**${head}** (${formatCost(sum)}, ${formatDuration(ms)})`,
    '',
    ...(rows.length > 0 ? ['| scenario | model | outcome | why |', '| --- | --- | --- | --- |'] : []),
    ...rows.slice(0, ROWS_MAX).map((row) => `| ${row.map(cell).join(' | ')} |`),
    ...(rows.length > ROWS_MAX ? ['', `… ${rows.length - ROWS_MAX} more`] : []),
    '',
  ].join('\n');
};
