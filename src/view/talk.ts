/**
 * A session as a person reads it: who said what, the calls that an answer asked for with how each stands, and what else
 * happened to the turn. One entry an event that says something; long texts are cut, and the cut is counted.
 */
import type { CallId } from '../event/call-id.ts';
import type { SeenLabel } from '../event/definition.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { toolOf } from '../session/state.ts';
import { argumentsBrief, contentText } from './brief.ts';
import { actorName, eventLine, type LineOptions, type Mark } from './event-line.ts';
import type { Reading } from './reading.ts';

export type TalkText = {
  readonly text: string;
  /** Characters (UTF-16 units) of the whole. */
  readonly length: number;
};

export type TalkCall = {
  readonly call: CallId;
  readonly tool: string;
  readonly brief: string;
  readonly mark: Mark;
  /** "done", "waiting for a person", "not run". */
  readonly word: string;
  /** The event that its state stands in. */
  readonly seq: number;
  /** What came back, where something did. */
  readonly result?: TalkText & { readonly labels: readonly SeenLabel[]; readonly seq: number };
};

export type TalkEntry =
  | {
      readonly kind: 'said';
      readonly seq: number;
      readonly at: number;
      readonly who: string;
      readonly said: TalkText;
      readonly labels: readonly SeenLabel[];
      /** Joined a turn that ran. */
      readonly steers: boolean;
    }
  | {
      readonly kind: 'answered';
      readonly seq: number;
      readonly at: number;
      readonly step: number;
      readonly said: TalkText;
      readonly calls: readonly TalkCall[];
    }
  | {
      readonly kind: 'note';
      readonly seq: number;
      readonly at: number;
      readonly mark: Mark;
      readonly text: string;
    };

/** Characters of a text that are shown at once. */
export const TALK_TEXT_MAX = 4000;
/** Of a result: it is background until somebody wants it. */
export const TALK_RESULT_MAX = 1200;

/** The events of a stretch, from a reading that holds them and everything that their calls came to. */
export const talk = (
  reading: Reading,
  events: readonly LogEvent[],
  options: LineOptions = {},
): readonly TalkEntry[] => {
  const closings = closingsOf(events);
  return events.flatMap((event) => entryOf(reading, event, { closings, options }));
};

type Context = {
  /** Events about each call, in order. */
  readonly closings: ReadonlyMap<CallId, readonly LogEvent[]>;
  readonly options: LineOptions;
};

const closingsOf = (events: readonly LogEvent[]): ReadonlyMap<CallId, readonly LogEvent[]> => {
  const found = new Map<CallId, LogEvent[]>();
  for (const event of events)
    if ('call' in event.data) {
      const list = found.get(event.data.call) ?? [];
      list.push(event);
      found.set(event.data.call, list);
    }
  return found;
};

const entryOf = (reading: Reading, event: LogEvent, context: Context): readonly TalkEntry[] => {
  const { seq, at } = event;
  switch (event.type) {
    case 'turn.accepted':
    case 'turn.steered': {
      const { input, by, labels = [] } = event.data;
      const said = cut(contentText(input), TALK_TEXT_MAX);
      const who = actorName(by, context.options);
      return [{ kind: 'said', seq, at, who, said, labels, steers: event.type === 'turn.steered' }];
    }
    case 'response.received': {
      const { content, step } = event.data;
      const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
      const calls = callsOf(reading, event.data, context);
      return [{ kind: 'answered', seq, at, step, said: cut(text, TALK_TEXT_MAX), calls }];
    }
    default:
      return isNote(event) ? [noteOf(reading, event, context.options)] : [];
  }
};

/** What a person should know of who only reads what was said. */
const isNote = (event: LogEvent): boolean => {
  switch (event.type) {
    case 'turn.ended':
      return event.data.outcome !== 'done' || event.data.empty === true;
    case 'session.forked':
    case 'turn.withdrawn':
    case 'turn.cancel_requested':
    case 'mode.changed':
    case 'driver.changed':
    case 'request.failed':
    case 'request.refused':
    case 'selection.changed':
    case 'history.summarised':
    case 'approval.decided':
    case 'grant.revoked':
    case 'call.settled':
    case 'agent.updated':
      return true;
    default:
      return false;
  }
};

const noteOf = (reading: Reading, event: LogEvent, options: LineOptions): TalkEntry => {
  const { seq, mark, who, text } = eventLine(reading, event, options);
  return { kind: 'note', seq, at: event.at, mark, text: who === '' ? text : `${who} ${text}` };
};

/** Calls are counted by their place in the answer, whatever names their provider gave them. */
const callsOf = (
  reading: Reading,
  { content, turn, step }: EventData['response.received'],
  context: Context,
): readonly TalkCall[] =>
  content
    .filter((block) => block.type === 'call')
    .map((block, at) => {
      const id: CallId = `${turn}.${step}.${at + 1}`;
      const { tool, about, args } = reading.call(id);
      const name = tool === '' ? block.name : tool;
      const events = context.closings.get(id) ?? [];
      return {
        call: id,
        tool: name,
        brief: about ?? argumentsBrief(args === '' ? block.args : args),
        ...standing(reading, id, events),
        ...resultOf(reading, name, events),
      };
    });

type Standing = Pick<TalkCall, 'mark' | 'word' | 'seq'>;

const PHASES: Readonly<Record<string, readonly [Mark, string]>> = {
  ready: ['run', 'about to run'],
  'to-ask': ['run', 'being prepared'],
  stale: ['wait', 'to be asked again'],
  asking: ['wait', 'waiting for a person'],
  started: ['run', 'running'],
  ended: ['run', 'running'],
  retrying: ['run', 'to be run again'],
  'in-doubt': ['doubt', 'in doubt'],
  reopened: ['run', 'about to run'],
};

const ENDS: Readonly<Partial<Record<LogEvent['type'], readonly [Mark, string]>>> = {
  'call.failed': ['fail', 'failed'],
  'call.refused': ['fail', 'refused by the tool'],
  'call.rejected': ['fail', 'not run'],
  'call.cancelled': ['cancelled', 'cancelled'],
  'call.withheld': ['cancelled', 'withheld'],
  'approval.expired': ['cancelled', 'lapsed'],
};

const standing = (reading: Reading, id: CallId, events: readonly LogEvent[]): Standing => {
  const last = events.at(-1)?.seq ?? 0;
  const open = reading.openCall(id);
  const phase = open && PHASES[open.phase];
  if (phase) return { mark: phase[0], word: phase[1], seq: last };
  for (const event of events.toReversed()) {
    const end = ENDS[event.type];
    if (end) return { mark: end[0], word: end[1], seq: event.seq };
    if (event.type === 'call.settled') return { mark: 'fact', word: 'settled by a person', seq: event.seq };
    if (event.type === 'call.result' && event.data.outcome.kind === 'ok')
      return { mark: 'ok', word: 'done', seq: event.seq };
    if (event.type === 'call.reconciled' && event.data.answer.happened === true)
      return { mark: 'ok', word: 'done, found out later', seq: event.seq };
    if (event.type === 'approval.decided' && event.data.decision.do === 'reject')
      return { mark: 'cancelled', word: 'rejected', seq: event.seq };
    if (event.type === 'approval.decided' && event.data.decision.do === 'respond')
      return { mark: 'fact', word: 'answered by a person', seq: event.seq };
  }
  return { mark: 'decision', word: 'asked for', seq: last };
};

const resultOf = (reading: Reading, tool: string, events: readonly LogEvent[]): Pick<TalkCall, 'result'> => {
  const event = events.findLast((one) => one.type === 'call.result');
  if (event?.type !== 'call.result') return {};
  const { outcome } = event.data;
  const text = outcome.kind === 'ok' ? contentText(outcome.content) : outcome.message;
  const { untrusted, private: isPrivate } = toolOf(reading.state.agent, tool)?.labels ?? {};
  const labels: readonly SeenLabel[] = [
    ...(untrusted === true ? (['untrusted'] as const) : []),
    ...(isPrivate === true ? (['private'] as const) : []),
  ];
  return { result: { ...cut(text, TALK_RESULT_MAX), labels, seq: event.seq } };
};

const cut = (text: string, max: number): TalkText => ({
  text: text.length <= max ? text : text.slice(0, max).toWellFormed(),
  length: text.length,
});
