/** onrecord mcp: the tool servers of agent files: what was approved, what they offer now, and the approval itself. */
import { formatPatch, structuredPatch } from 'diff';
import { join as joined } from 'node:path';
import { badInput, OnrecordError } from '../../errors.ts';
import { sha256 } from '../../event/canonical.ts';
import { readPins, writePins, type Pinned } from '../../tool/mcp/pins.ts';
import { PINS_FILE } from '../../tool/mcp/server.ts';
import type { ServerTool } from '../../tool/mcp/definition.ts';
import type { JsonObject } from '../../event/json.ts';
import type { SetAsideTool } from '../../event/definition.ts';
import { openToolServer } from '../../tool/mcp/tools.ts';
import { countOf } from '../../view/format.ts';
import { nearest } from '../../view/nearest.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { diffLines } from '../terminal/diff.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, join, line, own, SIGN, strong, theirs, type Shown } from '../terminal/shown.ts';
import { configuredServers, type ConfiguredServer } from '../tool-servers.ts';
import { agentFiles } from '../yaml-agent.ts';

const DIGEST_CHARS = 12;

export const mcp: Command = {
  name: 'mcp',
  summary: 'Lists tool servers, looks at what they offer now, and approves their definitions.',
  arguments: [
    { name: 'action', description: 'list (default, starts nothing), look, approve NAME', required: false },
    { name: 'server', description: 'one server only', required: false },
  ],
  options: [
    {
      flags: '--digest <digest>',
      description: 'approves exactly what was shown with this digest, without asking',
    },
  ],
  example: 'onrecord mcp',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.waiting, EXIT.interrupted],
  async run(cli, input) {
    const [action = 'list', name] = input.args;
    const servers = chosen(cli, name);
    switch (action) {
      case 'list':
        return list(cli, servers);
      case 'look':
        return look(cli, servers);
      case 'approve':
        if (name === undefined)
          throw badInput('usage', 'mcp approve needs the name of a server.', {}, 'onrecord mcp');
        return approve(cli, servers[0] as ConfiguredServer, input);
      default:
        throw badInput(
          'usage',
          `mcp cannot "${action}": list, look or approve NAME.`,
          {},
          'onrecord help mcp',
        );
    }
  },
};

const pinsPath = (cli: Cli): string => joined(cli.place.folder, PINS_FILE);

const chosen = (cli: Cli, name: string | undefined): readonly ConfiguredServer[] => {
  const { folder } = cli.place;
  const all = configuredServers(agentFiles(folder), { folder, env: process.env });
  if (name === undefined) return all;
  const found = all.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  throw badInput(
    'tool-server-not-found',
    `No agent file names a tool server "${name}".${near === undefined ? '' : ` There is "${near}".`}`,
    { server: name },
    'onrecord mcp',
  );
};

const list = (cli: Cli, servers: readonly ConfiguredServer[]): ExitCode => {
  const { screen } = cli;
  const pins = readPins(pinsPath(cli));
  if (screen.jsonMode)
    screen.json(
      servers.map(({ name, place, files, env, unset }) => ({
        name,
        place,
        files,
        env,
        unset,
        approved: pins.get(name)?.tools.map((tool) => ({ name: tool.name, pin: tool.pin })),
      })),
    );
  else if (servers.length === 0) screen.note(line`No agent file names a tool server.`);
  else
    for (const [index, server] of servers.entries())
      screen.out(...(index > 0 ? [EMPTY] : []), ...headLines(server, pins.get(server.name)));
  return EXIT.done;
};

/** Which program is run, and what it gets to see. */
const headLines = (
  { name, place, files, env, unset }: ConfiguredServer,
  pinned: Pinned | undefined,
): Shown[] => {
  const approved =
    pinned === undefined
      ? line`${SIGN.wait} not approved: ${command('mcp', 'approve', name)}`
      : line`${SIGN.ok} ${countOf(pinned.tools.length, 'tool')} approved: ${pinned.tools.map((tool) => tool.name).join(', ')}`;
  return [
    line`${strong(name)}  ${theirs(place)}`,
    line`  ${approved}`,
    line`  ${dim('in')} ${theirs(files.join(', '))}`,
    ...(env.length > 0 ? [line`  ${dim('sees')} ${theirs(env.join(', '))}`] : []),
    ...(unset.length > 0 ? [line`  ${SIGN.fail} not set here: ${theirs(unset.join(', '))}`] : []),
  ];
};

type Difference = {
  readonly added: readonly ServerTool[];
  readonly changed: readonly { readonly before: ServerTool; readonly after: ServerTool }[];
  readonly removed: readonly ServerTool[];
};

type Offer = Pinned & { readonly setAside: readonly SetAsideTool[]; readonly difference: Difference };

const offerOf = async (server: ConfiguredServer, pinned: Pinned | undefined): Promise<Offer> => {
  // What the configuration names may be missing on the server, which is then a difference and no error.
  const { tools: only, ...options } = server.options;
  const opened = await openToolServer(options).catch((cause: unknown) => {
    throw new OnrecordError(cause instanceof Error ? cause.message : String(cause), {
      code: 'tool-server-unreachable',
      next: 'ask-a-person',
      cause,
    });
  });
  try {
    const { serverName, tools: all } = await opened.look();
    const tools = only ? all.filter((tool) => Object.hasOwn(only, tool.name)) : all;
    return {
      serverName,
      tools,
      setAside: opened.setAside,
      difference: differenceOf(pinned?.tools ?? [], tools),
    };
  } finally {
    await opened.close();
  }
};

const named = (all: readonly ServerTool[], name: string): ServerTool | undefined =>
  all.find((tool) => tool.name === name);

const differenceOf = (before: readonly ServerTool[], after: readonly ServerTool[]): Difference => ({
  added: after.filter(({ name }) => !named(before, name)),
  changed: after.flatMap((tool) => {
    const old = named(before, tool.name);
    return old && old.pin !== tool.pin ? [{ before: old, after: tool }] : [];
  }),
  removed: before.filter(({ name }) => !named(after, name)),
});

const isSame = ({ added, changed, removed }: Difference): boolean =>
  added.length + changed.length + removed.length === 0;

/** Of all that would be approved. */
const digestOf = ({ serverName, tools }: Pinned): string =>
  sha256([serverName, ...tools.map(({ pin }) => pin).toSorted()].join('\n')).slice(0, DIGEST_CHARS);

const look = async (cli: Cli, servers: readonly ConfiguredServer[]): Promise<ExitCode> => {
  const { screen } = cli;
  const pins = readPins(pinsPath(cli));
  const reports: unknown[] = [];
  let differs = false;
  for (const server of servers) {
    const offer = await offerOf(server, pins.get(server.name));
    differs ||= !isSame(offer.difference);
    if (screen.jsonMode) reports.push(offerJson(server, offer));
    else screen.out(line`${strong(server.name)}  ${theirs(server.place)}`, ...offerLines(cli, offer));
  }
  if (screen.jsonMode) screen.json(reports);
  return differs ? EXIT.waiting : EXIT.done;
};

const offerJson = ({ name, place }: ConfiguredServer, offer: Offer): unknown => ({
  name,
  place,
  digest: digestOf(offer),
  added: offer.difference.added.map((tool) => tool.name),
  changed: offer.difference.changed.map(({ after }) => after.name),
  removed: offer.difference.removed.map((tool) => tool.name),
  setAside: offer.setAside,
});

const offerLines = ({ screen }: Cli, { difference, setAside }: Offer): Shown[] => {
  const { added, changed, removed } = difference;
  const shown = (name: string, before: string, after: string): Shown[] => {
    const patch = structuredPatch(name, name, before, after, '', '', { context: 3 });
    return diffLines(formatPatch(patch), screen.look);
  };
  return [
    ...added.flatMap((tool) => [
      line`  ${SIGN.wait} ${strong(tool.name)} is new`,
      ...shown(tool.name, '', pretty(tool)),
    ]),
    ...changed.flatMap(({ before, after }) => [
      line`  ${SIGN.wait} ${strong(after.name)} has changed`,
      ...shown(after.name, pretty(before), pretty(after)),
    ]),
    ...removed.map((tool) => line`  ${SIGN.fail} ${strong(tool.name)} is not offered any more`),
    ...setAside.map(
      ({ name, message }) => line`  ${SIGN.cancelled} ${strong(name)} is set aside: ${message}`,
    ),
    ...(isSame(difference) ? [line`  ${SIGN.ok} as approved`] : []),
  ];
};

/** What a person reads first comes first. */
const pretty = ({ said, name, description }: ServerTool): string => {
  const { name: _, description: __, ...rest } = JSON.parse(said) as JsonObject;
  return `${JSON.stringify({ name, description, ...rest }, undefined, 2)}\n`;
};

const approve = async (cli: Cli, server: ConfiguredServer, input: Input): Promise<ExitCode> => {
  const { screen } = cli;
  const path = pinsPath(cli);
  const pins = readPins(path);
  const offer = await offerOf(server, pins.get(server.name));
  const digest = digestOf(offer);
  const given = givenOption(input, 'digest');
  if (!screen.jsonMode)
    screen.out(line`${strong(server.name)}  ${theirs(server.place)}`, ...offerLines(cli, offer));
  if (given === undefined && !isSame(offer.difference)) {
    const answer = await answerTo(cli, server, digest);
    if (answer !== undefined) return answer;
  } else if (given !== undefined && given !== digest)
    throw badInput(
      'digest-mismatch',
      `What the tool server "${server.name}" offers has the digest ${digest}, not "${given}". Nothing was approved.`,
      { server: server.name, digest },
      `onrecord mcp look ${server.name}`,
    );
  const { serverName, tools } = offer;
  writePins(path, new Map([...pins, [server.name, { serverName, tools }]]));
  if (screen.jsonMode) screen.json({ ...(offerJson(server, offer) as object), approved: true });
  else
    screen.out(
      line`${SIGN.ok} ${countOf(tools.length, 'tool')} approved, in ${PINS_FILE}. It belongs into version control.`,
    );
  return EXIT.done;
};

/** Undefined for a yes. */
const answerTo = async (
  cli: Cli,
  { name }: ConfiguredServer,
  digest: string,
): Promise<ExitCode | undefined> => {
  const { screen } = cli;
  const question = [
    EMPTY,
    line`${join([line`${strong(own('a'))} approve these definitions`, line`${strong(own('q'))} leave it`], own('   '))}`,
  ];
  const answer = await screen.askKey(question, ['a', 'q']);
  if (answer.kind === 'interrupted') return EXIT.interrupted;
  if (answer.kind === 'key' && answer.key === 'a') return undefined;
  if (screen.jsonMode) screen.json({ name, digest, approved: false });
  screen.note(line`Nothing was approved.`);
  screen.next({ command: command('mcp', 'approve', name, '--digest', digest) });
  return EXIT.waiting;
};
