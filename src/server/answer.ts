/** What routes say in common: descriptions for OpenAPI, and the pieces of an answer. */
import { z } from '@hono/zod-openapi';
import type { SessionPlace, SessionRow } from '../log/store.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { problemShape } from './schemas.ts';

type Described = {
  readonly description: string;
  readonly content: { readonly [type: string]: { readonly schema: z.ZodType } };
};

export const json = <T extends z.ZodType>(
  schema: T,
  description: string,
): { description: string; content: { 'application/json': { schema: T } } } => ({
  description,
  content: { 'application/json': { schema } },
});

/** A body that has to be there. */
export const body = <T extends z.ZodType>(
  schema: T,
): { required: true; content: { 'application/json': { schema: T } } } => ({
  required: true,
  content: { 'application/json': { schema } },
});

export const PROBLEM: Described = {
  description: 'What went wrong, as RFC 9457 has it; `code` is stable.',
  content: { [PROBLEM_TYPE]: { schema: problemShape } },
};

/** The header that marks an answer as one that was given before. */
export const REPLAYED = 'idempotent-replayed';

/** The query that leads to the page after this one. */
export const nextPage = (url: string, changes: Readonly<Record<string, string>>): string => {
  const next = new URL(url);
  for (const [name, value] of Object.entries(changes)) next.searchParams.set(name, value);
  return `${next.pathname}${next.search}`;
};

/** A row's place in the list of sessions, as a query names it. */
export const placeOf = ({ session, summary }: SessionRow): string => `${summary.updatedAt},${session}`;

export const placeIn = (text: string): SessionPlace => {
  const comma = text.indexOf(',');
  return { updatedAt: Number(text.slice(0, comma)), session: text.slice(comma + 1) };
};

/** For a query: taken from `next`. */
export const place: z.ZodType<string> = z
  .string()
  .regex(/^(0|[1-9]\d{0,14}),[A-Za-z0-9_.:-]{1,100}$/, 'is no place in the list: take it from `next`')
  .openapi({ description: 'Only what stands behind this place in the list. Taken from `next`.' });
