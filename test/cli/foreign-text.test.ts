/** What a model, a tool, a file or a person wrote never reaches the terminal as a control, through any command. */
import { expect, test } from 'vitest';
import { clerk, sessionIn, type Project } from './project.ts';
import { forbiddenIn } from './terminal-stage.ts';

/** Title, colour, cursor, erase, hyperlink, 8-bit CSI and OSC, bidi override, zero width, bell, carriage return. */
const EVIL =
  '\u001b]0;pwned\u0007\u001b[31m\u001b[2J\u001b]8;;http://e.example\u001b\\x\u009b31m\u009d0;y\u009c\u202e\u200b\r\u0007end';
const QUOTED = JSON.stringify(EVIL);

const place = (): Project => {
  const stage = clerk(
    `
  - text: ${QUOTED}
    cost: 0
    calls:
      - { tool: files.read, args: { path: evil.txt } }
      - { tool: ${JSON.stringify(`no${EVIL}`)}, args: { a: ${QUOTED} } }
      - { tool: files.read, argsRaw: ${QUOTED} }
      - { tool: files.search, args: { text: ${QUOTED} } }
      - { tool: files.write, args: { path: ${JSON.stringify(`x${EVIL.replaceAll('/', '')}`)}, text: ${QUOTED}, new: true } }
      - { tool: files.write, args: { path: "ok.txt", text: ${QUOTED}, new: true } }
  - error: { kind: authentication, message: ${QUOTED} }
`,
    `policy:
  - { id: no-search, tools: ["files.search"], do: deny, reason: ${QUOTED} }
`,
  );
  stage.write('books/evil.txt', `${EVIL}\n`);
  return stage;
};

/** Every way to look at a session and at what is around it. */
const looks = (session: string): readonly (readonly string[])[] => [
  ['sessions'],
  ['show', session],
  ['show', session, '--timeline'],
  ['show', session, '--timeline', '--events', '--full'],
  ['show', session, '--request', '1'],
  ['show', session, '--request', '2', '--diff'],
  ['show', session, '--request', '2', '--raw'],
  ...Array.from({ length: 12 }, (_, i) => ['show', session, String(i + 1)]),
  ['show', session, '4', '--raw'],
  ['show', session, '--until', '5'],
  ['agents'],
  ['tools'],
  ['tools', EVIL],
  ['doctor'],
  ['help', EVIL],
  ['show', EVIL],
  ['sessions', '--status', EVIL],
  ['show', session, EVIL],
  [`no${EVIL}`],
];

const clean = (
  { stdout, stderr }: { stdout: string; stderr: string },
  colour: boolean,
  what: string,
): void => {
  expect({ what, found: forbiddenIn(stdout, colour) }).toEqual({ what, found: undefined });
  // On stderr our own erase of the line of progress may stand.
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const bare = stderr.replaceAll(/\r\u001b\[2K/g, '');
  expect({ what, found: forbiddenIn(bare, colour) }).toEqual({ what, found: undefined });
};

test(
  'no-escape-through-any-command: on a terminal, wide and narrow, in colour and without',
  { timeout: 120_000 },
  async () => {
    const stage = place();
    const run = await stage.on({ columns: 100 }, 'run', 'clerk', EVIL, '--key', 'k');
    clean(run, true, 'run');
    expect(run.stdout).toContain('␛');
    const session = sessionIn(run.stdout);
    for (const columns of [60, 130])
      for (const words of looks(session)) {
        const env = columns === 60 ? { NO_COLOR: '1' } : {};
        clean(await stage.on({ columns, env }, ...words), columns !== 60, words.join(' '));
      }
    clean(await stage.on({ columns: 80 }, 'send', session, EVIL), true, 'send');
    clean(await stage.on({ columns: 80 }, 'cancel', session, '--reason', EVIL), true, 'cancel');
    clean(await stage.on({ columns: 80 }, 'resume', session), true, 'resume');
    clean(await stage.on({ columns: 80 }, 'show', session), true, 'show after');
  },
);

test('no-escape-in-json-or-pipes: the value is the same, in harmless characters', async () => {
  const stage = place();
  const run = await stage.onrecord('run', 'clerk', EVIL, '--json');
  clean(run, false, 'run --json');
  const [, accepted] = run.stdout.split('\n');
  expect(JSON.parse(accepted ?? '')).toMatchObject({ event: { data: { input: [{ text: EVIL }] } } });
  const session = sessionIn((await stage.onrecord('sessions', '--json')).stdout);
  // Raw is what lies in the store, byte for byte: see below.
  for (const words of looks(session).filter((all) => !all.includes('--raw'))) {
    clean(await stage.onrecord(...words, '--json'), false, `${words.join(' ')} --json`);
    clean(await stage.onrecord(...words), false, words.join(' '));
  }
});

test('raw-in-a-pipe-is-exact: the stored bytes and nothing else', async () => {
  const stage = place();
  const session = sessionIn((await stage.onrecord('run', 'clerk', EVIL)).stdout);
  const { stdout } = await stage.onrecord('show', session, '2', '--raw');
  expect(JSON.parse(stdout)).toMatchObject({ seq: 2, data: { input: [{ text: EVIL }] } });
  expect(stdout.endsWith('\n')).toBe(false);
});
