/**
 * Recorded conversations that were carried from one provider to the other: what the adapters hand over of the
 * other's replies is what the recorded client handed over, and what only the other can read stays behind.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Encoder } from '../../src/context/encoding.ts';
import type { ResponseBlock } from '../../src/event/content.ts';
import { anthropicEncoder } from '../../src/model/anthropic-encoder.ts';
import { readMessage } from '../../src/model/anthropic-reply.ts';
import { chatEncoder } from '../../src/model/chat-encoder.ts';
import { openaiEncoder } from '../../src/model/openai-encoder.ts';
import { readResponse } from '../../src/model/openai-reply.ts';
import { promptBlocks } from './openai-stage.ts';
import { recordedFile, recordedMissing, type JsonRecord } from './recorded.ts';

if (recordedMissing !== undefined) console.warn(recordedMissing);

type Side = 'anthropic' | 'openai';
type Exchanged = {
  readonly side: Side;
  readonly sent: JsonRecord;
  readonly content: readonly ResponseBlock[];
};

const contentOf = (side: Side, body: unknown): readonly ResponseBlock[] => {
  const text = JSON.stringify(body);
  const read = side === 'anthropic' ? readMessage(text, []) : readResponse(text);
  if (!('content' in read)) throw new Error(`no answer: ${text.slice(0, 300)}`);
  return read.content;
};

type Line = {
  readonly id: string;
  readonly exchanges: readonly {
    readonly request: { readonly path: string; readonly body: unknown };
    readonly response: { readonly body: unknown };
  }[];
};

const conversations = (
  recordedMissing === undefined ? readFileSync(recordedFile('mixed.jsonl'), 'utf8').trim().split('\n') : []
)
  .map((line) => JSON.parse(line) as Line)
  .map(({ id, exchanges }) => ({
    id,
    exchanges: exchanges.map(({ request, response }): Exchanged => {
      const side = request.path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
      return { side, sent: request.body as JsonRecord, content: contentOf(side, response.body) };
    }),
  }));

/** What a foreign reply says that any provider can be told: texts, and calls by id, name and arguments. */
type Told = readonly unknown[];

const inOpenai = (items: readonly JsonRecord[]): Told =>
  items.flatMap((item): readonly unknown[] => {
    if (item['type'] === 'function_call')
      return [[item['call_id'], item['name'], JSON.parse(item['arguments'] as string) as unknown]];
    return item['role'] === 'assistant' && typeof item['content'] === 'string' ? [item['content']] : [];
  });

const inAnthropic = (messages: readonly JsonRecord[]): Told =>
  messages.flatMap(({ role, content }) =>
    role !== 'assistant'
      ? []
      : (content as readonly JsonRecord[]).flatMap((block): readonly unknown[] => {
          if (block['type'] === 'tool_use') return [[block['id'], block['name'], block['input']]];
          return block['type'] === 'text' ? [block['text']] : [];
        }),
  );

const handedOver = (
  encoder: Encoder,
  side: Side,
  content: readonly ResponseBlock[],
): readonly JsonRecord[] => {
  const by = { provider: side, name: 'recorded' };
  return encoder
    .elements({ kind: 'assistant', blocks: promptBlocks(content), by })
    .map((element) => JSON.parse(element) as JsonRecord);
};

const TARGETS = {
  openai: { encoder: openaiEncoder('openai'), told: inOpenai, member: 'input' },
  anthropic: { encoder: anthropicEncoder('anthropic'), told: inAnthropic, member: 'messages' },
} as const;

/** The recorder wrote typographic signs of requests in ASCII. */
const plain = (told: unknown): string => JSON.stringify(told).replaceAll(/[‘’]/g, "'").replaceAll('—', '--');

describe.skipIf(recordedMissing !== undefined)('a conversation that changes its provider', () => {
  it('hands over texts and calls as the recorded client did', () => {
    let compared = 0;
    const missed: string[] = [];
    for (const { id, exchanges } of conversations)
      for (const [i, { side, sent }] of exchanges.entries()) {
        const { encoder, told, member } = TARGETS[side];
        const foreign = exchanges.slice(0, i).filter((earlier) => earlier.side !== side);
        const there = told(sent[member] as JsonRecord[]).map(plain);
        for (const { side: other, content } of foreign)
          for (const one of told(handedOver(encoder, other, content)).map(plain)) {
            if (!there.includes(one))
              missed.push(`${id} #${i}: ${one.slice(0, 200)} NOT IN ${there.join(' ; ').slice(0, 600)}`);
            compared++;
          }
      }
    expect(missed).toEqual([]);
    expect(compared).toBe(23);
  });

  it('leaves behind, by name, what only the other provider can read', () => {
    const why = new Set<string>();
    for (const { exchanges } of conversations)
      for (const { side, content } of exchanges) {
        const opaque = content.filter(({ type }) => type === 'opaque' || type === 'reasoning').length;
        const by = { provider: side, name: 'recorded' };
        const item = { kind: 'assistant', blocks: promptBlocks(content), by } as const;
        for (const encoder of [
          TARGETS[side === 'openai' ? 'anthropic' : 'openai'].encoder,
          chatEncoder('vllm'),
        ]) {
          const omitted = encoder.omissions?.(item) ?? [];
          expect(omitted).toHaveLength(opaque);
          for (const omission of omitted) why.add(`${omission.type} ${omission.why}`);
          expect(encoder.elements(item).join('')).not.toMatch(/encrypted|signature|tool_search/);
        }
      }
    expect([...why].sort()).toEqual(['opaque foreign', 'reasoning foreign']);
  });
});
