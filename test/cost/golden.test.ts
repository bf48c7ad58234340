/** Bills worked out by hand from usages that providers really reported, and where prices come from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { calcPrice } from '@pydantic/genai-prices';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { catalogue, CATALOGUE_DATE, CATALOGUE_VERSION } from '../../src/cost/catalogue.ts';
import { LATER } from '../../src/cost/later.ts';
import { costOf, inOrder, priceList } from '../../src/cost/prices.ts';
import type { Usage } from '../../src/event/content.ts';
import { settings } from '../kit/arbitrary.ts';
import { recordings, recordingsMissing } from '../kit/recordings.ts';

const AT = Date.parse('2026-11-20T12:00:00Z');
const ALL = inOrder(LATER, catalogue);

type Raw = Readonly<Record<string, unknown>>;
const count = (from: unknown, ...path: readonly string[]): number => {
  const value = path.reduce<unknown>((at, key) => (at as Raw | undefined)?.[key], from);
  return typeof value === 'number' ? value : 0;
};

/** Written for this test alone, so that a mistake of an adapter does not hide one of the bill. */
const classes = (raw: unknown): Usage => {
  if (count(raw, 'cache_read_input_tokens') + count(raw, 'cache_creation_input_tokens') > 0)
    return {
      cacheRead: count(raw, 'cache_read_input_tokens'),
      cacheWrite: count(raw, 'cache_creation_input_tokens'),
      cacheWriteLong: count(raw, 'cache_creation', 'ephemeral_1h_input_tokens'),
      input: count(raw, 'input_tokens'),
      output: count(raw, 'output_tokens'),
    };
  const [details, input, output] =
    count(raw, 'prompt_tokens') > 0
      ? (['prompt_tokens_details', 'prompt_tokens', 'completion_tokens'] as const)
      : (['input_tokens_details', 'input_tokens', 'output_tokens'] as const);
  const [cacheRead, cacheWrite] = [
    count(raw, details, 'cached_tokens'),
    count(raw, details, 'cache_write_tokens'),
  ];
  return {
    cacheRead,
    cacheWrite,
    input: count(raw, input) - cacheRead - cacheWrite,
    output: count(raw, output),
  };
};

/** Dollars per million tokens times tokens. */
const BILLS: readonly (readonly [file: string, id: string, exchange: number, usd: number])[] = [
  // claude-sonnet-4-5: 3 in uncached, 1,111 read, 418 written, 33 out at 3, 0.30, 3.75, 15
  // 3 * 3 + 1111 * 0.30 + 418 * 3.75 + 33 * 15 = 9 + 333.3 + 1567.5 + 495 = 2404.8
  ['anthropic', 'test_anthropic/test_anthropic_cache_real_api', 1, 0.0024048],
  // the request before it: 3 * 3 + 1111 * 0.30 + 406 * 15 = 9 + 333.3 + 6090 = 6432.3
  ['anthropic', 'test_anthropic/test_anthropic_cache_real_api', 0, 0.0064323],
  // claude-opus-4-8, all written: 2 * 5 + 1590 * 6.25 + 4 * 25 = 10 + 9937.5 + 100 = 10047.5
  [
    'anthropic',
    'test_anthropic_mid_conversation_system/test_inline_system_prompt_cache_prefix_is_reused',
    0,
    0.0100475,
  ],
  // the same, all read: 2 * 5 + 1590 * 0.50 + 4 * 25 = 10 + 795 + 100 = 905
  [
    'anthropic',
    'test_anthropic_mid_conversation_system/test_inline_system_prompt_cache_prefix_is_reused',
    1,
    0.000905,
  ],
  // gpt-5.6-sol: input 4,020 of which 4,012 written: 8 * 4 + 4012 * 5 + 5 * 20 = 32 + 20060 + 100 = 20192
  ['openai-responses', 'test_openai_prompt_cache/test_openai_responses_prompt_cache_e2e', 0, 0.020192],
  // read: 8 * 4 + 4012 * 0.40 + 5 * 20 = 32 + 1604.8 + 100 = 1736.8
  ['openai-responses', 'test_openai_prompt_cache/test_openai_responses_prompt_cache_e2e', 1, 0.0017368],
  // gpt-5: input 43,902 of which 4,352 read: 39550 * 1.25 + 4352 * 0.125 + 4474 * 10 = 49437.5 + 544 + 44740 = 94721.5
  [
    'openai-responses',
    'test_thinking_native_tools/test_thinking_with_native_tool_wire_contract[openai-responses]',
    0,
    0.0947215,
  ],
  // chat, gpt-5.6-sol: 8 * 4 + 4012 * 0.40 + 4 * 20 = 32 + 1604.8 + 80 = 1716.8
  ['openai-chat', 'test_openai_prompt_cache/test_openai_chat_prompt_cache_e2e', 1, 0.0017168],
];

test.skipIf(recordingsMissing !== undefined)(
  `golden bills: recorded usages of each API cost what they cost by hand${recordingsMissing === undefined ? '' : `: skipped, ${recordingsMissing}`}`,
  () => {
    for (const [file, id, at, usd] of BILLS) {
      const found = recordings(file).find((one) => one.id === id);
      const exchange = found?.exchanges[at];
      const model = String(exchange?.request.body?.['model']);
      const bill = costOf(
        ALL,
        { provider: found?.provider ?? '', model, at: AT },
        classes(exchange?.response.body?.['usage']),
      );
      expect({ id, at, cost: bill?.cost }).toEqual({ id, at, cost: usd });
      expect(bill?.price).toMatchObject({
        source: `genai-prices ${CATALOGUE_VERSION}`,
        date: CATALOGUE_DATE,
      });
    }
  },
);

test('a-class-has-its-price: an hour of cache costs more than five minutes, and large requests have a tier', () => {
  const sonnet = { provider: 'anthropic', model: 'claude-sonnet-5', at: AT };
  // 1000 * 2.50 + 1000 * 4 = 6500
  expect(
    costOf(ALL, sonnet, { cacheRead: 0, cacheWrite: 2000, cacheWriteLong: 1000, input: 0, output: 0 })?.cost,
  ).toBe(0.0065);
  const haiku = { provider: 'anthropic', model: 'claude-haiku-5-5', at: AT };
  // at 100,000 tokens the lower tier, one more and the whole request has the upper: 100001 * 0.50
  expect(costOf(ALL, haiku, { cacheRead: 0, cacheWrite: 0, input: 100_000, output: 0 })?.cost).toBe(0.01);
  expect(costOf(ALL, haiku, { cacheRead: 1, cacheWrite: 0, input: 100_000, output: 0 })?.cost).toBe(
    0.05000005,
  );
  const sol = { provider: 'openai', model: 'gpt-6-sol', at: AT };
  expect(costOf(ALL, sol, { cacheRead: 0, cacheWrite: 0, input: 272_000, output: 1000 })?.cost).toBe(0.554);
  // above 272,000: input twice, output one and a half times: 272001 * 4 + 1000 * 15
  expect(costOf(ALL, sol, { cacheRead: 0, cacheWrite: 0, input: 272_001, output: 1000 })?.cost).toBe(
    1.103004,
  );
});

test('unknown-is-never-0: a successor is not priced as the model whose name it begins with', () => {
  for (const [provider, model] of [
    ['anthropic', 'claude-sonnet-5-9'],
    ['anthropic', 'claude-sonnet-5-9-20270101'],
    ['openai', 'gpt-6.2-sol'],
    ['openai', 'gpt-4o-with-a-twist'],
    ['nobody', 'claude-sonnet-5'],
    ['ollama-local', 'qwen3:8b'],
    ['scripted', 'acme-large-6'],
  ] as const)
    expect({ model, price: ALL.priceOf({ provider, model, at: AT }) }).toEqual({ model, price: undefined });
  for (const model of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', 'claude-opus-5'])
    expect(ALL.priceOf({ provider: 'anthropic', model, at: AT })).toBeDefined();
});

test('prices-have-dates: a change of price counts from its day, an override goes before all', () => {
  const usage = { cacheRead: 1_000_000, cacheWrite: 0, input: 0, output: 0 };
  const asked = { provider: 'anthropic', model: 'claude-sonnet-5-5' };
  expect(costOf(ALL, { ...asked, at: Date.parse('2026-10-06T23:59:59Z') }, usage)?.cost).toBe(0.2);
  expect(costOf(ALL, { ...asked, at: Date.parse('2026-10-07T00:00:00Z') }, usage)?.cost).toBe(0.1);
  const own = priceList([{ ...asked, base: { input: 1, output: 1, cacheRead: 0.01 }, tiers: [] }], {
    source: 'contract.yaml',
    date: '2026-11-01',
  });
  expect(costOf(inOrder(own, ALL), { ...asked, at: AT }, usage)).toEqual({
    cost: 0.01,
    price: { source: 'contract.yaml', date: '2026-11-01', model: 'claude-sonnet-5-5' },
  });
});

test('the-catalogue-is-of-a-day: its version is the one that is installed', () => {
  const text = readFileSync(
    join(import.meta.dirname, '../../node_modules/@pydantic/genai-prices/package.json'),
    'utf8',
  );
  expect((JSON.parse(text) as { version: string }).version).toBe(CATALOGUE_VERSION);
});

test('the sum agrees with the catalogue about every usage of its models', () => {
  const tokens = fc.nat(400_000);
  const usages = fc.record({ cacheRead: tokens, cacheWrite: tokens, input: tokens, output: tokens });
  const models = fc.constantFrom(
    ['anthropic', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-opus-5'],
    ['anthropic', 'claude-fable-5'],
    ['openai', 'gpt-6-sol'],
    ['openai', 'gpt-5'],
    ['openai', 'gpt-4o'],
  );
  fc.assert(
    fc.property(models, usages, ([provider = '', model = ''], usage) => {
      const { cacheRead, cacheWrite, input, output } = usage;
      const mine = costOf(catalogue, { provider, model, at: AT }, usage);
      const theirs = calcPrice(
        {
          input_tokens: cacheRead + cacheWrite + input,
          cache_read_tokens: cacheRead,
          cache_write_tokens: cacheWrite,
          output_tokens: output,
        },
        model,
        { providerId: provider, timestamp: new Date(AT) },
      );
      expect(mine?.cost).toBeCloseTo(theirs?.total_price ?? Number.NaN, 8);
    }),
    settings(),
  );
});
