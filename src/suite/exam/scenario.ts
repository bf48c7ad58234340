/**
 * A scenario of a suite, as it is written in YAML 1.2: who is examined, on what desk, what people say and decide,
 * what goes wrong, and what must come of it. The schema is closed. Secrets have no place in it: a live model takes
 * its key from where it always does.
 */
import { z } from 'zod';
import { MODES, type Mode, type SeenLabel } from '../../event/definition.ts';
import type { JsonObject } from '../../event/json.ts';
import type { Script } from '../../model/script.ts';
import { scriptSteps } from '../../model/script-file.ts';
import { faultPlanSchema, type Fault } from '../fault-plan.ts';
import { expectSchema, type Expect } from './expect.ts';

const ACTIONS_MAX = 100;
const WAIT = /^([1-9]\d{0,8}) ?(s|m|min|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5 };

/** What a person says to a question. `leave` leaves it open. */
export type AnswerText =
  | 'approve'
  | 'reject'
  | 'leave'
  | { readonly reject: string }
  /** Members that take the place of those of the arguments. */
  | { readonly edit: JsonObject }
  | { readonly respond: string };

/** What happens to a session from outside, in order; after each the session is driven until it rests. */
export type Action =
  | string
  /** With `rest: false` it only waits in the queue. */
  | {
      readonly say: string;
      readonly labels?: readonly SeenLabel[];
      readonly when?: 'queue' | 'steer';
      readonly rest?: boolean;
    }
  /** Time passes: "5h". */
  | { readonly wait: string }
  | { readonly cancel: string }
  | { readonly mode: Mode }
  /** History is to be summarised before the next request. */
  | { readonly compact: true }
  /** Every call in doubt is settled so. */
  | { readonly settle: 'happened' | 'not-happened' | 'give-up' }
  /** Somebody else changes files on the desk meanwhile; null removes one. */
  | { readonly change: Readonly<Record<string, string | null>> };

export type MailText = {
  /** Below the desk: "mail/one.eml". */
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** As a header has it. Default: the moment of `clock`. */
  readonly date?: string;
  readonly text: string;
};

/** The desk before anything is said: a folder, then whatever the agent's own function makes, then these. */
export type DeskText = {
  /** A folder beside the scenario. */
  readonly from?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly mail?: readonly MailText[];
  /** iCalendar text that is taken over into the database at the path. */
  readonly calendar?: readonly { readonly at: string; readonly zone?: string; readonly ics: string }[];
};

export type ModelText =
  | { readonly script: string }
  | { readonly steps: Script['steps'] }
  /** "provider/model": asked for real. */
  | { readonly live: string };

/** What is no difference between two runs, beside wording, ids and times. */
export type NoiseText = {
  /** `order` (default): which reads there were counts, in what order does not. `all`: reads do not count. */
  readonly reads?: 'order' | 'all' | 'none';
  /** Arguments whose words do not count: "mail.draft /body". */
  readonly words?: readonly string[];
};

export type ExamScenario = {
  readonly name: string;
  readonly about?: string;
  readonly tags?: readonly string[];
  /** "./agent.ts#inboxAssistant", a function of { desk, model }, or the path of an agent file. */
  readonly agent: string;
  readonly model?: ModelText;
  readonly desk?: DeskText;
  /** A file beside the scenario with the results of a real session: then no tool runs. */
  readonly recorded?: string;
  /** The moment at which it begins. */
  readonly clock: string;
  /** Hosts that tools may reach. */
  readonly network: readonly string[];
  readonly person: { readonly name: string; readonly roles?: readonly string[] };
  readonly turns: readonly Action[];
  /** By call ("1.3.1"), by tool, or `default`. */
  readonly answers: Readonly<Record<string, AnswerText>>;
  readonly faults?: readonly Fault[];
  readonly noise: NoiseText;
  readonly expect: Expect;
};

const text = z.string().min(1);
/** Relative, and never out of the desk. */
export const deskPath: z.ZodType<string> = z
  .string()
  .regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\\\0]+$/, 'must be a path below the desk, without ".."');

const answer = z.union(
  [
    z.enum(['approve', 'reject', 'leave']),
    z.strictObject({ reject: text }),
    z.strictObject({ edit: z.record(z.string(), z.json()) }),
    z.strictObject({ respond: text }),
  ],
  'must be approve, reject, leave, { reject: reason }, { edit: { ... } } or { respond: text }',
);

const action = z.union(
  [
    text,
    z.strictObject({
      say: text,
      labels: z.array(z.enum(['untrusted', 'private'])).optional(),
      when: z.enum(['queue', 'steer']).optional(),
      rest: z.boolean().optional(),
    }),
    z.strictObject({ wait: z.string().regex(WAIT, 'must be a length of time: 90s, 15m, 5h') }),
    z.strictObject({ cancel: text }),
    z.strictObject({ mode: z.enum(MODES) }),
    z.strictObject({ compact: z.literal(true) }),
    z.strictObject({ settle: z.enum(['happened', 'not-happened', 'give-up']) }),
    z.strictObject({ change: z.record(deskPath, z.string().nullable()) }),
  ],
  'must be a message, or one of { say }, { wait }, { cancel }, { mode }, { compact }, { settle }, { change }',
);

const desk = z.strictObject({
  from: text.optional(),
  files: z.record(deskPath, z.string()).optional(),
  mail: z
    .array(
      z.strictObject({
        at: deskPath,
        from: text,
        to: text,
        subject: text,
        date: text.optional(),
        text: z.string(),
      }),
    )
    .optional(),
  calendar: z.array(z.strictObject({ at: deskPath, zone: text.optional(), ics: text })).optional(),
});

/** 27 November 2026, 14:00 UTC. */
const CLOCK = '2026-11-27T14:00:00Z';

export const examSchema: z.ZodType<ExamScenario> = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9/-]{0,99}$/, 'must be 1 to 100 of a-z, 0-9, "-" and "/"'),
  about: text.optional(),
  tags: z.array(text).optional(),
  agent: text,
  model: z
    .union(
      [
        z.strictObject({ script: text }),
        z.strictObject({ steps: scriptSteps }),
        z.strictObject({ live: text }),
      ],
      'must be { script: FILE }, { steps: [ ... ] } as a script has them, or { live: provider/model }',
    )
    .optional(),
  desk: desk.optional(),
  recorded: text.optional(),
  clock: z.iso.datetime('must be a moment in UTC: 2026-11-27T14:00:00Z').default(CLOCK),
  network: z.array(text).default([]),
  person: z.strictObject({ name: text, roles: z.array(text).optional() }).default({ name: 'examiner' }),
  turns: z.array(action).min(1).max(ACTIONS_MAX),
  answers: z.record(text, answer).default({}),
  faults: faultPlanSchema.optional(),
  noise: z
    .strictObject({
      reads: z.enum(['order', 'all', 'none']).optional(),
      words: z
        .array(z.string().regex(/^\S+ \/\S*$/, 'must be a tool and a JSON Pointer: "mail.draft /body"'))
        .optional(),
    })
    .default({}),
  expect: expectSchema,
}) as unknown as z.ZodType<ExamScenario>;

/** Milliseconds of a length of time that the schema has accepted. */
export const waitMs = (given: string): number => {
  const [, digits, unit = ''] = WAIT.exec(given) ?? [];
  return Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
};
