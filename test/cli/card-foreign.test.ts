/**
 * What the eye sees is what runs: cards whose every text is hostile reach a terminal as text alone, lose nothing, and
 * stay exact in JSON.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardBody, cardHead, type CardOptions } from '../../src/cli/approval-card.ts';
import { conditionLines } from '../../src/cli/grant.ts';
import { cells } from '../../src/cli/terminal/cells.ts';
import { safeJson } from '../../src/cli/terminal/json.ts';
import { line, type Shown } from '../../src/cli/terminal/shown.ts';
import { canonicalStrict, parseStrict } from '../../src/event/strict.ts';
import type { Digest } from '../../src/event/canonical.ts';
import type { PreviewBlock } from '../../src/tool/preview.ts';
import type { Approval } from '../../src/view/approval.ts';
import { reveal } from '../../src/view/reveal.ts';
import { toolDefinition } from '../kit/story.ts';
import { ALL_TERMINALS, forbiddenIn, stage, type StageOptions } from './terminal-stage.ts';

const ATTACKS = [
  '\u001b]0;pwned\u0007\u001b[2K\rApproved, recorded as event 9. 0 left.',
  '\u001b]8;;https://evil.example\u001b\\halden.example',
  'rm -rf ./data \u202e gnp.oedarap/\u200b',
  `pay ok${' '.repeat(300)}and 9,000 more`,
  'ha1den.example and hаlden.example, <U+202E> <12 spaces>',
  '\b\b\u007f\u0085\u2028\u{e0041}\ud800 \udfff\ufeff',
];

const hostile: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...ATTACKS, '\n', '\r\n', '\t', '\u009b', '\u0338', '漢', 'é', ' ', '"', "'", '│'),
      fc.string({ unit: 'binary', maxLength: 10 }),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));

const block: fc.Arbitrary<PreviewBlock> = fc.tuple(hostile, hostile, hostile).chain(([a, b, c]) =>
  fc.constantFrom<PreviewBlock>(
    { kind: 'text', title: a, text: b },
    { kind: 'fields', fields: [{ name: a, value: b, warning: c }] },
    { kind: 'diff', path: a, patch: b, added: 1, removed: 1, newFile: true },
    {
      kind: 'diff',
      path: a,
      // One line each: a patch of its own making, with the text as it stands.
      patch: `--- x\n+++ x\n@@ -1 +1 @@\n-${b.replaceAll('\n', ' ')}\n+${c.replaceAll('\n', ' ')}\n`,
      added: 1,
      removed: 1,
      newFile: false,
    },
    {
      kind: 'cells',
      path: a,
      changes: [{ row: 1, key: b, column: c, before: b, after: a }],
      newRows: 0,
      untouchedRows: 3,
    },
    {
      kind: 'mail',
      from: a,
      to: [b],
      cc: [c],
      bcc: [a],
      replyTo: b,
      subject: c,
      body: a,
      attachments: [{ name: b, bytes: 1 }],
    },
    {
      kind: 'calendar',
      before: { title: a, when: b, where: c },
      after: { title: b, when: c, utc: a, repeats: b },
      conflicts: [c],
    },
    { kind: 'http', method: a, url: b, headers: [[c, a]], body: b },
  ),
);

const DIGEST = 'a'.repeat(64) as Digest;

const card: fc.Arbitrary<Approval> = fc
  .record({
    texts: fc.array(hostile, { minLength: 12, maxLength: 12 }),
    blocks: fc.option(fc.array(block, { maxLength: 3 }), { nil: undefined }),
    fourEyes: fc.boolean(),
  })
  .map(({ texts, blocks, fourEyes }) => {
    const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = '', i = '', j = '', k = '', l = ''] =
      texts;
    const parsed = parseStrict(
      JSON.stringify({ [a.toWellFormed()]: b.toWellFormed(), list: [c.toWellFormed()] }),
    );
    const args = parsed.ok ? canonicalStrict(parsed.value) : '{}';
    const by = { kind: 'person', name: e } as const;
    return {
      session: d,
      agent: e,
      title: f,
      call: '1.1.1',
      maker: undefined,
      position: { turn: 1, step: 1, index: 1 },
      tool: g,
      definition: toolDefinition('t', { egress: true }),
      args,
      preview: blocks && { title: h, target: i, blocks, warnings: [j] },
      base: undefined,
      rule: k,
      reason: l,
      terms: {
        by: [a, `role:${b}`],
        fourEyes,
        expiresAt: 2000,
        escalates: { at: 1500, to: [c] },
        escalated: { seq: 3, at: 1200, to: [d] },
      },
      asker: { kind: 'person', name: f },
      seen: ['untrusted', 'private'],
      digest: DIGEST,
      askedSeq: 3,
      askedAt: 1000,
      round: 2,
      edits: [{ seq: 2, at: 900, by, before: '{"x":1}', after: args }],
      outside: [
        { seq: 1, tool: i, call: '1.1.1', labels: ['untrusted'], length: 9, quote: j, argument: k },
        { seq: 2, tool: l, call: '1.1.1', labels: ['private'], length: 9 },
      ],
      grants: [
        {
          call: '1.1.1',
          tool: g,
          definition: DIGEST,
          rule: 'r',
          when: [{ at: `/${h}`, equals: i.slice(0, 20) }],
          expiresAt: 5000,
          by,
          seq: 2,
          at: 1000,
        },
      ],
      before: {
        digest: DIGEST,
        decided: { seq: 2, at: 900, by, digest: DIGEST, decision: { do: 'approve' } },
        changes: [{ what: 'base' }],
      },
      known: ['halden.example', a],
    } satisfies Approval;
  });

const linesOf = (approval: Approval, look: CardOptions['look']): Shown[] => {
  const options: CardOptions = {
    look,
    time: (ms) => `t${ms}`,
    deadline: (ms) => `d${ms}`,
    now: 1100,
    me: 'me',
  };
  return [
    ...cardHead(approval, line`1 of 1   `, options),
    ...cardBody(approval, look),
    ...approval.grants.flatMap(({ when }) => conditionLines(when, look)),
  ];
};

const printed = (approval: Approval, options: StageOptions): string => {
  const { screen, stdout } = stage(options);
  screen.out(...linesOf(approval, screen.look));
  return stdout.written;
};

/** Without what wrapping, margins and columns add. */
const bare = (text: string): string => text.replaceAll(/[\s│]/gu, '');

/** Texts of a card that are shown word for word, wherever they stand. */
const textsOf = (approval: Approval): readonly string[] => [
  approval.session,
  approval.agent,
  approval.tool,
  approval.rule,
  approval.reason ?? '',
  ...(approval.terms.by ?? []).map((name) => name.replace(/^role:/, '')),
  ...approval.outside.flatMap(({ quote = '', argument = '', tool = '' }) => [
    quote,
    argument,
    quote === '' ? '' : tool,
  ]),
  ...(approval.preview?.warnings ?? []),
  approval.preview?.target ?? '',
  ...stringsIn(approval.preview?.blocks ?? []),
];

/** Kinds and diff patches aside, whose lines stand apart. */
const stringsIn = (value: unknown, key = ''): string[] => {
  if (typeof value === 'string') return key === 'kind' || key === 'patch' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => stringsIn(inner, name));
};

const shownIn = (whole: string, written: string): boolean =>
  whole
    .replaceAll('\r\n', '\n')
    .split('\n')
    .every((words) =>
      // Behind a word of ours a combining mark has something to stand on.
      [words, ` ${words}`].some((text) =>
        [reveal(text), reveal(text, { indent: true })].some((one) => written.includes(bare(one))),
      ),
    );

describe('a card of hostile texts', { timeout: 120_000 }, () => {
  it('reaches a terminal as text alone, at any width, with colours of ours or none', () => {
    fc.assert(
      fc.property(card, fc.constantFrom(60, 80, 120), (approval, columns) => {
        expect(forbiddenIn(printed(approval, { terminals: ALL_TERMINALS, columns }), true)).toBeUndefined();
        expect(forbiddenIn(printed(approval, {}), false)).toBeUndefined();
        expect(printed(approval, { ascii: true })).toMatch(/^[\n -~]*$/);
      }),
      { numRuns: 150 },
    );
  });

  it('loses nothing: every text stands on the screen, wrapped and made visible', () => {
    fc.assert(
      fc.property(
        card,
        fc.constantFrom<StageOptions>({}, { terminals: ALL_TERMINALS, columns: 80 }),
        (approval, options) => {
          const written = bare(printed(approval, { ...options, color: 'never' }));
          for (const text of textsOf(approval)) {
            const whole =
              text.split('\n').length === 1
                ? shownIn(text, written)
                : shownIn(text, written) || written.includes(bare(reveal(text)));
            expect({ text, whole }).toEqual({ text, whole: true });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('keeps its lines within the terminal, but for tables and diffs that are never cut', () => {
    fc.assert(
      fc.property(card, fc.constantFrom(60, 80, 120), (approval, columns) => {
        const { screen } = stage({ terminals: ALL_TERMINALS, columns });
        const options: CardOptions = {
          look: screen.look,
          time: (ms) => `t${ms}`,
          deadline: (ms) => `d${ms}`,
          now: 1100,
          me: 'me',
        };
        for (const shown of cardHead({ ...approval, edits: [] }, line`1 of 1   `, options))
          expect({ plain: shown.plain, fits: cells(shown) <= columns }).toMatchObject({ fits: true });
      }),
      { numRuns: 100 },
    );
  });

  it('is exact in JSON, in characters that are safe', () => {
    fc.assert(
      fc.property(card, (approval) => {
        const written = safeJson({ approvals: [approval] });
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ approvals: [approval] })));
        expect(forbiddenIn(written, false)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});
