/** What verify found, in words. */
import type { StoreFlaw } from '../log/sqlite-examination.ts';
import type { Finding, Verified } from '../replay/verify.ts';
import { countOf, shortDigest } from '../view/format.ts';
import type { Screen } from './terminal/screen.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs, whole, type Shown } from './terminal/shown.ts';
import { table } from './terminal/table.ts';

/** Findings of one session that are named one by one. */
const FINDINGS_SHOWN_MAX = 20;

export const wholeLines = (found: Verified, full: boolean): Shown[] => {
  const { session, events, blobs, requests, decisions, head } = found;
  return [
    line`${SIGN.ok} The record of ${whole(session)} proves itself: ${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}.`,
    ...(decisions > 0
      ? [line`  ${countOf(decisions, 'decision')} made again, all the same.`]
      : [line`  No decision was made again: it takes every fact.`]),
    ...removedLines(found),
    line`  Head ${whole(shortDigest(head, full))} at event ${events}. Kept elsewhere it proves that nothing is cut off.`,
  ];
};

const removedLines = ({ removed }: Verified): Shown[] => {
  if (removed.events === 0 && removed.blobs === 0) return [];
  const requests =
    removed.requests === 0
      ? own('')
      : line` ${countOf(removed.requests, 'request')} cannot be put together again.`;
  return [
    line`  Removed by rule: content of ${countOf(removed.events, 'event')}, ${countOf(removed.blobs, 'blob')}. Place, time, type and digest of each are proved, what is left of its text is not.${requests}`,
  ];
};

export const damageLines = (found: Verified, look: Screen['look']): Shown[] => {
  const { session, findings, events } = found;
  const places = findings.map(({ seq }) => seq).filter((seq) => seq > 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const rest = findings.length - FINDINGS_SHOWN_MAX;
  const before = first <= 1 ? own('') : line` Events 1 to ${first - 1} are whole.`;
  return [
    line`${SIGN.fail} The record of ${whole(session)} does not prove itself.  ${dim(own('verify-damaged'))}`,
    EMPTY,
    ...findingLines(findings.slice(0, FINDINGS_SHOWN_MAX), look),
    ...(rest > 0 ? [line`  … ${countOf(rest, 'more finding')}`] : []),
    EMPTY,
    line`  ${countOf(findings.length, 'finding')} in ${countOf(events, 'event')}.${before}`,
  ];
};

export const flawLines = (flaws: readonly StoreFlaw[], look: Screen['look']): Shown[] =>
  flaws.length === 0
    ? []
    : [
        line`${SIGN.fail} The store itself is damaged.  ${dim(own('verify-damaged'))}`,
        EMPTY,
        ...findingLines(
          flaws.map((flaw) => ({ seq: 0, ...flaw })),
          look,
        ),
        EMPTY,
      ];

type FindingRow = Omit<Finding, 'kind'> & { readonly kind: string };

export const findingLines = (findings: readonly FindingRow[], look: Screen['look']): readonly Shown[] =>
  table(
    [
      { key: 'seq', align: 'right' },
      { key: 'kind' },
      // A finding is never cut: it may name a digest.
      { key: 'message' },
    ],
    findings.map(({ seq, kind, message }) => ({
      seq: seq === 0 ? dim(own('·')) : dim(seq),
      kind: strong(kind),
      message: theirs(message),
    })),
    { look: { ...look, terminal: false }, indent: 2 },
  ).lines;
