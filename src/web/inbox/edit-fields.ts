/**
 * Arguments as fields: every value by its place, and the whole text again with some of them changed. Works on the text,
 * so that no digit of a number and no order of members is lost on the way. Pure.
 */

export type ArgumentField = {
  /** JSON Pointer (RFC 6901). */
  readonly at: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'null';
  /** As it stands in a field. */
  readonly value: string;
};

type Node =
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, node: Node])[] }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'literal'; readonly source: string };

/** Undefined where the text is no JSON. Empty lists and objects are no fields: they are changed as JSON. */
export const fieldsOf = (args: string): readonly ArgumentField[] | undefined => {
  const tree = treeOf(args);
  return tree && fields(tree, '');
};

const fields = (node: Node, at: string): readonly ArgumentField[] => {
  if (node.kind === 'literal') return [fieldOf(node.source, at)];
  return membersOf(node).flatMap(([key, inner]) => fields(inner, `${at}/${escaped(key)}`));
};

const fieldOf = (source: string, at: string): ArgumentField => {
  if (source.startsWith('"')) return { at, kind: 'text', value: JSON.parse(source) as string };
  if (source === 'null') return { at, kind: 'null', value: source };
  return { at, kind: source === 'true' || source === 'false' ? 'boolean' : 'number', value: source };
};

const membersOf = (node: Exclude<Node, { readonly kind: 'literal' }>) =>
  node.kind === 'object' ? node.members : node.items.map((item, i) => [String(i), item] as const);

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** JSON text of the arguments with these values in the place of theirs. */
export const withFields = (args: string, changes: ReadonlyMap<string, string>): string => {
  const tree = treeOf(args);
  return tree ? written(tree, '', changes) : args;
};

const written = (node: Node, at: string, changes: ReadonlyMap<string, string>): string => {
  if (node.kind === 'object')
    return `{${node.members
      .map(([key, inner]) => `${JSON.stringify(key)}:${written(inner, `${at}/${escaped(key)}`, changes)}`)
      .join(',')}}`;
  if (node.kind === 'list')
    return `[${node.items.map((item, i) => written(item, `${at}/${i}`, changes)).join(',')}]`;
  const change = changes.get(at);
  if (change === undefined) return node.source;
  // Where no text stood, other JSON stands for itself; what is no JSON is a text, and the schema speaks.
  return !node.source.startsWith('"') && LITERAL.test(change) ? change : JSON.stringify(change);
};

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|([^\s{}[\],:"]+))\s*/y;
/** Deeper arguments are edited as JSON. */
const DEPTH_MAX = 60;

const treeOf = (text: string): Node | undefined => {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text))
    tokens.push(found[1] ?? found[2] ?? found[3] ?? '');
  return nodeOf(tokens.values(), 0);
};

/** The text is JSON, so every token stands where it may. */
const nodeOf = (tokens: Iterator<string>, depth: number, first?: string): Node | undefined => {
  const token = first ?? tokens.next().value;
  if (depth > DEPTH_MAX) return undefined;
  if (token === '{') return objectOf(tokens, depth);
  if (token === '[') return listOf(tokens, depth);
  return { kind: 'literal', source: String(token) };
};

const objectOf = (tokens: Iterator<string>, depth: number): Node | undefined => {
  const members: [string, Node][] = [];
  for (let token = tokens.next().value; token !== undefined && token !== '}'; token = tokens.next().value) {
    if (token === ',') continue;
    // The colon.
    tokens.next();
    const inner = nodeOf(tokens, depth + 1);
    if (!inner) return undefined;
    members.push([JSON.parse(String(token)) as string, inner]);
  }
  return { kind: 'object', members };
};

const listOf = (tokens: Iterator<string>, depth: number): Node | undefined => {
  const items: Node[] = [];
  for (let token = tokens.next().value; token !== undefined && token !== ']'; token = tokens.next().value) {
    if (token === ',') continue;
    const inner = nodeOf(tokens, depth + 1, String(token));
    if (!inner) return undefined;
    items.push(inner);
  }
  return { kind: 'list', items };
};
