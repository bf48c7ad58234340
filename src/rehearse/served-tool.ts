/** A tool as the record describes it, whose results come from the record: it never acts. */
import type { Content } from '../event/content.ts';
import type { ToolDefinition } from '../event/definition.ts';
import type { LogStore } from '../log/store.ts';
import type { Closing } from '../session/state.ts';
import { content as parts, type ContentPart } from '../tool/content.ts';
import type { Preview } from '../tool/preview.ts';
import { tool, ToolError, type Tool, type ToolContext } from '../tool/tool.ts';

/** What a call comes to in a rehearsal. */
export type Service = {
  preview(call: ToolContext['call']): Promise<Preview | undefined>;
  execute(input: unknown, context: ToolContext): Promise<unknown>;
};

export const servedTool = (definition: ToolDefinition, service: Service): Tool => {
  const { name, description, inputSchema, effect, approval, timeoutMs, retry, labels, egress } = definition;
  const { previews, calls, level, server } = definition;
  const made = tool<unknown>({
    name,
    description,
    inputSchema,
    effect,
    approval,
    timeoutMs,
    retry,
    labels,
    egress,
    ...(calls && { calls }),
    ...(level !== undefined && { level }),
    ...(previews && {
      preview: async (_: unknown, { call }: ToolContext) =>
        (await service.preview(call)) ?? { title: `${name}, not looked at: this is a rehearsal`, blocks: [] },
    }),
    ...(effect === 'reconcilable' && { reconcile: () => ({ happened: false as const }) }),
    execute: (input, context) => service.execute(input, context),
  });
  return server ? Object.freeze({ ...made, server }) : made;
};

/** What the model was told, as a tool would return or throw it. Throws ToolError; undefined means nothing returned. */
export const servedResult = async (
  closing: Closing | undefined,
  blob: LogStore['blob'],
): Promise<unknown> => {
  switch (closing?.kind) {
    case 'ok':
      return closing.nothing ? undefined : contentOf(closing.content, blob);
    case 'responded':
      return contentOf(closing.content, blob);
    case 'failed':
      throw new ToolError(closing.message, { code: closing.code });
    case 'rejected':
      throw new ToolError(closing.message, { code: closing.reason });
    default:
      // Denied by a person, cancelled, given up, in doubt: the record does not know what the tool would have said.
      throw new ToolError('In the record this call has no result.', { code: 'no-result-in-record' });
  }
};

/** Whether the record says what a call comes to when it is run. */
export const hasResult = (closing: Closing | undefined): boolean =>
  closing !== undefined && ['ok', 'responded', 'failed', 'rejected'].includes(closing.kind);

const contentOf = async (content: readonly Content[], blob: LogStore['blob']): Promise<unknown> => {
  const made: ContentPart[] = [];
  for (const part of content) {
    if (part.type !== 'blob') {
      made.push({ kind: 'text', text: part.text });
      continue;
    }
    const { digest, media, name } = part.blob;
    const bytes = (await blob(digest)) ?? new Uint8Array();
    made.push({ kind: 'bytes', bytes, type: media, ...(name !== undefined && { name }) });
  }
  return parts(...made);
};
