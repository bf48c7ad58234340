/** Labels of the texts in a conversation: joined, never taken back. */
import type { SeenLabel, ToolDefinition } from '../event/definition.ts';

/** In a fixed order, so that equal sets are equal lists. */
export const joinLabels = (
  seen: readonly SeenLabel[],
  more: readonly SeenLabel[] = [],
): readonly SeenLabel[] => {
  if (more.every((label) => seen.includes(label))) return seen;
  return (['untrusted', 'private'] as const).filter((label) => seen.includes(label) || more.includes(label));
};

export const labelsOf = (tool: ToolDefinition | undefined): readonly SeenLabel[] =>
  tool ? (['untrusted', 'private'] as const).filter((label) => tool.labels[label]) : [];
