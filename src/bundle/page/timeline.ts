/** What happened when: every event with its mark, its bar on the turn's axis, and its data when it is opened. */
import { isDecision } from '../../event/events.ts';
import { formatDuration } from '../../view/format.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { timeline, type Bar, type TimelineRow } from '../../view/timeline.ts';
import { turnMarkup } from './conversation.ts';
import { fold, hash, MARK_STATES, ROWS_MAX, type Paper } from './paper.ts';
import { number } from './tokens.ts';

/** Characters of an event's data: what is long stands in the conversation or the requests. */
const DATA_LENGTH_MAX = 4000;

export function* timelineSection(paper: Paper): Generator<Markup> {
  const { reading } = paper;
  const { rows, above } = timeline(reading, {
    now: reading.state.lastAt,
    everyEvent: true,
    rowsMax: ROWS_MAX,
  });
  yield markup`<section id="timeline" aria-labelledby="timeline-h"><h2 id="timeline-h">Timeline <small><span class="key"><i class="fact"></i>fact: from outside</span> <span class="key"><i class="dec"></i>decision: from the log</span></small></h2>
${above > 0 ? markup`<p class="cap">${above} earlier events are not on this page. The bundle has all of them.</p>` : NOTHING}<div class="events">
`;
  let open = false;
  for (const row of rows) {
    if (row.kind === 'turn') {
      yield markup`${open ? markup`</div>` : NOTHING}<div class="group">${turnMarkup(paper, row.turn)}`;
      open = true;
    } else yield rowMarkup(paper, row);
  }
  yield markup`${open ? markup`</div>` : NOTHING}</div></section>
`;
}

const rowMarkup = (paper: Paper, row: Exclude<TimelineRow, { kind: 'turn' }>): Markup => {
  if (row.kind === 'step') {
    const took = row.ms === undefined ? 'open' : formatDuration(row.ms);
    const cost = row.cost === '' ? '' : row.cost === 'unknown' ? ' · cost unknown' : ` · ${row.cost}`;
    return markup`<p class="steph">Step ${String(row.step)} <small>${took}${cost}</small></p>
`;
  }
  const { line, at, ms, bar } = row;
  const event = paper.event(line.seq);
  if (!event) return NOTHING;
  const look = `${isDecision(event) ? 'dec' : 'fact'} ${MARK_STATES[line.mark] ?? ''}`;
  const words = [line.text, line.state ?? '', line.detail ?? ''].filter((part) => part !== '').join(', ');
  const took = ms === undefined ? NOTHING : markup`${formatDuration(ms)}`;
  const by = line.by === '' ? '' : ` · by ${line.by}`;
  return markup`${fold(
    markup`<span class="seq">${String(line.seq)}</span><span class="dot" aria-hidden="true"></span><span class="tx">${line.who === '' ? NOTHING : markup`<b>${line.who}</b> `}${words}</span>${barMarkup(bar, look)}<span class="ms">${took}</span>`,
    markup`<p class="cap">${event.type} · ${isDecision(event) ? 'decision' : 'fact'} · ${paper.moment(at)}${by} · hash ${hash(paper.hashOf(line.seq))}</p>${paper.json(event.data, DATA_LENGTH_MAX)}`,
    { id: `e${line.seq}`, look: `ev ${look}` },
  )}
`;
};

const barMarkup = (bar: Bar | undefined, look: string): Markup =>
  bar === undefined
    ? markup`<span class="wf"></span>`
    : markup`<svg class="wf ${look}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="${bar.kind}" x="${number(bar.from * 100)}" y="0" width="${number(Math.max(1, (bar.to - bar.from) * 100))}" height="6"/></svg>`;
