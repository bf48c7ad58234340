/**
 * The providers themselves, where a key is present; skipped loudly where none is. Budget: at most 3 requests to each
 * provider, each with at most 3,000 tokens in and 1,000 tokens out, which is less than 0.03 US dollars for each.
 */
import { expect, onTestFinished, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { JsonObject } from '../../src/event/json.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { allProviders, resolveModel } from '../../src/model/models.ts';
import { findCredential } from '../../src/model/provider/credential.ts';
import { replay } from '../../src/replay/replay.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const REQUESTS_MAX = 3;
const INPUT_TOKENS_MAX = 3000;
const OUTPUT_TOKENS_MAX = 1000;
const BUDGET_USD = 0.03;

type Target = {
  readonly model: string;
  readonly params: JsonObject;
  /** US dollars for a million tokens, input that is written to a cache and output: the dearest there are. */
  readonly price: { readonly input: number; readonly output: number };
};

const TARGETS: readonly Target[] = [
  {
    model: 'anthropic/claude-haiku-4-5',
    params: { max_tokens: OUTPUT_TOKENS_MAX },
    price: { input: 1.25, output: 5 },
  },
  {
    model: 'openai/gpt-5-mini',
    params: { max_output_tokens: OUTPUT_TOKENS_MAX, reasoning: { effort: 'low' } },
    price: { input: 0.25, output: 2 },
  },
];

const hasKey = ({ model }: Target): boolean => {
  const provider = allProviders().find(({ name }) => model.startsWith(`${name}/`));
  const names = provider?.connection.credentialNames ?? [];
  try {
    return findCredential({ names, origin: provider?.connection.baseUrl ?? '' }) !== undefined;
  } catch (error) {
    console.warn(`\n${String(error)}\n`);
    return false;
  }
};

for (const target of TARGETS.filter((one) => !hasKey(one)))
  console.warn(
    `\nSKIPPED: the live test of ${target.model}. There is no key for it here; nothing was asked.\n`,
  );

const converse = async ({ model: name, params, price }: Target): Promise<void> => {
  const model = resolveModel(name, { params });
  const agent = defineAgent({
    name: 'live',
    instructions: 'Use the tool. Then answer with the code word alone.',
    model,
    tools: [
      tool({
        name: 'vault.read',
        description: 'Reads the code word.',
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        effect: 'none',
        execute: () => 'The code word is PELICAN.',
      }),
    ],
    limits: { stepsPerTurn: REQUESTS_MAX, requestAttempts: 1 },
  });
  const store = new MemoryLog();
  const runtime = await openRuntime({ store, agents: [agent] });
  onTestFinished(() => runtime.close());
  const { session } = await runtime.send({ agent: 'live', message: 'What is the code word?' });
  await runtime.rest(session);
  const events = (await store.read(session)).map(open);
  const replies = events.flatMap(({ type, data }) => (type === 'response.received' ? [data] : []));
  const spent = replies.reduce((sum, { usage }) => {
    const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage ?? {};
    return sum + ((input + cacheRead + cacheWrite) * price.input + output * price.output) / 1e6;
  }, 0);
  console.log(`live ${name}: ${replies.length} requests, at most $${spent.toFixed(6)}`);
  expect(events.at(-1)).toMatchObject({ type: 'turn.ended', data: { outcome: 'done' } });
  expect(JSON.stringify(replies.at(-1)?.content)).toContain('PELICAN');
  expect(events.some(({ type }) => type === 'call.result')).toBe(true);
  expect(spent).toBeLessThan(BUDGET_USD);
  const replayed = replay({ session, events, encoderOf: () => model.encoder, program: PROGRAM });
  expect(replayed.difference).toBeUndefined();
};

for (const target of TARGETS) {
  const { price, model } = target;
  test.skipIf(!hasKey(target))(
    `live, ${model}: a tool is called and the log replays`,
    { timeout: 120_000 },
    async () => {
      const worst =
        (REQUESTS_MAX * (INPUT_TOKENS_MAX * price.input + OUTPUT_TOKENS_MAX * price.output)) / 1e6;
      expect(worst).toBeLessThan(BUDGET_USD);
      await converse(target);
    },
  );
}
