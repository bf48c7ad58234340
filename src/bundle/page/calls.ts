/** Each call of a session with everything that happened to it, and how it stands in the end. */
import type { CallId } from '../../event/call-id.ts';
import type { Content, Outcome } from '../../event/content.ts';
import type { LogEvent } from '../../event/events.ts';
import { contentText } from '../../context/result-text.ts';
import { eventLine } from '../../view/event-line.ts';
import { argumentsBrief } from '../../view/brief.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { fold, MARK_STATES, pill, type Paper, type State } from './paper.ts';

export type CallStory = { readonly id: CallId; readonly events: LogEvent[] };

/** By call, in the order in which they were asked for. */
export const callStories = (events: readonly LogEvent[]): ReadonlyMap<string, CallStory> => {
  const stories = new Map<string, CallStory>();
  for (const event of events) {
    const id = 'call' in event.data ? event.data.call : undefined;
    if (id === undefined) continue;
    const known = stories.get(id);
    if (known) known.events.push(event);
    else stories.set(id, { id, events: [event] });
  }
  return stories;
};

type Standing = { readonly state: State; readonly words: string };

/** The last event that closes or opens something decides. */
export const standing = ({ events }: CallStory): Standing => {
  for (const event of events.toReversed()) {
    const found = standingOf(event);
    if (found) return found;
  }
  return { state: 'run', words: 'open' };
};

const standingOf = (event: LogEvent): Standing | undefined => {
  switch (event.type) {
    case 'call.result':
      return event.data.outcome.kind === 'ok' ? { state: 'done', words: 'done' } : undefined;
    case 'call.reconciled':
      return event.data.answer.happened === true ? { state: 'done', words: 'found done' } : undefined;
    case 'call.failed':
      return { state: 'fail', words: 'failed' };
    case 'call.rejected':
    case 'call.refused':
      return { state: 'fail', words: 'refused' };
    case 'call.cancelled':
      return { state: 'stop', words: 'cancelled' };
    case 'call.doubted':
      return { state: 'doubt', words: 'in doubt' };
    case 'call.started':
      return { state: 'run', words: 'started' };
    case 'call.retry':
      return { state: 'run', words: 'to be tried again' };
    case 'approval.requested':
      return { state: 'wait', words: 'waiting for a person' };
    case 'approval.decided':
      return decided(event.data.decision.do);
    case 'call.settled':
      return SETTLED[event.data.settlement.answer];
    default:
      return undefined;
  }
};

const decided = (what: string): Standing | undefined => {
  if (what === 'reject') return { state: 'fail', words: 'rejected' };
  return what === 'respond' ? { state: 'done', words: 'answered by a person' } : undefined;
};

const SETTLED: Readonly<Record<string, Standing>> = {
  happened: { state: 'done', words: 'settled: it happened' },
  'not-happened': { state: 'stop', words: 'settled: it did not happen' },
  'give-up': { state: 'doubt', words: 'given up, stays unknown' },
};

/** One call as it stands in the conversation: what, how it ended, and all of it when it is opened. */
export const callMarkup = (paper: Paper, story: CallStory): Markup => {
  const call = paper.reading.call(story.id);
  const { state, words } = standing(story);
  const about = call.about ?? argumentsBrief(call.args);
  const name = call.tool === '' ? 'unknown tool' : call.tool;
  return fold(
    markup`<code class="tool">${name}</code> <span class="about">${about}</span> ${pill(state, words)}`,
    markup`<h4>Arguments</h4>${paper.pretty(call.args === '' ? '{}' : call.args)}
${story.events.map((event) => happened(paper, event))}`,
  );
};

const happened = (paper: Paper, event: LogEvent): Markup => {
  const { mark, who, text, state } = eventLine(paper.reading, event);
  const look = MARK_STATES[mark] ?? '';
  const words = [who, text, state ?? ''].filter((part) => part !== '').join(' ');
  return markup`<div class="step ${look}">${paper.seq(event.seq)}<div><span>${words}</span>${resultMarkup(paper, event)}</div></div>`;
};

export const resultMarkup = (paper: Paper, event: LogEvent): Markup => {
  switch (event.type) {
    case 'call.result':
    case 'call.late':
      return outcomeMarkup(paper, event.data.call, event.data.outcome);
    case 'call.reconciled':
      return event.data.answer.happened === true
        ? contentMarkup(paper, event.data.call, event.data.answer.content)
        : NOTHING;
    case 'approval.decided':
      return event.data.decision.do === 'respond'
        ? contentMarkup(paper, event.data.call, event.data.decision.content)
        : NOTHING;
    case 'call.settled':
      return event.data.settlement.answer === 'happened'
        ? contentMarkup(paper, event.data.call, event.data.settlement.content)
        : NOTHING;
    default:
      return NOTHING;
  }
};

const outcomeMarkup = (paper: Paper, call: CallId, outcome: Outcome): Markup => {
  if (outcome.kind !== 'ok') return outcome.detail === undefined ? NOTHING : paper.block(outcome.detail);
  const cut = outcome.cut
    ? markup`<p class="cap">The model saw ${outcome.cut.kept} of ${outcome.cut.bytes} bytes.</p>`
    : NOTHING;
  return markup`${contentMarkup(paper, call, outcome.content)}${cut}`;
};

const contentMarkup = (paper: Paper, call: CallId, content: readonly Content[]): Markup => {
  const { tool } = paper.reading.call(call);
  const text = contentText(content);
  if (text === '') return markup`<p class="cap">An empty result.</p>`;
  if (!labelsOf(paper, tool).untrusted) return paper.pretty(text);
  return paper.outside(text, markup`<span>untrusted, result of <code>${tool}</code></span>`);
};

export const labelsOf = (
  { reading }: Paper,
  tool: string,
): { readonly untrusted: boolean; readonly private: boolean } =>
  reading.state.agent.tools.find(({ name }) => name === tool)?.labels ?? { untrusted: false, private: false };
