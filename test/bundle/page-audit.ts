/** Reads a page strictly, without any code that made it: every angle bracket has to be one of a tag that the page may have. */

const TAGS: ReadonlySet<string> = new Set(
  'html head meta title style body header main nav section article h1 h2 h3 h4 p ul ol li dl dt dd div span b i small code pre a time details summary blockquote footer table thead tbody tfoot tr th td ins del svg rect'.split(
    ' ',
  ),
);
const VOID: ReadonlySet<string> = new Set(['meta', 'rect']);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  'lang charset http-equiv content name class id href title datetime aria-label aria-labelledby aria-hidden role tabindex scope data-l viewBox preserveAspectRatio x y width height'.split(
    ' ',
  ),
);

const TAG = /<(\/?)([a-zA-Z0-9]+)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*(\/?)>/y;

/** What is wrong with a page; nothing where it is as it should be. */
export const audit = (page: string): readonly string[] => {
  const wrong: string[] = [];
  const html = page.replace(/^<!doctype html>\n/, '').replace(/<style>[^<]*<\/style>/, '<style></style>');
  const stack: string[] = [];
  for (let at = 0; at < html.length; at++) {
    const character = html[at];
    if (character === '>') wrong.push(`a ">" stands alone: ${html.slice(Math.max(0, at - 40), at + 20)}`);
    if (character !== '<') continue;
    TAG.lastIndex = at;
    const match = TAG.exec(html);
    if (!match) {
      wrong.push(`no tag: ${html.slice(at, at + 60)}`);
      continue;
    }
    const [whole, closes = '', name = '', attributes = ''] = match;
    if (!TAGS.has(name)) wrong.push(`tag ${name}`);
    wrong.push(...badAttributes(name, attributes));
    if (closes === '/') {
      const open = stack.pop();
      if (open !== name)
        wrong.push(`</${name}> closes <${open ?? ''}>: ${html.slice(Math.max(0, at - 80), at)}`);
    } else if (!VOID.has(name)) stack.push(name);
    at += whole.length - 1;
  }
  if (stack.length > 0) wrong.push(`never closed: ${stack.join(' ')}`);
  return [...wrong, ...badIds(html)];
};

const badAttributes = (tag: string, attributes: string): readonly string[] =>
  [...attributes.matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)].flatMap(([, name = '', value = '']) => {
    if (!ATTRIBUTES.has(name)) return [`attribute ${name} of ${tag}`];
    return name === 'href' && !/^#[a-z0-9]+$/.test(value) ? [`link to ${value}`] : [];
  });

/** Every link leads somewhere, and no name stands twice. */
const badIds = (html: string): readonly string[] => {
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
  const known = new Set(ids);
  const links = [...html.matchAll(/ href="#([^"]*)"/g)].map(([, id = '']) => id);
  return [
    ...(known.size === ids.length ? [] : ['an id stands twice']),
    ...[...new Set(links)].filter((id) => !known.has(id)).map((id) => `no #${id} on the page`),
  ];
};
