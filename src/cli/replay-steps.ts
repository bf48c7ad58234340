/** A replay event by event: facts were given, decisions were made again. At a terminal one key a step. */
import { isDecision, type LogEvent } from '../event/events.ts';
import { differenceWords } from '../view/difference.ts';
import type { Screen } from './terminal/screen.ts';
import { dim, line, own, SIGN, strong, type Shown } from './terminal/shown.ts';
import { table } from './terminal/table.ts';

export const showSteps = async (
  screen: Screen,
  events: readonly LogEvent[],
): Promise<'interrupted' | undefined> => {
  const lines = stepLines(screen, events);
  if (!screen.canAsk) {
    screen.out(...lines);
    return undefined;
  }
  screen.note(
    line`  ${strong('space')} next decision   ${strong('r')} run to the end   ${strong('q')} stop here`,
  );
  let from = 0;
  for (const [index, event] of events.entries()) {
    if (!isDecision(event)) continue;
    screen.out(...lines.slice(from, index + 1));
    from = index + 1;
    const answer = await screen.askKey([], ['space', 'enter', 'down', 'r', 'q']);
    if (answer.kind === 'interrupted') return 'interrupted';
    if (answer.kind !== 'key' || answer.key === 'q') return undefined;
    if (answer.key === 'r') break;
  }
  screen.out(...lines.slice(from));
  return undefined;
};

const stepLines = ({ look }: Screen, events: readonly LogEvent[]): readonly Shown[] =>
  table(
    [
      { key: 'seq', align: 'right' },
      { key: 'mark', gap: 1 },
      { key: 'type', gap: 1 },
      { key: 'place', drop: 1 },
      { key: 'verdict' },
    ],
    events.map((event) => {
      const decision = isDecision(event);
      const { place } = differenceWords({ ...NOTHING, seq: event.seq, type: event.type }, event.data);
      return {
        seq: dim(event.seq),
        mark: decision ? SIGN.decision : SIGN.fact,
        type: strong(event.type),
        place: line`${place}`,
        verdict: decision ? line`${SIGN.ok} the same` : dim(own('given')),
      };
    }),
    { look, indent: 1 },
  ).lines;

const NOTHING = { path: '', recorded: undefined, now: undefined };
