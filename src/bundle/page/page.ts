/**
 * A session as one page that anybody can open: no script, nothing fetched from anywhere, every text of others escaped
 * and made visible. Written in pieces, so that a long session does not stand in memory as one text.
 */
import { createHash } from 'node:crypto';
import { open, type StoredEvent } from '../../event/envelope.ts';
import type { Digest } from '../../event/canonical.ts';
import { pages } from '../../log/pages.ts';
import type { LogStore } from '../../log/store.ts';
import type { Verified } from '../../replay/verify.ts';
import { countOf, formatCount } from '../../view/format.ts';
import { attribute, markup, NOTHING, type Markup } from '../../view/markup.ts';
import { questions } from '../../view/approval.ts';
import { Reading, tokensIn } from '../../view/reading.ts';
import { sessionHead, STATUS_MARKS, STATUS_WORDS } from '../../view/session-head.ts';
import type { Redacted } from '../write.ts';
import { approvalSection } from './approvals.ts';
import { callStories, type CallStory } from './calls.ts';
import { conversation } from './conversation.ts';
import { costSection } from './costs.ts';
import { definitionSection, proofSection } from './definition.ts';
import { doubtSection } from './doubts.ts';
import { hash, MARK_STATES, Paper, pill } from './paper.ts';
import { requestSection } from './requests.ts';
import { STYLE } from './style.ts';
import { timelineSection } from './timeline.ts';
import { tokenBar, tokenWords } from './tokens.ts';

export type PageOptions = {
  readonly store: LogStore;
  readonly session: string;
  readonly verified: Verified;
  /** IANA name of the zone that all times are shown in. */
  readonly zone: string;
  /** What was removed from it, here or in the bundle that it is read from. */
  readonly redacted?: Redacted | undefined;
  readonly rules?: readonly string[] | undefined;
};

/** The page as pieces of UTF-8 text. Throws `session-not-found`. */
export async function* sessionPage(options: PageOptions): AsyncGenerator<string> {
  const { paper, rules } = await paperOf(options);
  const stories = callStories(paper.reading.events);
  yield headMarkup(paper).markup;
  yield masthead(paper, options.verified, rules).markup;
  yield navigation(paper, stories).markup;
  yield '<main>\n';
  for (const piece of conversation(paper, stories)) yield piece.markup;
  yield approvalSection(paper, stories).markup;
  yield doubtSection(paper, stories).markup;
  for (const piece of timelineSection(paper)) yield piece.markup;
  for await (const piece of requestSection(paper)) yield piece.markup;
  yield costSection(paper).markup;
  yield definitionSection(paper).markup;
  yield proofSection(paper, options.verified).markup;
  yield '</main>\n</body>\n</html>\n';
}

const paperOf = async ({
  store,
  session,
  redacted,
  verified,
  zone,
  rules,
}: PageOptions): Promise<{ readonly paper: Paper; readonly rules: readonly string[] }> => {
  const reading = new Reading(session);
  const hashes: Digest[] = [];
  for await (const page of pages(store, session, { to: verified.events }))
    for (const stored of page) {
      reading.push(open(shown(stored, redacted)));
      hashes.push(stored.hash);
    }
  const paper = new Paper({
    reading,
    zone,
    hashOf: (seq) => hashes[seq - 1] ?? verified.head,
    blob: async (digest) => (redacted?.blobs.has(digest) ? undefined : store.blob(digest)),
  });
  return { paper, rules: redacted?.rules ?? rules ?? [] };
};

const shown = (stored: StoredEvent, redacted: Redacted | undefined): StoredEvent => {
  const body = redacted?.bodies.get(stored.seq);
  return body === undefined ? stored : { ...stored, body };
};

/** Nothing but the one style of this page, known by its digest. */
const policy = (): string => {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
};

const headMarkup = ({ reading }: Paper): Markup => {
  const { title, session } = sessionHead(reading);
  const name = title === '' ? session : title;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${{ markup: policy() }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${attribute(name)}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
`;
};

const figure = (name: string, value: Markup | string): Markup =>
  markup`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const masthead = (paper: Paper, verified: Verified, rules: readonly string[]): Markup => {
  const { reading } = paper;
  const head = sessionHead(reading);
  const { state, usage } = reading;
  const cost = head.cost === 'unknown' ? markup`<span class="dim">unknown</span>` : markup`${head.cost}`;
  const tokens = usage ? formatCount(tokensIn(usage) + usage.output) : 'unknown';
  return markup`<header class="top"><a class="skip" href="#conversation">To the conversation</a>
<p class="brand"><span class="seal" aria-hidden="true"></span>Onrecord <small>session record</small></p>
<h1>${head.title === '' ? head.session : head.title}</h1>
<p class="meta">${pill(MARK_STATES[STATUS_MARKS[head.status]] ?? 'stop', STATUS_WORDS[head.status])} <code class="hash">${head.session}</code> <span>agent ${head.agent}</span> <span>model ${state.agent.model.name}</span> <span>opened ${paper.moment(state.createdAt)}</span></p>
<dl class="figures">${figure('turns', formatCount(state.turns.length))}${figure('requests', formatCount(reading.requests.length))}${figure('calls', formatCount(reading.calls.size))}${figure('tokens', tokens)}${figure('cost', cost)}</dl>
${usage ? markup`<p class="tokens">${tokenBar(usage)}${tokenWords(usage)}</p>` : NOTHING}
<p class="proof">✓ The record proved itself when this page was written: ${countOf(verified.events, 'event')}, head ${hash(verified.head)}. <a href="#proof">What that means</a></p>
${rules.length === 0 ? NOTHING : markup`<p class="removed">▲ Content was removed by rule (${rules.join(', ')}). Markers with the digest of what stood there are in its place.</p>`}</header>
`;
};

const navigation = (paper: Paper, stories: ReadonlyMap<string, CallStory>): Markup => {
  const { reading, record } = paper;
  const doubted = [...stories.values()].filter(({ events }) =>
    events.some(({ type }) => type === 'call.doubted'),
  );
  const items: readonly (readonly [string, string, number | undefined])[] = [
    ['conversation', 'Conversation', undefined],
    ['approvals', 'Approvals', questions(record).length],
    ['doubts', 'In doubt', doubted.length],
    ['timeline', 'Timeline', reading.events.length],
    ['requests', 'Requests', reading.requests.length],
    ['cost', 'Cost', undefined],
    ['agent', 'Agent', undefined],
    ['proof', 'Proof', undefined],
  ];
  return markup`<nav aria-label="Sections"><ul>${items.map(
    ([id, title, count]) =>
      markup`<li><a href="#${id}">${title}${count === undefined ? NOTHING : markup` <small>${count}</small>`}</a></li>`,
  )}</ul></nav>
`;
};
