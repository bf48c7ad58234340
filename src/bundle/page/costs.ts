/** What it cost, turn by turn. Unknown is said in words: a zero never stands in for it. */
import type { Usage } from '../../event/content.ts';
import type { LogEvent } from '../../event/events.ts';
import { formatCost, formatCount, formatDuration } from '../../view/format.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { costWords } from '../../view/session-head.ts';
import { section, type Paper } from './paper.ts';
import { TOKEN_CLASSES, tokenBar } from './tokens.ts';

type Sums = {
  requests: number;
  failed: number;
  usage: Usage;
  unknownTokens: number;
  cost: number;
  unknownCost: boolean;
  ms: number;
};

const none = (): Sums => ({
  requests: 0,
  failed: 0,
  usage: { cacheRead: 0, cacheWrite: 0, input: 0, output: 0 },
  unknownTokens: 0,
  cost: 0,
  unknownCost: false,
  ms: 0,
});

export const costSection = (paper: Paper): Markup => {
  const turns = new Map<number, Sums>();
  const all = none();
  for (const event of paper.reading.events) {
    if (event.type !== 'response.received' && event.type !== 'request.failed') continue;
    const sums = turns.get(event.data.turn) ?? none();
    turns.set(event.data.turn, sums);
    for (const one of [sums, all]) add(one, event);
  }
  if (turns.size === 0)
    return section({ id: 'cost', title: 'Cost' }, [markup`<p class="cap">No model has answered.</p>`]);
  const head = TOKEN_CLASSES.map(
    ([, title, look]) => markup`<th class="num"><i class="${look}"></i>${title}</th>`,
  );
  const rows = [...turns].map(([turn, sums]) => row(`Turn ${turn}`, sums));
  const lost =
    all.failed === 0
      ? NOTHING
      : markup`<p class="cap">${all.failed} of them failed; what the provider bills for these is not known here.</p>`;
  return section({ id: 'cost', title: 'Cost', note: 'as the provider counted' }, [
    markup`<p>${tokenBar(all.usage)}</p>
<table class="grid sums"><thead><tr><th></th><th class="num">requests</th>${head}<th class="num">model time</th><th class="num">cost</th></tr></thead><tbody>${rows}</tbody><tfoot>${row('All', all)}</tfoot></table>${lost}`,
  ]);
};

type Counted = Extract<LogEvent, { type: 'response.received' | 'request.failed' }>;

const add = (sums: Sums, event: Counted): void => {
  const { usage, ms } = event.data;
  sums.requests++;
  sums.ms += ms;
  if (usage)
    for (const [name] of TOKEN_CLASSES)
      sums.usage = { ...sums.usage, [name]: sums.usage[name] + usage[name] };
  else sums.unknownTokens++;
  if (event.type === 'request.failed') {
    sums.failed++;
    return;
  }
  sums.cost += event.data.cost ?? 0;
  sums.unknownCost ||= event.data.cost === undefined;
};

const row = (name: string, { requests, usage, unknownTokens, cost, unknownCost, ms }: Sums): Markup => {
  const tokens = TOKEN_CLASSES.map(([key, title]) => {
    const words = unknownTokens === requests ? 'unknown' : formatCount(usage[key]);
    return markup`<td class="num" data-l="${title}">${words}</td>`;
  });
  const price = unknownCost ? costWords(cost, true) : formatCost(cost);
  return markup`<tr><th scope="row">${name}</th><td class="num" data-l="requests">${requests}</td>${tokens}<td class="num" data-l="model time">${formatDuration(ms)}</td><td class="num" data-l="cost">${price}</td></tr>`;
};
