/**
 * Scenarios that are made by code: a module that a suite is named by, whose default export is a function of nothing.
 * For what lies elsewhere (recorded conversations, rows of a table) and for ends that no list of rows can say.
 */
import type { Problem } from './judge.ts';
import type { AgentMaker, Playing } from './play.ts';

/** Looks at a run that has come to rest, beside what the scenario expects. Its folder is gone afterwards. */
export type Check = (playing: Playing) => readonly Problem[] | Promise<readonly Problem[]>;

export type CodedExam = {
  /** What a file of a scenario says, `agent` left out: the schema is the same. */
  readonly scenario: Readonly<Record<string, unknown>>;
  readonly agent: AgentMaker;
  readonly check?: Check;
};

/** `skipped` says in a sentence why there is nothing to examine here. */
export type CodedSuite = { readonly exams: readonly CodedExam[] } | { readonly skipped: string };
