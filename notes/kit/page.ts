/**
 * The page of a note, held against what its run wrote. Two rules:
 * 1. a fenced block `text NAME` is the piece of that name, whole, and every piece of the run stands on the page;
 * 2. a digit outside of blocks, headings, links and commands stands in backticks, and the words in them are a figure
 *    of the run. So no page has a number that nobody measured.
 */
import type { Findings } from './findings.ts';

const FENCE = /^```text ([\w-]+)\n([^]*?)^```$/gm;
const ANY_FENCE = /^```[^]*?^```$/gm;
const CODE = /`([^`\n]+)`/g;
/** Commands and paths: they are not figures. */
const COMMAND = /^(?:[A-Z_]+=\S* )*(?:npm|npx|onrecord) |^[A-Z_]+=\w+$|^[\w./-]+\/[\w./-]*$/;

/** What is stale, one sentence each; empty where nothing is. */
export const stale = (page: string, findings: Findings): readonly string[] => {
  const quoted = new Map([...page.matchAll(FENCE)].map(([, name = '', text = '']) => [name, text]));
  return [
    ...[...findings.pieces].flatMap(([name, text]) => {
      const found = quoted.get(name);
      if (found === undefined) return [`The run wrote "${name}", and the page does not quote it.`];
      return found === text || isFewer(name, found, { text, findings })
        ? []
        : [`"${name}" is stale.\n${difference(found, text)}`];
    }),
    ...[...quoted.keys()].flatMap((name) =>
      findings.pieces.has(name) || findings.absent.has(name)
        ? []
        : [`The page quotes "${name}", and the run wrote nothing of that name.`],
    ),
    ...staleFigures(page, findings),
  ];
};

/** Where something is absent here, the table of claims has other rows for it; all that was shown stands on the page. */
const isFewer = (
  name: string,
  found: string,
  { text, findings }: { readonly text: string; readonly findings: Findings },
): boolean => {
  if (name !== 'shown' || !findings.claims.some(({ state }) => state === 'absent')) return false;
  const lines = new Set(found.split('\n').map(squeezed));
  return text
    .split('\n')
    .filter((line) => !line.startsWith('✗'))
    .every((line) => lines.has(squeezed(line)));
};

/** Without the widths of columns. */
const squeezed = (line: string): string => line.replaceAll(/ {2,}/g, '  ').trim();

const staleFigures = (page: string, { figures, absent }: Findings): readonly string[] => {
  const prose = page
    .replaceAll(ANY_FENCE, '')
    .replaceAll(/^#+ .*$/gm, '')
    .replaceAll(/\[[^\]]*\]\([^)]*\)/g, '');
  const codes = [...prose.matchAll(CODE)].map(([, words = '']) => words);
  const unknown = codes.filter((words) => /\d/.test(words) && !COMMAND.test(words) && !figures.has(words));
  const loose = prose
    .replaceAll(CODE, '')
    .split('\n')
    .filter((line) => /\d/.test(line));
  // A figure may be of something that is not there.
  const wrong = absent.size > 0 ? [] : unknown;
  return [
    ...wrong.map(
      (figure) => `\`${figure}\` is no figure of the run. It has: ${[...figures].join('; ') || 'none'}.`,
    ),
    ...loose.map((line) => `A figure stands outside of backticks, where nothing checks it: "${line.trim()}"`),
  ];
};

const difference = (found: string, now: string): string => {
  const [before, after] = [found.split('\n'), now.split('\n')];
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `  page  ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `  run   ${line}`),
  ].join('\n');
};

/** The page with its blocks as the run wrote them. Figures in prose are for a person to change. */
export const rewritten = (page: string, { pieces }: Findings): string =>
  page.replaceAll(FENCE, (block: string, name: string) => {
    const text = pieces.get(name);
    return text === undefined ? block : `\`\`\`text ${name}\n${text}\`\`\``;
  });
