/** An exact request, rebuilt from the record: its bytes, its JSON, or what is new in it. */
import type { LogStore } from '../log/store.ts';
import { formatBytes, formatCount, countOf } from '../view/format.ts';
import { tokensIn, type Reading } from '../view/reading.ts';
import { exactRequest, requestDiff, type ExactRequest, type PartChange } from '../view/request-view.ts';
import type { Cli } from './cli.ts';
import { jsonLines } from './coloured-json.ts';
import type { Input } from './command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { isGiven } from './given.ts';
import { pad } from './terminal/cells.ts';
import { dim, EMPTY, line, own, role, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';

export type Read = { readonly store: LogStore; readonly reading: Reading };

export const showRequest = async (
  cli: Cli,
  { store, reading }: Read,
  number: number,
  input: Input,
): Promise<ExitCode> => {
  const { screen } = cli;
  const blob: LogStore['blob'] = (digest) => store.blob(digest);
  const exact = await exactRequest(reading, number, blob);
  if (isGiven(input, 'raw')) {
    screen.bytes(Buffer.from(exact.rebuilt.body));
    return EXIT.done;
  }
  if (screen.jsonMode) {
    const { seq, bytes, turn, step } = exact.request;
    screen.json({ request: number, seq, turn, step, bytes, body: exact.rebuilt.body });
    return EXIT.done;
  }
  screen.note(...headLines(reading, exact), EMPTY);
  if (!isGiven(input, 'diff')) {
    screen.out(...jsonLines(parsed(exact.rebuilt.body)));
    return EXIT.done;
  }
  const before = number > 1 ? await exactRequest(reading, number - 1, blob) : undefined;
  const none = { head: '', tail: '', parts: [], body: '' };
  screen.out(...diffLines(requestDiff(before?.rebuilt ?? none, exact.rebuilt)));
  return EXIT.done;
};

const headLines = (reading: Reading, { request }: ExactRequest): Shown[] => {
  const usage = request.answer?.usage;
  const tokens = usage ? `, ${formatCount(tokensIn(usage))} tokens` : '';
  const fresh =
    request.newBytes === request.bytes ? 'all of it new' : `${formatBytes(request.newBytes)} of it new`;
  return [
    line`${SIGN.decision} ${strong(line`Request ${request.number}`)} of ${reading.state.session}, event ${request.seq}, ${reading.state.agent.model.name}`,
    line`  ${countOf(request.parts, 'part')}, ${formatBytes(request.bytes)}${tokens}, ${fresh}. Rebuilt and checked against the record.`,
  ];
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

const SIGN_ROLES = { '=': 'dim', '-': 'del', '+': 'add' } as const;
/** Code points of a part that stays as it is. */
const KEPT_SHOWN_MAX = 60;

const diffLines = (changes: readonly PartChange[]): Shown[] =>
  changes.flatMap(({ sign, seq, text }) => {
    const paint = SIGN_ROLES[sign];
    const place = pad(seq === undefined ? own('·') : dim(String(seq)), 4, 'right');
    if (sign === '=') {
      const start = Array.from(text.slice(0, 2 * KEPT_SHOWN_MAX))
        .slice(0, KEPT_SHOWN_MAX)
        .join('');
      const more = start.length < text.length ? dim(line`…  ${formatBytes(Buffer.byteLength(text))}`) : EMPTY;
      return [line`${dim('=')} ${place}  ${dim(theirs(start))}${more}`];
    }
    const lines = jsonLines(seq === undefined ? text : parsed(text));
    return lines.map((shown, index) =>
      index === 0
        ? line`${role(paint, sign)} ${place}  ${shown.as(paint)}`
        : line`${role(paint, sign)}       ${shown.as(paint)}`,
    );
  });
