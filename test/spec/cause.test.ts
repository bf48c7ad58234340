/** Where a replay differs, the likely cause is named: what of the agent the decision depends on, or the program. */
import { expect, test } from 'vitest';
import { digestOf } from '../../src/event/canonical.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/event/definition.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay, type ReplayDifference } from '../../src/replay/replay.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { Stage } from '../kit/stage.ts';

const recorded = async (): Promise<{ session: string; events: readonly LogEvent[] }> => {
  const stage = new Stage({
    says: (_, step) => (step < 3 ? { calls: [{ tool: 'once', args: { n: step } }] } : { text: 'Done.' }),
  });
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  return { session, events: await stage.events(session) };
};

/** The log as if the session had been recorded with another agent. */
const withAgent = (
  events: readonly LogEvent[],
  change: (agent: AgentDefinition) => Partial<AgentDefinition>,
): readonly LogEvent[] =>
  events.map((event) =>
    event.type === 'session.created'
      ? { ...event, data: { ...event.data, agent: { ...event.data.agent, ...change(event.data.agent) } } }
      : event,
  );

const strict = (tool: ToolDefinition): ToolDefinition => ({
  ...tool,
  inputSchema: { type: 'object', required: ['absent'] },
  digest: digestOf('strict'),
});

const differs = (
  session: string,
  events: readonly LogEvent[],
  program: string = PROGRAM,
): ReplayDifference | undefined =>
  replay({ session, events, encoderOf: () => neutralEncoder, program }).difference;

test('nothing differs where nothing was changed, whatever the program is called', async () => {
  const { session, events } = await recorded();
  expect(differs(session, events)).toBeUndefined();
  expect(differs(session, events, 'onrecord 9.9.9')).toBeUndefined();
});

test.each([
  ['prompt', () => ({ instructions: 'Be quick.' }), 'request.built', undefined],
  [
    'prompt',
    () => ({ model: { provider: 'scripted', name: 'other', params: {} } }),
    'request.built',
    undefined,
  ],
  ['policy', () => ({ policy: { rules: [] } }), 'call.proposed', '/do'],
  ['policy', () => ({ policy: { rules: [{ id: 'no', do: 'deny' as const }] } }), 'call.proposed', ''],
  [
    'tool-definition',
    ({ tools }: AgentDefinition) => ({
      tools: tools.map(strict),
    }),
    'request.built',
    undefined,
  ],
  [
    'limits',
    ({ limits }: AgentDefinition) => ({ limits: { ...limits, stepsPerTurn: 1 } }),
    'request.built',
    '',
  ],
] as const)('%s', async (area, change, type, path) => {
  const { session, events } = await recorded();
  const found = differs(session, withAgent(events, change));
  const shown = area === 'tool-definition' ? 'prompt' : area;
  // A schema is part of what the model is offered: the request shows it first.
  expect(found).toMatchObject({ type, area: shown, ...(path !== undefined && { path }) });
});

test('a schema that judges the arguments otherwise, where the request does not show it', async () => {
  const { session, events } = await recorded();
  const judged = withAgent(events, ({ tools }) => ({ tools: tools.map(strict) }));
  const found = replay({ session, events: judged, encoderOf: () => undefined, program: PROGRAM });
  expect(found.requestsUnknown).toBe(1);
  expect(found.difference).toMatchObject({ type: 'call.proposed', area: 'tool-definition' });
});

test('another program version is named first, and where it shows', async () => {
  const { session, events } = await recorded();
  const found = differs(
    session,
    withAgent(events, () => ({ policy: { rules: [] } })),
    'onrecord 9.9.9',
  );
  expect(found?.area).toBe('policy');
  expect(found?.cause).toBe(
    `another program version: recorded by ${PROGRAM}, this is onrecord 9.9.9. It shows in the policy: a rule judges the call otherwise`,
  );
});

test('a log that ends before what follows from it', async () => {
  const { session, events } = await recorded();
  const response = events.findIndex(({ type }) => type === 'response.received');
  expect(differs(session, events.slice(0, response + 1))).toMatchObject({
    seq: response + 2,
    type: 'end of the log',
    area: 'log-cut',
  });
});
