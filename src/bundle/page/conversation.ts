/** The session as a person reads it: what was said in full, and each call with how it ended. */
import type { ResponseBlock } from '../../event/content.ts';
import type { EventData, LogEvent } from '../../event/events.ts';
import { callId, innerCallId, type CallId } from '../../event/call-id.ts';
import { contentText } from '../../context/result-text.ts';
import { eventLine, type EventLine } from '../../view/event-line.ts';
import { formatCost, formatDuration } from '../../view/format.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { turnHead, type TurnHead } from '../../view/session-head.ts';
import { callMarkup, type CallStory } from './calls.ts';
import { fold, MARK_STATES, pill, type Paper, type State } from './paper.ts';

const TURN_STATES: Readonly<Record<TurnHead['state'], State>> = {
  'in doubt': 'doubt',
  waiting: 'wait',
  running: 'run',
  queued: 'stop',
  done: 'done',
  failed: 'fail',
  refused: 'fail',
  stopped: 'fail',
  cancelled: 'stop',
  withdrawn: 'stop',
};

export function* conversation(paper: Paper, stories: ReadonlyMap<string, CallStory>): Generator<Markup> {
  yield markup`<section id="conversation" aria-labelledby="conversation-h"><h2 id="conversation-h">Conversation <small>as a person reads it</small></h2>
`;
  const above = paper.firstShown - 1;
  if (above > 0)
    yield markup`<p class="cap">The first ${above} events are not on this page. The bundle has all of them.</p>`;
  let turn = 0;
  for (const event of paper.reading.events.slice(above)) {
    const at = event.type === 'turn.accepted' ? event.data.turn : paper.reading.placeOf(event.seq).turn;
    const said = saidMarkup(paper, event, stories);
    if (said === NOTHING) continue;
    if (at !== turn && at > 0) {
      if (turn > 0) yield markup`</article>`;
      turn = at;
      yield markup`<article class="turn" aria-label="Turn ${String(turn)}">${turnMarkup(paper, turn)}`;
    }
    yield said;
  }
  if (turn > 0) yield markup`</article>`;
  yield markup`</section>
`;
}

export const turnMarkup = (paper: Paper, turn: number): Markup => {
  const head = turnHead(paper.reading, turn);
  if (!head) return NOTHING;
  const { from, to, at, state, cost } = head;
  const price = cost === '' ? '' : cost === 'unknown' ? ' · cost unknown' : ` · ${cost}`;
  return markup`<h3 class="turnh"><span>Turn ${String(turn)}</span> ${pill(TURN_STATES[state], state)} <small>events ${String(from)}–${String(to)} · ${paper.moment(at)}${price}</small></h3>
`;
};

const saidMarkup = (paper: Paper, event: LogEvent, stories: ReadonlyMap<string, CallStory>): Markup => {
  switch (event.type) {
    case 'turn.accepted':
      return message(paper, { event, look: 'you', who: event.data.by.name }, [
        markup`<div class="said">${paper.text(contentText(event.data.input))}</div>`,
      ]);
    case 'response.received':
      return answer(paper, event, event.data, stories);
    case 'request.failed':
    case 'driver.changed':
    case 'turn.cancel_requested':
    case 'agent.updated':
      return note(paper, eventLine(paper.reading, event));
    case 'turn.ended':
      return event.data.outcome === 'done' && !event.data.empty
        ? NOTHING
        : note(paper, eventLine(paper.reading, event));
    default:
      return NOTHING;
  }
};

type Message = {
  readonly event: LogEvent;
  readonly look: string;
  readonly who: string;
  readonly note?: string;
};

const message = (
  paper: Paper,
  { event, look, who, note: said }: Message,
  inside: readonly Markup[],
): Markup =>
  markup`<div class="msg ${look}">${paper.seq(event.seq)}<div class="body"><p class="who"><b>${who}</b>${said === undefined ? NOTHING : markup` <small>${said}</small>`} <small>${paper.clock(event.at)}</small></p>${inside}</div></div>
`;

const answer = (
  paper: Paper,
  event: LogEvent,
  data: EventData['response.received'],
  stories: ReadonlyMap<string, CallStory>,
): Markup => {
  const { turn, step, cost, ms, content, stop } = data;
  let index = 0;
  const calls: Markup[] = [];
  const texts: Markup[] = [];
  for (const block of content) {
    if (block.type !== 'call') {
      texts.push(blockMarkup(paper, block));
      continue;
    }
    const id = callId(turn, step, ++index);
    calls.push(markup`<li>${callMarkup(paper, stories.get(id) ?? { id, events: [] })}</li>`);
    for (const story of innerStories(stories, id))
      calls.push(markup`<li class="made">${callMarkup(paper, story)}</li>`);
  }
  const stopped = stop === 'end' || stop === 'calls' ? [] : [`stopped: ${stop}`];
  const said = [
    `step ${step}`,
    formatDuration(ms),
    cost === undefined ? 'cost unknown' : formatCost(cost),
    ...stopped,
  ];
  return message(
    paper,
    { event, look: 'agent', who: paper.reading.state.agent.name, note: said.join(' · ') },
    [...texts, calls.length === 0 ? NOTHING : markup`<ul class="calls">${calls}</ul>`],
  );
};

/** Calls that a call made stand below it. */
function* innerStories(stories: ReadonlyMap<string, CallStory>, maker: CallId): Generator<CallStory> {
  for (let inner = 1; ; inner++) {
    const story = stories.get(innerCallId(maker, inner));
    if (!story) return;
    yield story;
  }
}

const blockMarkup = (paper: Paper, block: Exclude<ResponseBlock, { type: 'call' }>): Markup => {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? NOTHING : markup`<div class="said">${paper.text(block.text)}</div>`;
    case 'reasoning':
      return block.text.trim() === '' ? NOTHING : fold(markup`Reasoning`, paper.block(block.text));
    case 'opaque':
      return fold(markup`A block that only the provider understands`, paper.block(block.json));
    default:
      return block satisfies never;
  }
};

const note = (paper: Paper, { seq, mark, who, text }: EventLine): Markup =>
  markup`<div class="msg note ${MARK_STATES[mark] ?? ''}">${paper.seq(seq)}<div class="body"><p>${[who, text].filter((part) => part !== '').join(' ')}</p></div></div>
`;
