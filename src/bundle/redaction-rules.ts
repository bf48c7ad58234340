/**
 * What is to be removed, as a list of rules: `all`, `private`, `tool:mail.read` (a trailing `.*` stands for all with
 * that prefix), `type:response.received`, `field:email`, `pointer:/outcome/content/0/text` (RFC 6901 into an event's
 * data, `*` stands for each item).
 */
import { badInput } from '../errors.ts';
import { isEventType } from '../event/events.ts';

export type RedactionRule =
  | { readonly kind: 'all' | 'private'; readonly text: string }
  | { readonly kind: 'tool' | 'type' | 'field'; readonly name: string; readonly text: string }
  | { readonly kind: 'pointer'; readonly path: readonly string[]; readonly text: string };

export const RULES_MAX = 1000;

/** Rules stand apart by commas or lines; a line that begins with # says nothing. Throws `redaction-invalid`. */
export const parseRules = (text: string): readonly RedactionRule[] => {
  const words = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => line.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0) throw invalid('No rule was given.');
  if (words.length > RULES_MAX) throw invalid(`${words.length} rules were given; ${RULES_MAX} are taken.`);
  return [...new Set(words)].sort().map(parseRule);
};

const parseRule = (text: string): RedactionRule => {
  if (text === 'all' || text === 'private') return { kind: text, text };
  const at = text.indexOf(':');
  const [kind, name] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (name === '') throw invalid(`"${text}" is no rule.`);
  switch (kind) {
    case 'type':
      if (!isEventType(name)) throw invalid(`"${text}" names no type of event.`);
      return { kind, name, text };
    case 'tool':
    case 'field':
      return { kind, name, text };
    case 'pointer':
      if (!name.startsWith('/')) throw invalid(`"${text}" is no JSON Pointer: it begins with "/".`);
      return { kind, path: name.slice(1).split('/').map(unescaped), text };
    default:
      throw invalid(`"${text}" is no rule.`);
  }
};

const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

const invalid = (message: string): Error =>
  badInput(
    'redaction-invalid',
    `${message} There are: all, private, tool:NAME, type:EVENT, field:NAME, pointer:/PATH.`,
    {},
    'onrecord help export',
  );

/** What is known of a place when rules are asked about it. */
export type RulePlace = {
  readonly type: string;
  /** The tool that the place is about. */
  readonly tool: string | undefined;
  /** Whether that tool is labelled private in the definition that stood then. */
  readonly isPrivate: boolean;
  readonly path: readonly string[];
  /** Names of members within it, where it is JSON text or a JSON value. */
  readonly members: ReadonlySet<string>;
  /** Whether it is taken whole by what points into it. */
  readonly isWhole: boolean;
};

/** The first rule that removes a place. */
export const ruleFor = (rules: readonly RedactionRule[], place: RulePlace): RedactionRule | undefined =>
  rules.find((rule) => fits(rule, place));

const fits = (rule: RedactionRule, { type, tool, isPrivate, path, members, isWhole }: RulePlace): boolean => {
  switch (rule.kind) {
    case 'all':
      return true;
    case 'private':
      return isPrivate;
    case 'type':
      return rule.name === type;
    case 'tool':
      return tool !== undefined && toolFits(rule.name, tool);
    case 'field':
      return path.includes(rule.name) || members.has(rule.name);
    case 'pointer':
      return pointsAt(rule.path, path, isWhole);
    default:
      return rule satisfies never;
  }
};

const pointsAt = (pointer: readonly string[], path: readonly string[], isWhole: boolean): boolean => {
  if (pointer.length > path.length && !isWhole) return false;
  return path.slice(0, pointer.length).every((segment, i) => pointer[i] === '*' || pointer[i] === segment);
};

const toolFits = (pattern: string, tool: string): boolean =>
  pattern.endsWith('.*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
