/**
 * Each exact request. A part is shown in full where it is new; what a request shares with the one before it is said in
 * one line with a link, so that a long session stays readable and every byte can still be found.
 */
import { sha256, type Digest } from '../../event/canonical.ts';
import type { EventData, LogEvent, PartTemplate } from '../../event/events.ts';
import { expandTemplate } from '../../context/template.ts';
import { countOf, formatBytes, formatCost, formatDuration, formatShare } from '../../view/format.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import type { RequestReading } from '../../view/reading.ts';
import { fold, hash, type Paper } from './paper.ts';
import { tokenBar, tokenWords } from './tokens.ts';

/** Requests on a page; of more the last ones. */
export const REQUESTS_MAX = 2000;

type Built = EventData['request.built'];
type Answer = Extract<LogEvent, { type: 'response.received' }>;

export async function* requestSection(paper: Paper): AsyncGenerator<Markup> {
  const { requests } = paper.reading;
  const shown = requests.slice(-REQUESTS_MAX);
  yield markup`<section id="requests" aria-labelledby="requests-h"><h2 id="requests-h">Requests <small>the exact bytes that the model was sent</small></h2>
${shown.length < requests.length ? markup`<p class="cap">The first ${requests.length - shown.length} requests are not on this page. The bundle has all of them.</p>` : NOTHING}`;
  if (requests.length === 0) yield markup`<p class="cap">No request was built.</p>`;
  for (const request of shown) yield await requestMarkup(paper, request);
  yield markup`</section>
`;
}

const requestMarkup = async (paper: Paper, request: RequestReading): Promise<Markup> => {
  const event = paper.event(request.seq);
  if (event?.type !== 'request.built') return NOTHING;
  const { number, bytes, newBytes, parts } = request;
  const answered = request.answer && paper.event(request.answer.seq);
  const answer = answered?.type === 'response.received' ? answered : undefined;
  const usage = answer?.data.usage;
  const fresh = newBytes === bytes ? 'all new' : `${formatShare((bytes - newBytes) / bytes, 1)} shared`;
  return markup`${fold(
    markup`<span class="tx"><b>Request ${String(number)}</b> <small>turn ${String(request.turn)}, step ${String(request.step)}</small></span><span class="rbar">${usage ? tokenBar(usage) : NOTHING}</span><small class="rsum">${countOf(parts, 'part')}, ${formatBytes(bytes)}, ${fresh}${priceOf(answer)}</small>`,
    markup`${await insideMarkup(paper, request, event.data)}<p>${tokenWords(usage)}</p>`,
    { id: `r${number}`, look: 'req' },
  )}
`;
};

const priceOf = (answer: Answer | undefined): string => {
  if (!answer) return ', no answer';
  const { cost, ms } = answer.data;
  return `, ${formatDuration(ms)}, ${cost === undefined ? 'cost unknown' : formatCost(cost)}`;
};

const insideMarkup = async (paper: Paper, request: RequestReading, data: Built): Promise<Markup> => {
  const before = paper.reading.requests[request.number - 2];
  const kept = data.reuse?.parts ?? 0;
  const parts = data.parts.map((part, i) => partMarkup(paper, part, kept + i + 1));
  return markup`<p class="cap">Built at event ${paper.seq(request.seq)}, ${paper.clock(request.at)}. Prefix chain ${hash(data.chain)}.</p>
<div class="parts">${await frameMarkup(paper, data, 'head')}${sharedMarkup(kept, before)}${goneMarkup(kept, before)}${parts}${await frameMarkup(paper, data, 'tail')}</div>`;
};

const sharedMarkup = (kept: number, before: RequestReading | undefined): Markup => {
  if (kept === 0 || !before) return NOTHING;
  const words = kept === 1 ? 'Part 1 is that' : `Parts 1 to ${kept} are those`;
  return markup`<p class="shared"><span class="sign">=</span> ${words} of <a href="#r${String(before.number)}">request ${String(before.number)}</a>, byte for byte.</p>`;
};

/** A request that does not take over all of the one before it has lost something on the way. */
const goneMarkup = (kept: number, before: RequestReading | undefined): Markup => {
  if (!before || kept >= before.parts) return NOTHING;
  const words = kept + 1 === before.parts ? `Part ${before.parts}` : `Parts ${kept + 1} to ${before.parts}`;
  return markup`<p class="shared del"><span class="sign">−</span> ${words} of <a href="#r${String(before.number)}">request ${String(before.number)}</a> not in this one.</p>`;
};

const partMarkup = (paper: Paper, { seq, pieces }: PartTemplate, number: number): Markup => {
  const text = expandTemplate(pieces, (at) => paper.event(at));
  return markup`<div class="part"><p><span class="sign add">+</span> <b>Part ${String(number)}</b> <small>from event ${paper.seq(seq)} · ${formatBytes(Buffer.byteLength(text))} · sha256 ${hash(sha256(text))}</small></p>${paper.block(text)}</div>`;
};

const FRAME_WORDS = { head: 'Before the first part', tail: 'After the last part' } as const;

const frameMarkup = async (paper: Paper, { frame }: Built, side: 'head' | 'tail'): Promise<Markup> => {
  if (!frame)
    return markup`<p class="shared"><span class="sign">=</span> ${FRAME_WORDS[side]}: as in the request before.</p>`;
  const digest: Digest = frame[side];
  const bytes = await paper.blob(digest);
  const text = bytes
    ? paper.block(Buffer.from(bytes).toString('utf8'))
    : markup`<p class="gone">Removed by rule.</p>`;
  const size = bytes ? `${formatBytes(bytes.length)} · ` : '';
  return markup`<div class="part"><p><span class="sign add">+</span> <b>${FRAME_WORDS[side]}</b> <small>${size}sha256 ${hash(digest)}</small></p>${text}</div>`;
};
