/** What providers say beside the counts: in the shapes that their SDKs document, and as it was recorded. */
import { describe, expect, test } from 'vitest';
import { MessageStream, readMessage } from '../../src/model/anthropic-reply.ts';
import { ChatStream } from '../../src/model/chat-stream.ts';
import { EventDecoder } from '../../src/model/openai-events.ts';
import { readResponse } from '../../src/model/openai-reply.ts';
import { ResponsesStream } from '../../src/model/openai-stream.ts';
import { anthropicRemarks, openaiRemarks } from '../../src/model/remarks.ts';
import { remarkLines } from '../../src/view/remark-words.ts';
import { fixtures, recordedMissing, recordings } from './recorded.ts';

if (recordedMissing !== undefined) console.warn(`\n${recordedMissing} (remarks)\n`);

type Body = Readonly<Record<string, unknown>>;

const message = (more: Body = {}, usage: Body = {}): Body => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-stand-in',
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 2, ...usage },
  ...more,
});

const counted = (usage: Body): unknown => {
  const read = readMessage(JSON.stringify(message({}, usage)), []);
  return 'kind' in read ? read : read.usage;
};

const lifetimes = (short: number, long: number): Body => ({
  cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
});

const MISS = { cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 4200 } };
const DROPPED = {
  type: 'thinking_dropped',
  path: 'messages.1.content.0',
  reason: 'prefix_binding_mismatch',
};
const CLEARED = { type: 'clear_tool_uses_20250919', cleared_input_tokens: 900, cleared_tool_uses: 3 };

const SAID = {
  cache: { said: 'tools_changed', missedTokens: 4200 },
  changes: [
    { what: 'thinking_dropped', why: 'prefix_binding_mismatch', where: 'messages.1.content.0' },
    { what: 'clear_tool_uses_20250919', tokens: 900 },
  ],
  tier: 'priority',
};

describe('Anthropic', () => {
  test('a miss, a dropped block, an edit and the tier are one remark, in one body', () => {
    const body = message(
      {
        diagnostics: MISS,
        input_transformations: [DROPPED],
        context_management: { applied_edits: [CLEARED] },
      },
      { service_tier: 'priority' },
    );
    expect(readMessage(JSON.stringify(body), [])).toMatchObject({ stop: 'end', remarks: SAID });
    expect(remarkLines(SAID)).toEqual([
      'the provider says of its cache: tools_changed, 4,200 tokens missed',
      'the provider changed the input: thinking_dropped at messages.1.content.0 (prefix_binding_mismatch)',
      'the provider changed the input: clear_tool_uses_20250919, 900 tokens',
      'the provider served it with tier priority',
    ]);
  });

  test('in a stream the start says some and its last event the rest; a later list replaces the earlier one', () => {
    const stream = new MessageStream([], () => undefined);
    const start = message(
      {
        content: [],
        stop_reason: null,
        diagnostics: MISS,
        input_transformations: [{ ...DROPPED, path: 'messages.9.content.9' }],
      },
      { service_tier: 'priority' },
    );
    const events: readonly Body[] = [
      { type: 'message_start', message: start },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 2 },
        input_transformations: [DROPPED],
        context_management: { applied_edits: [CLEARED] },
      },
      { type: 'message_stop' },
    ];
    for (const event of events) stream.push(JSON.stringify(event));
    expect(stream.message().remarks).toEqual(SAID);
  });

  test.each([
    ['pending', { diagnostics: { cache_miss_reason: null } }, { said: 'pending' }],
    [
      'not found',
      { diagnostics: { cache_miss_reason: { type: 'previous_message_not_found' } } },
      { said: 'previous_message_not_found' },
    ],
    ['not asked', { diagnostics: null }, undefined],
  ])('a comparison that is %s', (_, more, cache) => {
    expect(anthropicRemarks(message(more))?.cache).toEqual(cache);
  });

  test('what it writes for an hour has its own count, and what grew later has the one lifetime that was named', () => {
    const total = { cache_creation_input_tokens: 1000 };
    expect(counted({ ...total, ...lifetimes(600, 400) })).toMatchObject({
      cacheWrite: 1000,
      cacheWriteLong: 400,
    });
    expect(counted({ ...total, ...lifetimes(0, 700) })).toMatchObject({
      cacheWrite: 1000,
      cacheWriteLong: 1000,
    });
    expect(counted({ ...total, ...lifetimes(1000, 0) })).not.toHaveProperty('cacheWriteLong');
    expect(counted(total)).not.toHaveProperty('cacheWriteLong');
  });
});

describe('OpenAI', () => {
  test('a miss, removed reasoning and the tier of a response', () => {
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [],
      service_tier: 'flex',
      prompt_cache_diagnostics: { type: 'cache_miss', reason: 'input_changed', cache_missed_tokens: 77 },
      input_transformations: [
        { type: 'reasoning', action: 'removed', id: 'rs_1', reason: 'prefix_mismatch' },
      ],
    };
    expect(readResponse(JSON.stringify(response))).toMatchObject({
      remarks: {
        cache: { said: 'input_changed', missedTokens: 77 },
        changes: [{ what: 'reasoning removed', why: 'prefix_mismatch', where: 'rs_1' }],
        tier: 'flex',
      },
    });
    expect(openaiRemarks({ prompt_cache_diagnostics: { type: 'cache_hit' } })).toEqual({
      cache: { said: 'cache_hit' },
    });
    expect(openaiRemarks({ input_transformations: [], service_tier: null })).toBeUndefined();
  });
});

describe('what is no such thing is none', () => {
  test.each([
    [{ diagnostics: 'x', input_transformations: 'y', context_management: 7 }],
    [{ input_transformations: [null, 3, { type: 7 }], context_management: { applied_edits: {} } }],
  ])('%j', (more) => {
    expect(anthropicRemarks(message(more))).toBeUndefined();
    expect(openaiRemarks({ ...more, prompt_cache_diagnostics: [] })).toBeUndefined();
  });

  test('a long word is cut and a long list, too', () => {
    const many = Array.from({ length: 500 }, () => ({ type: 'x'.repeat(9000) }));
    const { changes = [] } = anthropicRemarks(message({ input_transformations: many })) ?? {};
    expect(changes).toHaveLength(100);
    expect(changes[0]?.what).toHaveLength(200);
  });
});

describe.skipIf(recordedMissing !== undefined)('as recorded', () => {
  test('the tier of every recorded reply that names one, and no change where no edit was applied', () => {
    const bodies = recordings('anthropic.jsonl', '/v1/messages?beta=true').flat();
    const edited = fixtures('anthropic/anthropic-clear').flatMap((one) =>
      one.kind === 'json' ? [one.body] : [],
    );
    expect(edited.length).toBeGreaterThan(1);
    for (const body of edited) expect(anthropicRemarks(body)).toEqual({ tier: 'standard' });
    const named = bodies.filter(({ body }) =>
      JSON.stringify(body ?? {}).includes('"service_tier":"standard"'),
    );
    expect(named.length).toBeGreaterThan(50);
    for (const { body = {} } of named) expect(anthropicRemarks(body)?.tier).toBe('standard');
  });

  test('the tier that served a request, not the one that was asked for', () => {
    const asked = recordings('openai-responses.jsonl', '/v1/responses').flat();
    const flex = asked.filter(({ sse = '' }) => sse.includes('"service_tier":"flex"'));
    const read = flex.map(({ sse = '' }) => {
      const reader = new ResponsesStream(() => undefined);
      for (const { data, last } of new EventDecoder().push(Buffer.from(sse))) reader.push(data, last);
      return reader.reading();
    });
    expect(read).toMatchObject([{ kind: 'response', remarks: { tier: 'flex' } }]);
    const tiers = asked.flatMap(({ body }) =>
      body?.['object'] === 'response' ? [openaiRemarks(body)?.tier] : [],
    );
    expect(tiers).toContain('default');
    const chunk = {
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
      service_tier: 'default',
    };
    const stream = new ChatStream(() => undefined);
    stream.push(JSON.stringify(chunk), false);
    expect(stream.reading()).toMatchObject({ remarks: { tier: 'default' } });
  });
});
