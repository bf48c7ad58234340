/** Every recorded log of every version, as spans: nothing is left open, every part has its place, and nothing that was said is told. */
import { describe, expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import { SessionSpans } from '../../src/telemetry/session-spans.ts';
import { spanIdOf, traceIdOf, type Span } from '../../src/telemetry/span.ts';
import { goldens } from '../kit/golden.ts';

const spansOf = (session: string, events: readonly LogEvent[]): readonly Span[] => {
  const spans = new SessionSpans(session);
  return events.flatMap((event) => spans.push(event).spans);
};

/** Texts of more than a few words that people, models and tools said, wherever they stand. */
const said = (value: unknown, into: Set<string> = new Set()): ReadonlySet<string> => {
  if (typeof value === 'string' && value.length > 25 && value.includes(' ')) into.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) said(one, into);
  return into;
};

const named = (spans: readonly Span[], prefix: string): number =>
  spans.filter(({ name }) => name.startsWith(prefix)).length;

describe.each(goldens().map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
  const events = golden.stored.map(open);
  const spans = spansOf(golden.session, events);

  test('every turn that ended has its span, and every part stands within one that is there', () => {
    const ended = events.flatMap((event) =>
      event.type === 'turn.ended' || event.type === 'turn.withdrawn' ? [event.data.turn] : [],
    );
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    for (const turn of ended) {
      const traceId = traceIdOf(golden.session, turn);
      expect(ids).toContain(spanIdOf(traceId, 'turn'));
      for (const span of spans.filter((one) => one.traceId === traceId)) {
        expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
        expect(span.parentId === undefined || ids.has(span.parentId)).toBe(true);
      }
    }
  });

  test('as many requests, attempts and calls as the log has, but for what is open', () => {
    const count = (type: LogEvent['type']): number => events.filter((event) => event.type === type).length;
    const { active, leftOpen } = events.reduce(evolve, initial(golden.session));
    const isOpen = active?.request?.phase === 'open' ? 1 : 0;
    const calls = [...leftOpen, ...(active?.calls ?? [])].filter(({ phase }) => phase !== 'closed');
    const running = calls.filter(({ phase }) => phase === 'started').length;
    const begun = events.flatMap((event) =>
      event.type === 'call.proposed' || event.type === 'call.rejected' ? [event.data.call] : [],
    );
    expect(named(spans, 'chat ')).toBe(count('request.built') - isOpen);
    expect(named(spans, 'attempt')).toBe(
      count('request.built') + count('request.sent') + count('call.started') - isOpen - running,
    );
    expect(named(spans, 'execute_tool')).toBe(new Set(begun).size - calls.length);
  });

  test('nothing that was said is told', () => {
    const told = JSON.stringify(spans);
    for (const text of said(events.map(({ data }) => data)))
      expect(told).not.toContain(JSON.stringify(text).slice(1, -1));
  });
});
