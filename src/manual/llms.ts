/**
 * The index that coding agents look for (llmstxt.org): a title, a sentence, and the pages as plain Markdown files.
 * `npm run reference` writes it to llms.txt, and it is served as /llms.txt.
 */
import { addressOf, contentsOf, CONTENTS, type Manual, type Page } from './manual.ts';
import { linksOf } from './links.ts';
import { plainText } from './markdown.ts';

const ABOUT =
  'Runs tool-using LLM agents on the record: every step of a session is an event in an append-only log, and everything else is a function of that log.';

const SENTENCE_LENGTH_MAX = 160;

export const llmsText = (manual: Manual): string => {
  const contents = manual.pages.get(CONTENTS);
  const leads = contents ? linksOf(manual, contents) : () => undefined;
  const byAddress = new Map([...manual.pages.values()].map((page) => [addressOf(page.path), page]));
  const seen = new Set<Page>();
  const sections = contentsOf(manual).flatMap(({ title, links }) => {
    const rows = links.flatMap(({ href }) => {
      const page = byAddress.get(leads(href) ?? '');
      if (!page || seen.has(page)) return [];
      seen.add(page);
      const about = aboutOf(page);
      return [`- [${page.title}](${page.path})${about === '' ? '' : `: ${about}`}`];
    });
    return rows.length === 0 ? [] : ['', `## ${title.replace(/\.$/, '')}`, '', ...rows];
  });
  return `${['# Onrecord', '', `> ${ABOUT}`, '', 'Types of every entry point: api/*.txt.', ...sections].join('\n')}\n`;
};

/** The first sentence of a page. */
const aboutOf = ({ tokens }: Page): string => {
  const first = tokens.find(({ type }) => type === 'paragraph');
  const text = plainText(first && 'tokens' in first ? (first.tokens ?? []) : []).replaceAll(/\s+/g, ' ');
  const sentence = /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text;
  const whole = sentence.replace(/:$/, '.');
  return whole.length > SENTENCE_LENGTH_MAX ? '' : whole;
};
