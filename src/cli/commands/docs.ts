/** onrecord docs: the documentation that came with the program, as pages for a browser or one of them in the terminal. */
import { badInput } from '../../errors.ts';
import type { Manual, Page } from '../../manual/manual.ts';
import { nearest } from '../../view/nearest.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenPort } from '../given.ts';
import { line, SIGN } from '../terminal/shown.ts';
import { untilStopped } from '../until-stopped.ts';

export const docs: Command = {
  name: 'docs',
  summary: 'Serves the documentation on this machine, or prints a page of it.',
  arguments: [
    { name: 'page', description: 'a page, "page#heading", or the code of an error', required: false },
  ],
  options: [{ flags: '--port <number>', description: 'port, 0 for any that is free', default: '4281' }],
  example: 'onrecord docs concepts',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  async run(cli, input) {
    const { readManual } = await import('../../manual/manual.ts');
    const manual = readManual();
    const [wanted] = input.args;
    return wanted === undefined ? serve(cli, input, manual) : print(cli, manual, wanted);
  },
};

const HOST = '127.0.0.1';

const serve = async (cli: Cli, input: Input, manual: Manual): Promise<ExitCode> => {
  const { siteOf } = await import('../../manual/site.ts');
  const { listenPlainly } = await import('../../server/listen.ts');
  const door = await listenPlainly(siteOf(manual).fetch, {
    host: HOST,
    port: givenPort(input),
    hint: 'onrecord docs --port 0',
  });
  cli.screen.out(line`${SIGN.ok} The documentation is at ${door.url} until you press Ctrl C.`);
  if (cli.screen.jsonMode) cli.screen.jsonLine({ url: door.url });
  await untilStopped(cli);
  await door.close();
  return EXIT.done;
};

const print = async (cli: Cli, manual: Manual, wanted: string): Promise<ExitCode> => {
  const { sectionAt } = await import('../../manual/section.ts');
  const [name = '', anchor] = wanted.split('#');
  const page = pageNamed(manual, name);
  const code = page ? undefined : sectionAt(manual.pages.get(ERRORS), name);
  if (!page && !code) throw unknownPage(manual, name);
  const path = page?.path ?? ERRORS;
  const tokens = page ? (anchor === undefined ? page.tokens : sectionAt(page, anchor)) : code;
  if (!tokens)
    throw badInput('usage', `The page ${path} has no heading "${anchor}".`, {}, `onrecord docs ${name}`);
  const text = tokens.map(({ raw }) => raw).join('');
  if (cli.screen.jsonMode) cli.screen.json({ path, text });
  else if (!cli.screen.look.terminal) cli.screen.bytes(Buffer.from(text));
  else {
    const { manualLines } = await import('../manual-lines.ts');
    cli.screen.out(...manualLines(tokens, cli.screen.look));
  }
  return EXIT.done;
};

const ERRORS = 'docs/errors.md';

/** "tools", "docs/tools", "docs/tools.md" and "tools.md" are one page. */
const pageNamed = ({ pages }: Manual, name: string): Page | undefined =>
  [
    name,
    `${name}.md`,
    `docs/${name}`,
    `docs/${name}.md`,
    `docs/reference/${name}.md`,
    `${name.toUpperCase()}.md`,
  ]
    .map((path) => pages.get(path))
    .find((page) => page !== undefined);

const unknownPage = ({ pages }: Manual, name: string): Error => {
  const names = [...pages.keys()]
    .filter((path) => path.startsWith('docs/') && !path.startsWith('docs/decisions/'))
    .map((path) => path.replace(/^docs\/(?:reference\/)?/, '').replace(/\.md$/, ''))
    .filter((page) => page !== 'README')
    .toSorted();
  const near = nearest(name, names);
  const meant = near === undefined ? ` There are ${names.join(', ')}.` : ` Did you mean ${near}?`;
  return badInput('usage', `There is no page "${name}".${meant}`, { page: name }, 'onrecord docs');
};
