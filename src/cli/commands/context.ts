/** onrecord context: what a request held and what not, and why; what the next one would hold, and changing that. */
import { badInput } from '../../errors.ts';
import { rebuildAll, type WalkedRequest } from '../../context/rebuild.ts';
import type { NewFact } from '../../event/events.ts';
import type { LogStore } from '../../log/store.ts';
import { decide } from '../../session/decide.ts';
import { formatCost, formatCount, countOf } from '../../view/format.ts';
import { tokensIn } from '../../view/reading.ts';
import type { SessionRecord } from '../../view/record.ts';
import { nextPlan, sentPlan, type NextPlan, type SentPlan } from '../../view/request-plan.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { countLines, manifestLines, sharedWords } from '../context-lines.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, givenSeq, isGiven } from '../given.ts';
import { encodersOf } from '../proof.ts';
import { namedSession, openRecord, readRecord } from '../record.ts';
import { askedChange, type AskedChange } from '../selection-change.ts';
import { dim, EMPTY, line, own, SIGN, strong, type Shown } from '../terminal/shown.ts';

export const context: Command = {
  name: 'context',
  summary: 'Shows what a request held, what it did not and why; changes what later ones hold.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    { flags: '--request <number>', description: 'a request that was sent, from 1; default the last' },
    { flags: '--next', description: 'the next request as it would be' },
    { flags: '--all', description: 'every part in a row of its own' },
    { flags: '--without <turns>', description: 'leave turns out of later requests: "3", "1,4-6"' },
    { flags: '--with <turns>', description: 'take turns back that were left out by hand' },
    { flags: '--pin <turns>', description: 'keep turns whatever the policy says' },
    { flags: '--unpin <turns>', description: 'no longer pin them' },
    { flags: '--policy <policy>', description: 'all, last-turns:N, budget:TOKENS, or agent for its own' },
    { flags: '--summarise', description: 'let the model summarise what was said before the next request' },
    { flags: '--drop-reasoning', description: 'signed reasoning behind the cut may go' },
    { flags: '--reason <text>', description: 'why, for the record' },
    { flags: '--dry-run', description: 'show what a change would do to the next request; record nothing' },
  ],
  example: 'onrecord context s_7Q2M4K8D --without 1 --dry-run',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const session = namedSession(input, 'context');
    const change = askedChange(input);
    const number = givenSeq(input, 'request');
    if (number !== undefined && (change || isGiven(input, 'next')))
      throw badInput(
        'usage',
        '--request shows what was sent; it goes with no change and not with --next.',
        {},
        'onrecord help context',
      );
    const store = await openRecord(cli);
    const record = await readRecord(store, session);
    if (change) return changed(cli, { store, session, record }, change, input);
    const count = record.events.filter((event) => event.type === 'request.built').length;
    if (isGiven(input, 'next') || (number === undefined && count === 0))
      return showNext(cli, { store, session, record }, [], input);
    return showSent(cli, { store, session, record }, number ?? count, input);
  },
};

type Place = { readonly store: LogStore; readonly session: string; readonly record: SessionRecord };

const walk = ({ store, record }: Place): AsyncGenerator<WalkedRequest, void, undefined> =>
  rebuildAll(record.events, (digest) => store.blob(digest));

const lastOf = async (place: Place): Promise<WalkedRequest | undefined> => {
  let last: WalkedRequest | undefined;
  for await (const request of walk(place)) last = request;
  return last;
};

const showSent = async (cli: Cli, place: Place, number: number, input: Input): Promise<ExitCode> => {
  const { screen } = cli;
  const { session, record } = place;
  const plan = await sentPlan(session, record.events, walk(place), number);
  const { manifest, answer } = plan;
  if (screen.jsonMode) {
    screen.json({
      session,
      request: number,
      event: plan.seq,
      bytes: manifest.bytes,
      usage: answer?.usage ?? null,
      cost: answer?.cost ?? null,
      counts: manifest.counts,
      parts: manifest.parts,
    });
    return EXIT.done;
  }
  screen.out(
    line`${strong(line`Request ${number}`)} of ${session}, event ${plan.seq}, ${record.state.agent.model.name}`,
    sentLine(plan),
    EMPTY,
    ...manifestLines(screen, manifest, isGiven(input, 'all')),
    ...reportedLines(plan),
    ...countLines(manifest),
  );
  return EXIT.done;
};

const sentLine = ({ number, manifest, shared, answer }: SentPlan): Shown => {
  const { usage, cost } = answer ?? {};
  const tokens = usage
    ? countOf(tokensIn(usage), 'token')
    : `about ${countOf(Math.round(manifest.bytes * manifest.tokensPerByte), 'token')}`;
  const paid = answer ? line`, ${cost === undefined ? 'cost unknown' : formatCost(cost)}` : EMPTY;
  return line`${tokens} sent, ${sharedWords(shared?.bytes, manifest.bytes, `request ${number - 1}`)}${paid}`;
};

const reportedLines = ({ answer }: SentPlan): readonly Shown[] => {
  const { usage } = answer ?? {};
  if (!usage) return [];
  const { cacheRead, cacheWrite, input, output } = usage;
  return [
    EMPTY,
    line`Provider   read ${formatCount(cacheRead)}   written ${formatCount(cacheWrite)}   uncached ${formatCount(input)}   output ${formatCount(output)}`,
  ];
};

const planned = async (cli: Cli, place: Place, facts: readonly NewFact[]): Promise<NextPlan> =>
  nextPlan(place.session, place.record.events, {
    encoderOf: await encodersOf(cli),
    last: await lastOf(place),
    facts,
  });

const showNext = async (
  cli: Cli,
  place: Place,
  facts: readonly NewFact[],
  input: Input,
): Promise<ExitCode> => {
  const { screen } = cli;
  const plan = await planned(cli, place, facts);
  if (screen.jsonMode) screen.json(nextJson(place.session, plan));
  else screen.out(...nextLines(cli, place, plan, input));
  return plan.refused ? EXIT.failed : EXIT.done;
};

const nextLines = (cli: Cli, { session }: Place, plan: NextPlan, input: Input): readonly Shown[] => {
  const { manifest, refused, shared, state } = plan;
  const head = line`${strong(own('The next request'))} of ${session}, ${state.agent.model.name}`;
  if (!manifest) return [head, line`${SIGN.fail} ${refused?.message ?? ''}`];
  const tokens = Math.round(manifest.bytes * manifest.tokensPerByte);
  return [
    head,
    line`about ${countOf(tokens, 'token')}, ${sharedWords(shared?.bytes, manifest.bytes, 'the last one')}`,
    ...(plan.imagined ? [dim(own('Its message is not written yet; … stands for it.'))] : []),
    ...(plan.summaryFirst
      ? [dim(own('Before it the model is asked for a summary, which will stand in it.'))]
      : []),
    EMPTY,
    ...manifestLines(cli.screen, manifest, isGiven(input, 'all')),
    ...countLines(manifest),
  ];
};

const nextJson = (
  session: string,
  { manifest, refused, shared, summaryFirst, imagined }: NextPlan,
): Readonly<Record<string, unknown>> => ({
  session,
  request: 'next',
  imagined,
  summaryFirst,
  refused: refused ?? null,
  bytes: manifest?.bytes ?? null,
  sharedBytes: shared?.bytes ?? null,
  counts: manifest?.counts ?? null,
  parts: manifest?.parts ?? null,
});

const changed = async (cli: Cli, place: Place, asked: AskedChange, input: Input): Promise<ExitCode> => {
  const reason = givenOption(input, 'reason');
  const dropsReasoning = isGiven(input, 'dropReasoning');
  const before = await planned(cli, place, []);
  if (!isGiven(input, 'dryRun')) {
    const runtime = await cli.runtime();
    const options = { by: cli.actor, dropsReasoning, ...(reason !== undefined && { reason }) };
    const answered =
      asked.kind === 'compact'
        ? await runtime.compact(place.session, options)
        : await runtime.select(place.session, asked.change, options);
    const record = await readRecord(place.store, place.session);
    const after = await planned(cli, { ...place, record }, []);
    const said = answered.replayed
      ? own('It is so already; nothing was recorded.')
      : line`Recorded as event ${record.state.seq}.`;
    return showEffect(cli, { ...place, record }, { before, after, said: line`${SIGN.ok} ${said}` }, input);
  }
  // What is only tried is held to the same rules as what is recorded.
  const command =
    asked.kind === 'compact'
      ? ({ kind: 'compact', by: cli.actor, ...(dropsReasoning && { dropsReasoning }) } as const)
      : ({
          kind: 'select',
          change: asked.change,
          by: cli.actor,
          ...(dropsReasoning && { dropsReasoning }),
        } as const);
  const decision = decide(place.record.state, command, place.record.state.lastAt);
  if (decision.kind === 'refused')
    throw badInput(decision.code, decision.message, { session: place.session });
  const after = await planned(cli, place, decision.kind === 'facts' ? decision.facts : []);
  return showEffect(cli, place, { before, after, said: line`${SIGN.decision} Nothing was recorded.` }, input);
};

type Effect = { readonly before: NextPlan; readonly after: NextPlan; readonly said: Shown };

const showEffect = (cli: Cli, place: Place, { before, after, said }: Effect, input: Input): ExitCode => {
  const { screen } = cli;
  if (screen.jsonMode)
    screen.json({ before: nextJson(place.session, before), after: nextJson(place.session, after) });
  else screen.out(said, ...effectLines(before, after), EMPTY, ...nextLines(cli, place, after, input));
  return after.refused ? EXIT.failed : EXIT.done;
};

/** What the change does to the next request: its size, and what of the last one's prefix it can still share. */
const effectLines = (before: NextPlan, after: NextPlan): readonly Shown[] => {
  const [one, other] = [before.manifest, after.manifest];
  if (!one || !other) return [];
  const tokens = (bytes: number): string => formatCount(Math.round(bytes * other.tokensPerByte));
  const stripped = (manifest: typeof one): number =>
    manifest.parts.filter((part) => part.kind === 'reasoning' && part.state === 'left-out').length;
  const gone = stripped(other) - stripped(one);
  return [
    line`  The next request has about ${tokens(other.bytes)} tokens instead of ${tokens(one.bytes)}.`,
    line`  It shares about ${tokens(after.shared?.bytes ?? 0)} with the last one instead of ${tokens(before.shared?.bytes ?? 0)}.`,
    ...(gone > 0
      ? [
          line`  ${SIGN.wait} Signed reasoning of ${countOf(gone, 'answer')} is taken out: it was signed over what is changed.`,
        ]
      : []),
  ];
};
