/** Every question that was put to people: what they were shown, what they decided, and what came of it. */
import type { LogEvent } from '../../event/events.ts';
import { questions, type Question } from '../../view/approval.ts';
import { eventLine } from '../../view/event-line.ts';
import { decisionOn, type GivenDecision } from '../../view/fate.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { outsideTexts } from '../../view/outside.ts';
import { standing, type CallStory } from './calls.ts';
import { fold, hash, pill, section, type Paper, type State } from './paper.ts';
import { previewMarkup } from './preview.ts';

export const approvalSection = (paper: Paper, stories: ReadonlyMap<string, CallStory>): Markup => {
  const asked = questions(paper.record);
  const note =
    asked.length === 0 ? undefined : 'each with what the person was shown, and what the answer was bound to';
  return section({ id: 'approvals', title: 'Approvals', ...(note !== undefined && { note }) }, [
    asked.length === 0
      ? markup`<p class="cap">Nobody was asked: every call was allowed or denied by policy.</p>`
      : markup`${asked.map((question) => card(paper, question, stories.get(question.call)))}`,
  ]);
};

const WORDS: Readonly<Record<GivenDecision['decision']['do'], readonly [State, string]>> = {
  approve: ['done', 'approved'],
  edit: ['wait', 'changed, then asked again'],
  reject: ['fail', 'rejected'],
  respond: ['done', 'answered by a person'],
};

const card = (paper: Paper, question: Question, story: CallStory | undefined): Markup => {
  const { call, tool, preview, definition, digest, askedAt, askedSeq, args, round } = question;
  const given = decisionOn(paper.record, call, digest);
  const open = paper.reading.openCall(call)?.digest === digest && !given;
  const [state, words] = given
    ? WORDS[given.decision.do]
    : open
      ? (['wait', 'waiting for a person'] as const)
      : (['stop', 'not decided'] as const);
  const target = preview?.target === undefined ? '' : ` · ${preview.target}`;
  const again = round > 1 ? `, question ${round}` : '';
  return markup`<article class="card" aria-label="Approval of call ${call}"><header><p class="line">${pill(state, words)} <span>call ${call}${again} · asked ${paper.clock(askedAt)}, event ${paper.seq(askedSeq)}</span></p>
<h3>${preview?.title ?? `Run ${tool}`}</h3><p class="cap"><code>${tool}</code> · effect ${definition?.effect ?? 'unknown'}${target}</p></header>
<div class="blk"><h4>Why a person was asked</h4><p>${question.reason ?? ''} <small>rule ${question.rule}</small></p>${outside(paper, question)}</div>
<div class="blk"><h4>What the person was shown</h4>${preview ? previewMarkup(paper, preview) : NOTHING}${preview ? fold(markup`The exact arguments`, paper.pretty(args)) : paper.pretty(args)}</div>
<div class="blk verdict">${verdict(paper, given)}<p class="cap">Bound to ${hash(digest)}: arguments, tool definition and preview.</p>${followed(paper, story, given)}</div></article>
`;
};

/** Outside text that the arguments repeat is quoted. */
const outside = (paper: Paper, { call, args }: Question): Markup => {
  const [quoted] = outsideTexts(paper.record, call, args);
  if (quoted?.quote === undefined) return NOTHING;
  return markup`<p>Text from outside stood in the request that asked for this call:</p>${paper.outside(quoted.quote, markup`<span>result of <code>${quoted.tool}</code></span> <span>event ${paper.seq(quoted.seq)}</span>`)}`;
};

const verdict = (paper: Paper, given: GivenDecision | undefined): Markup => {
  if (!given) return markup`<p>No decision stands in the record.</p>`;
  const { decision, by, at, seq } = given;
  const who = markup`<b>${by.name}</b>, ${paper.moment(at)}, event ${paper.seq(seq)}`;
  switch (decision.do) {
    case 'approve':
      return markup`<p>Approved by ${who}.</p>`;
    case 'reject':
      return markup`<p>Rejected by ${who}.</p>${decision.reason === undefined ? NOTHING : markup`<p class="said">“${decision.reason}”</p>`}`;
    case 'edit':
      return markup`<p>Changed by ${who}, to:</p>${paper.pretty(decision.args)}`;
    case 'respond':
      return markup`<p>Answered instead of the tool by ${who}.</p>`;
    default:
      return decision satisfies never;
  }
};

const followed = (paper: Paper, story: CallStory | undefined, given: GivenDecision | undefined): Markup => {
  if (!story || !given || given.decision.do === 'edit') return NOTHING;
  const after = story.events.filter(({ seq, type }) => seq > given.seq && type !== 'call.prepared');
  if (after.length === 0) return NOTHING;
  const { words } = standing(story);
  return markup`<p class="cap">What followed: ${after.map((event: LogEvent) => markup`${paper.seq(event.seq)} ${eventLine(paper.reading, event).text} · `)}in the end ${words}.</p>`;
};
