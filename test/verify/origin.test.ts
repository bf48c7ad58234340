/** A fork's chain begins with the session it came from, which its own event names. */
import { expect, it } from 'vitest';
import { genesis, seal, type StoredEvent } from '../../src/event/envelope.ts';
import type { NewEvent } from '../../src/event/events.ts';
import { originOf } from '../../src/replay/origin.ts';
import { agentDefinition } from '../kit/story.ts';

const chain = (session: string, events: readonly NewEvent[]): readonly StoredEvent[] => {
  let prev = genesis(session);
  return events.map((event, i) => {
    const { stored } = seal(event, { seq: i + 1, at: 1, prev });
    prev = stored.hash;
    return stored;
  });
};

const created = (parent?: string): NewEvent => ({
  type: 'session.created',
  data: {
    agent: agentDefinition(),
    program: 'p',
    ...(parent !== undefined && { parent: { session: parent, seq: 1, hash: genesis('x') } }),
  },
});

it('a session begins with itself, a fork with its parent, and a chain that fits neither with itself', () => {
  expect(originOf('s_A', chain('s_A', [created()]))).toBe('s_A');
  expect(originOf('s_B', chain('s_A', [created(), created('s_A')]))).toBe('s_A');
  expect(originOf('s_C', chain('s_A', [created(), created('s_B'), created('s_A')]))).toBe('s_A');
  expect(originOf('s_B', chain('s_A', [created(), created('s_X')]))).toBe('s_B');
  expect(originOf('s_B', [])).toBe('s_B');
});
