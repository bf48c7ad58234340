/** The shapes of what the window asks for: a session in pieces that stay small, however long it is. */
import { z } from '@hono/zod-openapi';
import type { Usage } from '../event/content.ts';
import type { PartRun } from '../view/part-runs.ts';
import type { OpenWork } from '../view/open-work.ts';
import type { RecordRow } from '../view/record-rows.ts';
import type { SectionHead, StepHead } from '../view/session-index.ts';
import type { TalkEntry } from '../view/talk.ts';
import { grantShape, sessionShape, type GrantView, type SessionView } from './schemas.ts';

export type IndexView = {
  readonly head: number;
  /** Turn and first event of each section behind the one that was asked for, two numbers each. */
  readonly sections: readonly number[];
  /** First events of the steps behind it. */
  readonly steps: readonly number[];
};

export type StandingView = {
  /** The session as it stood at the event. */
  readonly session: SessionView;
  readonly at: number;
  /** The head of the log now. */
  readonly head: number;
  /** Wall time of the event. */
  readonly time: number;
  readonly usage: Usage | null;
  readonly turn: { readonly turn: number; readonly state: string; readonly isActive: boolean } | null;
  /** The request that was built last, counted from 1; 0 before the first. */
  readonly request: number;
  readonly work: readonly OpenWork[];
  /** Where something stands open or went wrong, for the slider. */
  readonly marks: readonly { readonly seq: number; readonly kind: 'wait' | 'doubt' | 'fail' }[];
  readonly model: string;
  readonly mode: string;
  /** Leave for further calls that stood then; some of it may have run out by now. */
  readonly grants: readonly GrantView[];
  readonly parent: { readonly session: string; readonly seq: number } | null;
};

export type RowsView = {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly RecordRow[];
  readonly sections: readonly SectionHead[];
  readonly steps: readonly StepHead[];
};

export type TalkView = {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly TalkEntry[];
  /** Turns that begin in the stretch. */
  readonly sections: readonly SectionHead[];
};

export type FoundView = {
  /** Events that fit, in order; at most so many as the limit says. */
  readonly seqs: readonly number[];
  readonly complete: boolean;
};

export type RequestPartsView = {
  /** Counted from 1; undefined for the one that would be built next. */
  readonly request: number | null;
  readonly requests: number;
  readonly seq: number | null;
  /** When it was built, wall time. */
  readonly at: number | null;
  readonly model: string;
  readonly bytes: number | null;
  readonly sharedBytes: number | null;
  readonly counts: Readonly<Record<string, number>> | null;
  readonly parts: readonly PartRun[];
  readonly answer: {
    readonly seq: number;
    readonly usage: Usage | null;
    readonly cost: number | null;
    readonly firstTokenMs: number | null;
    readonly ms: number;
  } | null;
  /** Why the next one would not be sent. */
  readonly refused: string | null;
};

export type RequestDiffView = {
  readonly request: number;
  readonly against: number | null;
  readonly changes: readonly {
    readonly sign: '=' | '-' | '+';
    /** The event that the part stands for; absent for what stands around the conversation. */
    readonly seq?: number;
    /** Parts that it stands for: equal ones are counted together. */
    readonly count: number;
    readonly text: string;
    readonly length: number;
  }[];
};

const numbers = z.array(z.number().int());
const loose = z.looseObject({});

export const indexShape: z.ZodType<IndexView> = z
  .strictObject({ head: z.number().int(), sections: numbers, steps: numbers })
  .openapi('SessionIndex');

export const standingShape: z.ZodType<StandingView> = z
  .strictObject({
    session: sessionShape,
    at: z.number().int(),
    head: z.number().int(),
    time: z.number(),
    usage: loose.nullable(),
    turn: z.strictObject({ turn: z.number().int(), state: z.string(), isActive: z.boolean() }).nullable(),
    request: z.number().int(),
    work: z.array(loose),
    marks: z.array(z.strictObject({ seq: z.number().int(), kind: z.enum(['wait', 'doubt', 'fail']) })),
    model: z.string(),
    mode: z.string(),
    grants: z.array(grantShape),
    parent: z.strictObject({ session: z.string(), seq: z.number().int() }).nullable(),
  })
  .openapi('Standing') as unknown as z.ZodType<StandingView>;

export const rowsShape: z.ZodType<RowsView> = z
  .strictObject({
    from: z.number().int(),
    to: z.number().int(),
    rows: z.array(loose),
    sections: z.array(loose),
    steps: z.array(loose),
  })
  .openapi('Rows') as unknown as z.ZodType<RowsView>;

export const talkShape: z.ZodType<TalkView> = z
  .strictObject({
    from: z.number().int(),
    to: z.number().int(),
    entries: z.array(loose),
    sections: z.array(loose),
  })
  .openapi('Talk') as unknown as z.ZodType<TalkView>;

export const foundShape: z.ZodType<FoundView> = z
  .strictObject({ seqs: numbers, complete: z.boolean() })
  .openapi('Found');

export const requestPartsShape: z.ZodType<RequestPartsView> = z
  .strictObject({
    request: z.number().int().nullable(),
    requests: z.number().int(),
    seq: z.number().int().nullable(),
    at: z.number().nullable(),
    model: z.string(),
    bytes: z.number().nullable(),
    sharedBytes: z.number().nullable(),
    counts: loose.nullable(),
    parts: z.array(loose),
    answer: loose.nullable(),
    refused: z.string().nullable(),
  })
  .openapi('RequestParts') as unknown as z.ZodType<RequestPartsView>;

export const requestDiffShape: z.ZodType<RequestDiffView> = z
  .strictObject({
    request: z.number().int(),
    against: z.number().int().nullable(),
    changes: z.array(loose),
  })
  .openapi('RequestDiff') as unknown as z.ZodType<RequestDiffView>;
