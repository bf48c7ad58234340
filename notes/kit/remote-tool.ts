/** For the configurations of notes: a tool whose deed is done by the experiment's service, over a socket. */
import { tool, type Tool } from '../../src/index.ts';

export type RemoteInput = { readonly tag: string };

export type RemoteTool = Required<Pick<Parameters<typeof tool>[0], 'name' | 'description' | 'effect'>> & {
  readonly service: string;
  readonly approval?: 'always' | 'never';
};

export const remoteTool = ({ service, name, description, effect, approval = 'never' }: RemoteTool): Tool => {
  const say = async (path: string, { tag }: RemoteInput, key: string): Promise<unknown> => {
    const body = JSON.stringify({ what: name, tag, key });
    return (await fetch(service + path, { method: 'POST', body })).json();
  };
  return tool<RemoteInput>({
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { tag: { type: 'string' } },
      required: ['tag'],
      additionalProperties: false,
    },
    effect,
    approval,
    ...(effect === 'reconcilable' && {
      reconcile: async (input, { idempotencyKey }) => {
        const { done } = (await say('/asked', input, idempotencyKey)) as { readonly done: boolean };
        return done ? { happened: true, result: { did: true } } : { happened: false };
      },
    }),
    execute: (input, { idempotencyKey }) => say('/do', input, idempotencyKey),
  });
};
