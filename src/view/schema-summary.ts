/** A tool's JSON Schema in one line: `path, lines?: {from, to}, mode: "a" | "b"`. */
import { isJsonObject, type JsonObject } from '../event/json.ts';

/** Members named before the rest is counted. */
const MEMBERS_SHOWN_MAX = 12;
const CHOICES_SHOWN_MAX = 4;
const DEPTH_MAX = 2;

export const inputSummary = (schema: JsonObject): string => {
  const text = objectSummary(schema, 0);
  return text === '' ? 'none' : text;
};

const objectSummary = (schema: JsonObject, depth: number): string => {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return '';
  const needed = new Set(Array.isArray(required) ? required : []);
  const entries = Object.entries(properties);
  const shown = entries.slice(0, MEMBERS_SHOWN_MAX).map(([name, member]) => {
    const optional = needed.has(name) ? '' : '?';
    const type = isJsonObject(member) ? typeSummary(member, depth + 1) : '';
    return `${name}${optional}${type === '' ? '' : `: ${type}`}`;
  });
  const more = entries.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
};

/** Plain strings say nothing; everything else does. */
const typeSummary = (schema: JsonObject, depth: number): string => {
  const choices = schema['enum'];
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, CHOICES_SHOWN_MAX).map((choice) => JSON.stringify(choice));
    return [...shown, ...(choices.length > shown.length ? ['…'] : [])].join(' | ');
  }
  switch (schema['type']) {
    case 'string':
      return '';
    case 'object': {
      const members = depth >= DEPTH_MAX ? '…' : objectSummary(schema, depth);
      return `{${members}}`;
    }
    case 'array': {
      const { items } = schema;
      const inner = isJsonObject(items) ? typeSummary(items, depth) : '';
      return `${inner === '' ? 'text' : inner.includes(' | ') ? `(${inner})` : inner}[]`;
    }
    default:
      return typeof schema['type'] === 'string' ? schema['type'] : 'any';
  }
};
