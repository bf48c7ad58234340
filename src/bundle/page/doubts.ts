/** Calls of which nobody knew whether they had happened: what was known, and how it was settled. */
import { callPosition } from '../../event/call-id.ts';
import type { LogEvent } from '../../event/events.ts';
import { idempotencyKey } from '../../effect/key.ts';
import { positionWords } from '../../view/card-words.ts';
import { eventLine } from '../../view/event-line.ts';
import { markup, type Markup } from '../../view/markup.ts';
import { resultMarkup, standing, type CallStory } from './calls.ts';
import { fields, pill, section, type Paper } from './paper.ts';

export const doubtSection = (paper: Paper, stories: ReadonlyMap<string, CallStory>): Markup => {
  const doubtful = [...stories.values()].filter(({ events }) =>
    events.some(({ type }) => type === 'call.doubted'),
  );
  return section({ id: 'doubts', title: 'In doubt' }, [
    doubtful.length === 0
      ? markup`<p class="cap">No call was in doubt: of every call that was started it is known how it ended.</p>`
      : markup`${doubtful.map((story) => card(paper, story))}`,
  ]);
};

const OF_INTEREST: ReadonlySet<LogEvent['type']> = new Set([
  'call.started',
  'call.result',
  'call.late',
  'call.reconciled',
  'call.doubted',
  'call.settled',
  'call.retry',
  'call.failed',
]);

const card = (paper: Paper, story: CallStory): Markup => {
  const { reading } = paper;
  const call = reading.call(story.id);
  const { state, words } = standing(story);
  const told = story.events.filter(({ type }) => OF_INTEREST.has(type));
  return markup`<article class="card" aria-label="Call ${story.id} in doubt"><header><p class="line">${pill(state, words)} <span>${positionWords(callPosition(story.id))}</span></p>
<h3>Did ${call.tool} happen?</h3></header>
<div class="blk">${fields([
    ['Acts on', call.about],
    ['Key', idempotencyKey(reading.state.session, story.id, call.args)],
    ['Arguments', paper.pretty(call.args)],
  ])}</div>
<div class="blk">${told.map((event) => line(paper, event))}</div></article>
`;
};

const line = (paper: Paper, event: LogEvent): Markup => {
  const { who, text } = eventLine(paper.reading, event);
  return markup`<div class="step">${paper.seq(event.seq)}<div><span>${paper.clock(event.at)} ${[who, text].filter((part) => part !== '').join(' ')}</span>${resultMarkup(paper, event)}</div></div>`;
};
