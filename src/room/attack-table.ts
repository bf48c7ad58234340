/** What each room stops, as a table: made from what came of the attacks, not from what should have. */
import { LANGUAGE_ATTACKS, SYSTEM_ATTACKS, type Attack } from './attack.ts';
import { LEVELS, type Level } from './level.ts';

/** What came through, by attack; undefined where the room held. An attack that was not tried is not in it. */
export type Tried = ReadonlyMap<string, string | undefined>;

const cellOf = (attack: Attack, tried: Tried | undefined): string => {
  if (!tried?.has(attack.name)) return 'not tried';
  const wrong = tried.get(attack.name);
  return wrong === undefined ? attack.held : `CAME THROUGH: ${wrong.replaceAll('|', '\\|')}`;
};

const ALL: readonly Attack[] = [...LANGUAGE_ATTACKS, ...SYSTEM_ATTACKS];

/** Markdown. An attack that needs a whole Node cannot be tried where there is none. */
export const attackTable = (tried: ReadonlyMap<Level, Tried>): string => {
  const rows = ALL.map((attack) => {
    const cells = LEVELS.map((level) =>
      attack.engine === 'node' && level !== 'gvisor' ? 'no Node there' : cellOf(attack, tried.get(level)),
    );
    const by = attack.engine === 'node' ? ', by a whole Node' : '';
    return `| ${attack.name}${by} | ${cells.join(' | ')} |`;
  });
  const head = ['attack', ...LEVELS.map((level) => `\`${level}\``)];
  return [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...rows].join('\n');
};

const BEGIN = '<!-- what each room stops: written by scripts/attack-table.ts -->';
const END = '<!-- end -->';

/** A page with another table in the place for it. */
export const withTable = (page: string, table: string): string => {
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END).slice(1).join(END);
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
};
