/** Why a decision may have come out otherwise: what of the agent it depends on, and whether the program is another. */
import type { NewEvent } from '../event/events.ts';
import { isJsonObject } from '../event/json.ts';

export type CauseArea = 'tool-definition' | 'prompt' | 'policy' | 'limits' | 'decider' | 'log-cut';

export type Cause = {
  readonly area: CauseArea;
  /** One clause for people, without a full stop. */
  readonly text: string;
};

/** What stood in the log and what follows today; one of them is undefined where only the other is there. */
export type Sides = {
  readonly recorded: NewEvent | undefined;
  readonly now: NewEvent | undefined;
  /** JSON Pointer into the data of both; empty where they are not of one type. */
  readonly path: string;
};

export type Programs = { readonly recordedBy: string; readonly program: string };

export const causeOf = (sides: Sides, { recordedBy, program }: Programs): Cause => {
  const cause = areaOf(sides);
  if (recordedBy === '' || recordedBy === program) return cause;
  const text = `another program version: recorded by ${recordedBy}, this is ${program}. It shows in ${cause.text}`;
  return { ...cause, text };
};

const areaOf = ({ recorded, now, path }: Sides): Cause => {
  if (!recorded) return { area: 'log-cut', text: 'the log ends before the decision that follows' };
  const types = new Set([recorded.type, now?.type]);
  if (types.has('request.built') && path !== '') return requestArea(path);
  const reasons = [recorded, now].flatMap(reasonOf);
  if (reasons.includes('arguments-schema') || reasons.includes('unknown-tool'))
    return { area: 'tool-definition', text: 'a tool definition: its schema judges the arguments otherwise' };
  if (reasons.includes('denied-by-policy') || path === '/rule' || path === '/do')
    return { area: 'policy', text: 'the policy: a rule judges the call otherwise' };
  if (types.has('approval.requested') && path === '/digest')
    return {
      area: 'tool-definition',
      text: 'a tool definition, a preview or the arguments: the approval is bound to something else',
    };
  if (types.has('turn.ended') && reasons.some((reason) => LIMITED.has(reason)))
    return { area: 'limits', text: 'the limits of the agent: one of them is reached at another place' };
  return {
    area: 'decider',
    text: 'the decider, or an event that was changed after it was written (run onrecord verify)',
  };
};

const requestArea = (path: string): Cause =>
  path.startsWith('/frame')
    ? { area: 'prompt', text: 'the prompt: instructions or tool definitions are rendered otherwise' }
    : { area: 'prompt', text: 'the prompt: the conversation is rendered otherwise' };

const LIMITED: ReadonlySet<string> = new Set([
  'stepsPerTurn',
  'invalidCallsInARow',
  'repeatedCalls',
  'turnMs',
  'turnCostUsd',
]);

const reasonOf = (event: NewEvent | undefined): readonly string[] => {
  const data: unknown = event?.data;
  return isJsonObject(data) && typeof data['reason'] === 'string' ? [data['reason']] : [];
};
