/** Promise: a yes is to what the tool takes, also where its schema fills in or changes the arguments. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { tool, type Tool } from '../../src/tool/tool.ts';
import { changesInput } from '../../src/tool/schema.ts';
import { csvTools } from '../../src/tool/csv/tools.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { tempFolder } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';
import { ANNA } from '../kit/story.ts';

const paying = (inputSchema: z.ZodType, ran: unknown[]): Tool =>
  tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema,
    effect: 'once',
    approval: 'always',
    execute: (input) => {
      ran.push(input);
      return 'paid';
    },
  });

const asked = async (
  inputSchema: z.ZodType,
): Promise<{ stage: Stage; session: string; ran: unknown[]; approve: () => Promise<string> }> => {
  const ran: unknown[] = [];
  const stage = new Stage({
    tools: () => [paying(inputSchema, ran)],
    says: (_, step) =>
      step === 1 ? { calls: [{ tool: 'pay', args: { to: 's1', amount: 100 } }] } : { text: 'Done.' },
  });
  const runtime = await stage.open();
  const session = await stage.send();
  const approve = async (): Promise<string> => {
    const [call] = await stage.asking(session, '1.1.1');
    if (!call?.digest) throw new Error('it is not asked');
    await runtime.decide({
      session,
      call: call.id,
      digest: call.digest,
      decision: { do: 'approve' },
      by: ANNA,
    });
    return (await runtime.rest(session)).status;
  };
  return { stage, session, ran, approve };
};

const shown = async (stage: Stage, session: string): Promise<readonly string[]> =>
  (await stage.events(session)).flatMap((event) =>
    event.type === 'call.prepared' ? [JSON.stringify(event.data.preview)] : [],
  );

test.each([
  ['a default', z.object({ to: z.string(), amount: z.number(), currency: z.string().default('EUR') }), /EUR/],
  ['a transform', z.object({ to: z.string(), amount: z.number().transform((n) => n * 10) }), /1000/],
])('%s stands in the question, and what was shown runs', async (_, schema, words) => {
  const { stage, session, ran, approve } = await asked(schema);
  await stage.asking(session, '1.1.1');
  expect((await shown(stage, session))[0]).toMatch(words);
  expect(await approve()).toBe('done');
  expect(JSON.stringify(ran)).toMatch(words);
  expect(await stage.types(session)).not.toContain('approval.invalidated');
});

test('where the schema gives something else after the yes, it is asked again and nothing has run', async () => {
  let factor = 1;
  const schema = z.object({ to: z.string(), amount: z.number().transform((n) => n * factor) });
  const { stage, session, ran, approve } = await asked(schema);
  await stage.asking(session, '1.1.1');
  factor = 10;
  expect(await approve()).toBe('waiting');
  expect(ran).toEqual([]);
  expect(await stage.types(session)).toContain('approval.invalidated');
  expect((await shown(stage, session)).at(-1)).toMatch(/1000/);
  expect(await approve()).toBe('done');
  expect(ran).toEqual([{ to: 's1', amount: 1000 }]);
});

test('a schema that gives other values each time is said to, and the question ends', async () => {
  let count = 0;
  const schema = z.object({ to: z.string(), amount: z.number(), id: z.number().default(() => ++count) });
  const { stage, session, ran, approve } = await asked(schema);
  for (let i = 0; i < 5 && (await approve()) === 'waiting'; i++);
  expect(ran).toHaveLength(1);
  expect((await shown(stage, session)).at(-1)).toMatch(/other values each time/);
});

test('schemas that take arguments as they are need no such question', () => {
  expect(changesInput(z.object({ a: z.string(), b: z.number().optional() }))).toBe(false);
  expect(changesInput({ type: 'object' })).toBe(false);
  const root = tempFolder();
  for (const { name, inputSchema } of [...fileTools({ root }), ...csvTools({ root })])
    expect([name, changesInput(inputSchema)]).toEqual([name, false]);
});
