/** What no request may hold, whoever made it. */
import { expect, test } from 'vitest';
import { checkItems } from '../../src/context/check.ts';
import type { PromptItem } from '../../src/context/encoding.ts';

const by = { provider: 'scripted', name: 'one' } as const;
const user: PromptItem = { kind: 'user', text: 'Do it.' };
const call = (id: string, args = '{}'): PromptItem => ({
  kind: 'assistant',
  by,
  blocks: [{ type: 'call', id, name: 'a', args }],
});
const results = (...ids: readonly string[]): PromptItem => ({
  kind: 'results',
  results: ids.map((id) => ({ id, name: 'a', text: 'ok', isError: false })),
});
const said = (text: string): PromptItem => ({ kind: 'assistant', by, blocks: [{ type: 'text', text }] });

test('a-conversation-that-is-right passes', () => {
  expect(checkItems([user])).toBeUndefined();
  expect(checkItems([user, call('a'), results('a'), said('Done.'), user])).toBeUndefined();
  expect(checkItems([{ kind: 'note', text: 'A summary.' }, user, said('Yes.'), user])).toBeUndefined();
});

test('each-rule-catches-its-breach', () => {
  const two: PromptItem = {
    kind: 'assistant',
    by,
    blocks: [
      { type: 'call', id: 'a', name: 'a', args: '{}' },
      { type: 'call', id: 'b', name: 'a', args: '{}' },
    ],
  };
  const wrong: readonly (readonly [string, readonly PromptItem[]])[] = [
    ['request-empty', []],
    ['answer-first', [said('Hello.')]],
    ['result-missing', [user, call('a')]],
    ['result-missing', [user, call('a'), user]],
    ['result-missing', [user, call('a'), { kind: 'note', text: 'News.' }, results('a')]],
    ['results-not-of-calls', [user, results('a')]],
    ['results-not-of-calls', [user, call('a'), results('b')]],
    ['results-not-of-calls', [user, two, results('b', 'a')]],
    ['results-not-of-calls', [user, two, results('a')]],
    ['results-not-of-calls', [user, call('a'), results('a'), results('a')]],
    ['call-id', [user, call('a'), results('a'), call('a'), results('a')]],
    ['call-id', [user, call('not plain'), results('not plain')]],
    ['call-arguments', [user, call('a', '[]'), results('a')]],
    ['call-arguments', [user, call('a', '{'), results('a')]],
    ['text-empty', [{ kind: 'user', text: '' }]],
    ['text-empty', [user, said('')]],
    ['answer-empty', [user, { kind: 'assistant', by, blocks: [] }]],
    ['text-not-well-formed', [{ kind: 'user', text: 'half \ud800' }]],
    ['text-not-well-formed', [user, said('nul \0')]],
  ];
  for (const [code, items] of wrong) expect([code, checkItems(items)?.code]).toEqual([code, code]);
});
