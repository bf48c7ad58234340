import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertPassed, examine, memoryRuntime, scriptedModel } from 'onrecord/testing';
import { clerk } from '../clerk.ts';

test('every scenario passes', async () => {
  assertPassed(await examine('scenarios'));
});

test('a refund waits for a person, and nothing is paid before', async () => {
  const model = scriptedModel({
    name: 'refund',
    steps: [{ calls: [{ tool: 'refund.pay', args: { order: 'A-7', cents: 100 } }] }, { text: 'Paid.' }],
  });
  const desk = join(mkdtempSync(join(tmpdir(), 'clerk-')), 'desk');
  await using runtime = await memoryRuntime({ agents: [clerk({ desk, model })] });
  const { session } = await runtime.send({ agent: 'clerk', message: 'Pay one back.' });
  const rest = await runtime.rest(session);
  assert.equal(rest.status, 'waiting');
  assert.equal(rest.approvals.length, 1);
});
