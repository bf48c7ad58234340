/** Words on buttons: the act as its tool calls it, whole or not at all. */
import { expect, test } from 'vitest';
import { actWords, doubtQuestion } from '../../src/view/card-words.ts';

const act = (title: string) => ({ preview: { title, blocks: [] }, tool: 'pay.back' });

test.each([
  ['Save a mail draft. Nothing is sent.', 'save a mail draft'],
  ['Write a note on file HJ-204. Nothing is sent.', 'write a note on file HJ-204'],
  ['Pay 49.00 back for order A-7.', 'pay 49.00 back for order A-7'],
  ['Pay back 49.00. The customer is told.', 'pay back 49.00'],
  ['Ask for https://api.example/v1.2/rates', 'ask for https://api.example/v1.2/rates'],
  ['Write to Dr. Haas about No. 7 and no one else', 'write to Dr. Haas about No. 7 and no one else'],
  ['Pay Mr. Ross. It cannot be undone.', 'pay Mr. Ross'],
  ['Send it to office@halden.example\nand to nobody else', 'send it to office@halden.example'],
  [`Move ${'a '.repeat(40)}file`, 'run pay.back'],
  ['orders/7', 'run pay.back'],
  ['', 'run pay.back'],
])('%j is %j', (title, words) => {
  expect(actWords(act(title))).toBe(words);
  expect(doubtQuestion(act(title))).toBe(`Did this happen: ${words}?`);
});

test('without a preview it is the tool that runs', () => {
  expect(actWords({ preview: undefined, tool: 'pay.back' })).toBe('run pay.back');
});
