/** A session keeps the level that its programs are bounded by, on whatever machine it goes on. */
import { expect, test } from 'vitest';
import type { ScriptReply } from '../../src/model/script.ts';
import { tool, ToolError, type Tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { audit } from '../kit/audit.ts';
import { Stage } from '../kit/stage.ts';

const runs = (level: string, execute: () => unknown, others: readonly Tool[] = []): Tool =>
  tool({
    name: 'run',
    description: `Runs at level ${level}.`,
    inputSchema: { type: 'object' },
    effect: 'none',
    level,
    atOtherLevels: others,
    execute,
  });

const nowhere = (): never => {
  throw new ToolError('There is no room of level strong here.', { code: 'room-unavailable' });
};

/** A machine that has both levels, one that has only the weak one, and one whose owner wants the weak one. */
const atStrong = runs('strong', () => 'ran at strong', [runs('weak', () => 'ran at weak')]);
const atWeak = runs('weak', () => 'ran at weak', [runs('strong', nowhere)]);
const weakByWord = runs('weak', () => 'ran at weak');

const says = (_: number, step: number): ScriptReply =>
  step === 1 ? { calls: [{ tool: 'run', args: {} }] } : { text: 'Done.' };

/** A session that began on one machine, and has its second turn on another. */
const moved = async (from: Tool, to: Tool): Promise<{ stage: Stage; session: string; told: string }> => {
  const stage = new Stage({ says, tools: () => [from] });
  const first = await stage.open();
  const session = await stage.send();
  await first.rest(session);
  await first.close({ drainMs: 0 });
  const { definition, model } = stage.agent;
  const { name, instructions, policy } = definition;
  const agent: Agent = defineAgent({ name, instructions, policy, model, tools: [to] });
  const second = await stage.open({ agent });
  await second.send({ session, message: 'Again.' });
  await second.rest(session);
  await audit(stage, session, await second.state(session));
  return { stage, session, told: stage.heard.at(-1)?.body ?? '' };
};

test('where it is not to be had, calls fail by name: nothing falls back, and the definition stays', async () => {
  const { stage, session, told } = await moved(atStrong, atWeak);
  expect(told).toContain('There is no room of level strong here.');
  expect(told).not.toContain('ran at weak');
  expect(await stage.types(session)).not.toContain('agent.updated');
});

test('a machine that has a better one runs the session at its own', async () => {
  const { stage, session, told } = await moved(atWeak, atStrong);
  expect(told.match(/ran at \w+/g)).toEqual(['ran at weak', 'ran at weak']);
  expect(await stage.types(session)).not.toContain('agent.updated');
});

test('whoever names a level means every session, and the log says so', async () => {
  const { stage, session, told } = await moved(atStrong, weakByWord);
  expect(told.match(/ran at \w+/g)).toEqual(['ran at strong', 'ran at weak']);
  const updated = await stage.event(session, 'agent.updated');
  expect(updated.data).toMatchObject({ agent: { tools: [{ name: 'run', level: 'weak' }] } });
});
