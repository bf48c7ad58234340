/** What the manifest says of files is what the adapters do: no byte of a file is in a request, its line is. */
import { expect, onTestFinished, test } from 'vitest';
import { rebuildAll, rebuildRequest } from '../../src/context/rebuild.ts';
import { open } from '../../src/event/envelope.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model } from '../../src/model/model.ts';
import { content } from '../../src/tool/content.ts';
import { tool } from '../../src/tool/tool.ts';
import { sentPlan } from '../../src/view/request-plan.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { DIALECTS } from './dialects.ts';

const BYTES = Buffer.from('%PDF-1.7 what stands in the file and nowhere else');

const next = (): never => {
  throw new Error('nobody is asked');
};

test.each(DIALECTS)(
  '$name is sent the name, type and size of a file, and nothing of what is in it',
  async (dialect) => {
    const { definition, encoder } = dialect.model({ url: 'http://127.0.0.1:1', next });
    const model: Model = {
      definition,
      encoder,
      send: async ({ step }) =>
        step === 1
          ? {
              kind: 'response',
              stop: 'calls',
              content: [{ type: 'call', label: 'c', name: 'scan', args: '{}' }],
            }
          : { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'Seen.' }] },
    };
    const scan = tool({
      name: 'scan',
      description: 'Scans a page.',
      inputSchema: { type: 'object' },
      effect: 'none',
      execute: () => content({ kind: 'bytes', bytes: BYTES, type: 'application/pdf', name: 'page.pdf' }),
    });
    const store = new MemoryLog();
    const agent = defineAgent({ name: 'clerk', instructions: 'Be exact.', model, tools: [scan] });
    const runtime = await openRuntime({ store, agents: [agent] });
    onTestFinished(() => runtime.close());
    const { session } = await runtime.send({ agent: 'clerk', message: 'Scan it.' });
    await runtime.rest(session);

    const events = (await store.read(session)).map(open);
    const blob: typeof store.blob = (digest) => store.blob(digest);
    const second = events.filter(({ type }) => type === 'request.built')[1];
    const { body } = await rebuildRequest({ eventAt: (seq) => events[seq - 1], blob }, second?.seq ?? 0);
    expect(body).toContain(`page.pdf\\": application/pdf, ${BYTES.length} bytes, kept in the record]`);
    expect(body).not.toContain('what stands in the file');
    expect(body).not.toContain(BYTES.toString('base64').slice(0, 24));
    const plan = await sentPlan(session, events, rebuildAll(events, blob), 2);
    expect(plan.manifest.parts.filter(({ kind }) => kind === 'file')).toMatchObject([
      { label: 'page.pdf', state: 'left-out', reason: 'files are not sent; its name, type and size are' },
    ]);
  },
);
