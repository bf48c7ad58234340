/**
 * The scripted model: answers from a script, by the number of the model call in its session. That number is
 * counted from the log, so a restart changes nothing. Unused steps are for the caller to refuse (`unusedSteps`).
 */
import type { ResponseBlock } from '../event/content.ts';
import { neutralEncoder } from './neutral.ts';
import type { Model, ModelReply, ModelRequest } from './model.ts';
import type { Script, ScriptReply, ScriptStep } from './script.ts';

export type ScriptedModel = Model & {
  readonly script: Script;
  /** How many steps of the script a session has not reached after `modelCalls` model calls. */
  unusedSteps(modelCalls: number): number;
};

export const scriptedModel = (script: Script): ScriptedModel => {
  const steps = script.steps.flatMap((step) => Array.from({ length: step.repeat ?? 1 }, () => step));
  return {
    definition: { provider: 'scripted', name: script.name, params: {} },
    encoder: neutralEncoder,
    script,
    send: async (request) => {
      const step = steps[request.modelCall - 1];
      if (!step) return unscripted(request, steps.length);
      return play(pick(step, request), request);
    },
    unusedSteps: (modelCalls) => Math.max(0, steps.length - modelCalls),
  };
};

const unscripted = (request: ModelRequest, steps: number): ModelReply => ({
  kind: 'failed',
  maybeBilled: false,
  problem: {
    kind: 'bad-request',
    message: `The script has ${steps} steps; model call ${request.modelCall} asks for one more.`,
  },
});

const pick = (step: ScriptStep, request: ModelRequest): ScriptReply | undefined => {
  if (!step.choose) return step;
  const body = request.body();
  return step.choose.find(({ when }) => when === undefined || body.includes(escaped(when)));
};

/** How a text stands inside the JSON of a request. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const play = async (reply: ScriptReply | undefined, request: ModelRequest): Promise<ModelReply> => {
  if (!reply) return apart(`no choice of the script fits model call ${request.modelCall}`);
  if (reply.expects !== undefined && !request.body().includes(escaped(reply.expects)))
    return apart(`model call ${request.modelCall} should contain ${JSON.stringify(reply.expects)}`);
  const began = request.monotonic();
  if (reply.delayMs !== undefined) await request.sleep(reply.delayMs, request.signal);
  if (request.signal.aborted) return cancelled();
  if (reply.error) {
    const { maybeBilled = false, kind, message = 'Scripted failure.', status, retryAfterMs } = reply.error;
    const optional = {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    return { kind: 'failed', maybeBilled, problem: { kind, message, ...optional } };
  }
  const firstTokenMs = Math.round(request.monotonic() - began);
  await stream(reply, request);
  return request.signal.aborted ? cancelled() : answer(reply, request, firstTokenMs);
};

const apart = (what: string): ModelReply => ({
  kind: 'failed',
  maybeBilled: false,
  problem: { kind: 'bad-request', message: `Script and session have come apart: ${what}.` },
});

const cancelled = (): ModelReply => ({
  kind: 'failed',
  maybeBilled: true,
  problem: { kind: 'cancelled', message: 'The request was cancelled.' },
});

const stream = async (reply: ScriptReply, request: ModelRequest): Promise<void> => {
  const { text = '', reasoning = '' } = reply;
  if (reasoning !== '') request.onDelta({ type: 'reasoning', text: reasoning });
  const { pieces, everyMs } = reply.stream ?? { pieces: 1, everyMs: 0 };
  const points = Array.from(text);
  const size = Math.max(1, Math.ceil(points.length / pieces));
  for (let at = 0; at < points.length && !request.signal.aborted; at += size) {
    if (at > 0) await request.sleep(everyMs, request.signal);
    request.onDelta({ type: 'text', text: points.slice(at, at + size).join('') });
  }
};

const answer = (reply: ScriptReply, request: ModelRequest, firstTokenMs: number): ModelReply => {
  const content: ResponseBlock[] = [];
  if (reply.reasoning !== undefined) content.push({ type: 'reasoning', text: reply.reasoning });
  if (reply.text !== undefined) content.push({ type: 'text', text: reply.text });
  for (const [i, call] of (reply.calls ?? []).entries())
    content.push({
      type: 'call',
      label: call.id ?? `call_${request.modelCall}_${i + 1}`,
      name: call.tool,
      args: call.argsRaw ?? JSON.stringify(call.args ?? {}),
    });
  return {
    kind: 'response',
    stop: reply.stop ?? ((reply.calls?.length ?? 0) > 0 ? 'calls' : 'end'),
    content,
    firstTokenMs,
    ...(reply.stopDetail !== undefined && { stopDetail: reply.stopDetail }),
    ...(reply.usage && { usage: reply.usage }),
    ...(reply.cost !== undefined && { cost: reply.cost }),
  };
};
