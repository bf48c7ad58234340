/** Why what stands before the conversation is another than in the request before: the agent, or text that changes by itself. */
import type { AgentDefinition, ToolDefinition } from '../event/definition.ts';
import { canonical } from '../event/canonical.ts';
import { textChanges, type TextChange } from './changing-text.ts';

export type FrameCause =
  /** The provider or the form of its requests is another: nothing can be shared. */
  | { readonly kind: 'encoder'; readonly before: string; readonly after: string }
  | { readonly kind: 'model'; readonly before: string; readonly after: string }
  | { readonly kind: 'params'; readonly names: readonly string[] }
  | { readonly kind: 'tool-order'; readonly names: readonly string[] }
  | { readonly kind: 'tools'; readonly added: readonly string[]; readonly removed: readonly string[] }
  | { readonly kind: 'tool-definition'; readonly name: string; readonly changes: readonly TextChange[] }
  | { readonly kind: 'instructions'; readonly changes: readonly TextChange[] }
  /** The agent is the same and the text is not: the adapter put something in that changes. */
  | { readonly kind: 'frame'; readonly changes: readonly TextChange[] };

export type Framed = { readonly agent: AgentDefinition; readonly head: string };

/** In the order in which providers read them: model, tools, instructions. */
export const frameCauses = (before: Framed, after: Framed): readonly FrameCause[] => {
  if (before.head === after.head) return [];
  const [one, other] = [before.agent, after.agent];
  if (one.model.provider !== other.model.provider)
    return [{ kind: 'encoder', before: one.model.provider, after: other.model.provider }];
  const causes: readonly FrameCause[] = [
    ...modelCauses(one, other),
    ...toolCauses(one.tools, other.tools),
    ...(one.instructions === other.instructions
      ? []
      : [{ kind: 'instructions' as const, changes: textChanges(one.instructions, other.instructions) }]),
  ];
  return causes.length > 0 ? causes : [{ kind: 'frame', changes: textChanges(before.head, after.head) }];
};

const modelCauses = (
  { model: one }: AgentDefinition,
  { model: other }: AgentDefinition,
): readonly FrameCause[] => {
  const keys = [...new Set([...Object.keys(one.params), ...Object.keys(other.params)])];
  const names = keys.filter(
    (key) => canonical(one.params[key] ?? null) !== canonical(other.params[key] ?? null),
  );
  return [
    ...(one.name === other.name ? [] : [{ kind: 'model' as const, before: one.name, after: other.name }]),
    ...(names.length === 0 ? [] : [{ kind: 'params' as const, names }]),
  ];
};

const toolCauses = (
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): readonly FrameCause[] => {
  const [old, now] = [before, after].map((tools) => tools.map((tool) => tool.name));
  if (!old || !now) return [];
  const added = now.filter((name) => !old.includes(name));
  const removed = old.filter((name) => !now.includes(name));
  const stayed = now.filter((name) => old.includes(name));
  const order = old.filter((name) => now.includes(name));
  const moved = stayed.filter((name, i) => order[i] !== name);
  const changed = after.flatMap((tool): readonly FrameCause[] => {
    const was = before.find((one) => one.name === tool.name);
    if (!was || seen(was) === seen(tool)) return [];
    return [{ kind: 'tool-definition', name: tool.name, changes: textChanges(seen(was), seen(tool)) }];
  });
  return [
    ...(added.length + removed.length === 0 ? [] : [{ kind: 'tools' as const, added, removed }]),
    ...(moved.length === 0 ? [] : [{ kind: 'tool-order' as const, names: moved }]),
    ...changed,
  ];
};

/** What a model sees of a tool. */
const seen = ({ name, description, inputSchema }: ToolDefinition): string =>
  canonical({ name, description, inputSchema });
