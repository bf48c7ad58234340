/** Encrypted reasoning is long. It is stored once, however often it goes back. */
import { expect, test } from 'vitest';
import { openai } from '../../src/model/openai.ts';
import { json, standIn } from './openai-stage.ts';
import { ask, dataOf } from './openai-told.ts';

const ENCRYPTED = `gAAAA${'Zm9yZ2V0IG1lIG5vdA'.repeat(300)}`;

const reasoning = (id: string): object => ({
  id,
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'The shelf has to be looked at before anything can be said about it.' },
  ],
  encrypted_content: ENCRYPTED,
});

test('encrypted reasoning goes back in every request and is stored once', async () => {
  let step = 0;
  const { url, heard } = await standIn((_, response) => {
    step++;
    const call = {
      id: `fc_${step}`,
      type: 'function_call',
      call_id: `call_${step}`,
      name: 'stock__read',
      arguments: JSON.stringify({ shelf: String(step) }),
    };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Full.' }],
    };
    const output = step < 4 ? [reasoning(`rs_${step}`), call] : [message];
    json(response, { id: `resp_${step}`, status: 'completed', output });
  });
  const told = await ask(openai({ baseUrl: url }).model('gpt-story'), 'Look at the shelves.');
  expect(dataOf(told, 'turn.ended')).toMatchObject([{ outcome: 'done' }]);
  expect(heard.map(({ body }) => body.split(ENCRYPTED).length - 1)).toEqual([0, 1, 2, 3]);
  const responses = JSON.stringify(dataOf(told, 'response.received'));
  const requests = JSON.stringify(dataOf(told, 'request.built'));
  expect(responses.split(ENCRYPTED).length - 1).toBe(3);
  expect(requests.split(ENCRYPTED).length - 1).toBe(0);
});
