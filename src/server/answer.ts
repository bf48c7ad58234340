/** What routes say in common: descriptions for OpenAPI, and the pieces of an answer. */
import type { z } from '@hono/zod-openapi';
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
