/** Promise: NUL and half surrogate pairs reach no provider, the log keeps them, and the request says that it happened. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sendableAgent, sendableItem } from '../../src/context/sendable.ts';
import { replay } from '../../src/replay/replay.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { tool } from '../../src/tool/tool.ts';
import { settings } from '../kit/arbitrary.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';
import { agentDefinition } from '../kit/story.ts';

/** As a strict provider reads it: what JSON.parse gives holds neither NUL nor half a pair. */
const expectTaken = (body: string): void => {
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      expect(value.isWellFormed()).toBe(true);
      expect(value).not.toContain('\0');
    } else if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) [key, member].forEach(look);
  };
  look(JSON.parse(body));
};

const BAD = 'a\0b\ud83dc\ude00😀';

test('in a message, a result, an argument, a name and an answer; counted where it is new', async () => {
  const stage = new Stage({
    store: openSqlite(tempFile()),
    tools: (world) => [world.tool('none', 'none', { execute: () => BAD })],
    says: (_, step) =>
      step === 1
        ? {
            text: BAD,
            calls: [
              { tool: 'none', argsRaw: String.raw`{"a":"x\u0000y\\u0000","\u0000k":1}` },
              { tool: `no${BAD}`, argsRaw: '{}' },
            ],
          }
        : { text: 'Done.' },
  });
  const runtime = await stage.open();
  const session = await stage.send(BAD);
  await runtime.rest(session);
  for (const { body } of stage.heard) expectTaken(body);
  const events = await stage.events(session);
  const replaced = events.map((event) => (event.type === 'request.built' ? event.data.replaced : undefined));
  // 3 in the message; then 3 in the text, 2 in the arguments, 3 in each name, 3 in a result, 3 in a rejection.
  expect(replaced.filter((count) => count !== undefined)).toEqual([3, expect.any(Number)]);
  // An escaped backslash before u0000 is no NUL.
  expect(stage.heard[1]?.body).toContain(JSON.stringify(String.raw`"x�y\\u0000"`).slice(1, -1));
  expect(JSON.stringify(events)).toContain(JSON.stringify(BAD).slice(1, -1));
  const proof = replay({ session, events, encoderOf: () => stage.agent.model.encoder, program: PROGRAM });
  expect([proof.difference, proof.requests]).toEqual([undefined, 2]);
});

test('in instructions and tools, once', async () => {
  const stage = new Stage();
  const agent = defineAgent({
    name: 'clerk',
    instructions: `Be ${BAD}`,
    model: stage.agent.model,
    tools: [
      tool({
        name: 'odd',
        description: BAD,
        inputSchema: { type: 'object', properties: { [BAD]: { enum: [BAD] } } },
        execute: () => 1,
      }),
    ],
  });
  const runtime = await stage.open({ agent });
  const session = await stage.send('Go.');
  await runtime.rest(session);
  await runtime.send({ session, message: 'And on.' });
  await runtime.rest(session);
  for (const { body } of stage.heard) expectTaken(body);
  const built = (await stage.events(session)).filter((event) => event.type === 'request.built');
  expect(built.map(({ data }) => (data as { replaced?: number }).replaced)).toEqual([12, undefined]);
});

test('whatever the text, and nothing else is touched', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', '😀', '\\', '"', 'u0000') });
  fc.assert(
    fc.property(text, text, (said, key) => {
      const args = JSON.stringify({ [key.toWellFormed()]: said.toWellFormed() });
      const blocks = [
        { type: 'text', text: said } as const,
        { type: 'call', id: 'c', name: 'n', args } as const,
        { type: 'reasoning', text: said, opaque: said } as const,
      ];
      const { value, replaced } = sendableItem({
        kind: 'assistant',
        blocks,
        by: { provider: 'p', name: 'n' },
      });
      if (value.kind !== 'assistant') throw new Error('another kind');
      const [shown, call, signed] = value.blocks;
      const clean = said.toWellFormed().replaceAll('\0', '\ufffd');
      expect(shown).toEqual({ type: 'text', text: clean });
      expect(signed).toEqual(blocks[2]);
      if (call?.type !== 'call') throw new Error('another block');
      expect(JSON.parse(call.args)).toEqual({ [key.toWellFormed().replaceAll('\0', '\ufffd')]: clean });
      expect(replaced > 0).toBe(clean !== said || call.args !== args);
    }),
    settings(),
  );
});

test('an agent without any is the same object', () => {
  const agent = agentDefinition();
  expect(sendableAgent(agent)).toEqual({ value: agent, replaced: 0 });
  expect(sendableAgent(agent).value).toBe(agent);
});
