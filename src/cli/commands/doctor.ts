/** onrecord doctor: whether all is well here, and what to do where it is not. */
import { countOf } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { examine, type Finding } from '../examination.ts';
import { EXIT } from '../exit-code.ts';
import { messageLines } from '../terminal/problem.ts';
import { pad, wrap } from '../terminal/cells.ts';
import { concat, EMPTY, line, repeat, type Shown, SIGN, theirs } from '../terminal/shown.ts';

const NAME_CELLS = 10;
const SIGNS = { ok: SIGN.ok, note: SIGN.wait, problem: SIGN.fail } as const;

export const doctor: Command = {
  name: 'doctor',
  summary: 'Looks whether program, store, agents and sessions are well, and says what to do.',
  arguments: [],
  options: [
    { flags: '--repair', description: 'wakes sessions again that could go on and that nobody drives' },
    {
      flags: '--rooms',
      description: 'also tries what bounds programs here, with every attack; takes a minute or two',
    },
  ],
  example: 'onrecord doctor',
  exits: [EXIT.done, EXIT.failed],
  async run(cli, { options }) {
    const { screen } = cli;
    const rooms = options['rooms'] === true ? await (await import('../room-proof.ts')).roomFindings() : [];
    const findings = [...(await examine(cli)), ...rooms];
    const woken = options['repair'] === true ? await repair(cli, findings) : undefined;
    const problems = findings.filter(({ level }) => level === 'problem').length;
    const notes = findings.filter(({ level }) => level === 'note').length;
    if (screen.jsonMode) screen.json({ findings, problems, notes, ...(woken && { woken }) });
    else {
      const { textColumns, terminal } = screen.look;
      const columns = terminal ? textColumns : Infinity;
      screen.out(...findings.flatMap((finding) => lines(finding, columns)), EMPTY, summary(problems, notes));
    }
    if (woken && !screen.jsonMode) screen.out(...repairLines(woken));
    return problems > 0 ? EXIT.failed : EXIT.done;
  },
};

/** A wake is a hint: where nothing has to be done, it does nothing. */
const repair = async (cli: Cli, findings: readonly Finding[]): Promise<readonly string[]> => {
  const sessions = findings.flatMap((finding) => finding.sessions ?? []);
  if (sessions.length === 0) return [];
  const runtime = await cli.runtime();
  for (const session of sessions) await runtime.wake(session);
  return sessions;
};

const repairLines = (woken: readonly string[]): readonly Shown[] =>
  woken.length === 0
    ? [line`Nothing had to be repaired.`]
    : [
        line`${SIGN.ok} ${countOf(woken.length, 'session')} woken. A worker that runs takes them up within seconds.`,
      ];

/** A mistake in a file is quoted over several lines. */
const lines = ({ level, name, text, hint }: Finding, columns: number): Shown[] => {
  const [first = EMPTY, ...more] = messageLines(text);
  const said = hint === undefined || more.length > 0 ? first : line`${first}: ${hint}`;
  const hanging = NAME_CELLS + 4;
  return [
    ...wrap(line`${SIGNS[level]} ${pad(theirs(name), NAME_CELLS)}  ${said}`, columns, { hanging }),
    ...more.map((shown) => concat(repeat(' ', hanging), shown)),
  ];
};

const summary = (problems: number, notes: number): Shown => {
  if (problems + notes === 0) return line`All is well.`;
  const parts = [
    ...(problems > 0 ? [countOf(problems, 'problem')] : []),
    ...(notes > 0 ? [countOf(notes, 'thing to know', 'things to know')] : []),
  ];
  return line`${parts.join(', ')}.`;
};
