/** What a team starts from: read strictly, and held against the program that it runs. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { DRAIN_MS } from '../../src/worker/runtime.ts';
import { CLOSE_MS } from '../../src/server/listen.ts';
import { tempFolder } from '../kit/folder.ts';
import { grow } from '../kit/chain.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, POSTGRES_BIN, PostgresServer } from '../kit/postgres-server.ts';
import { House } from '../server/house.ts';
import { compose, DEPLOY, manifests, podOf, selectorOf, textOf } from './files.ts';

const cluster = manifests('kubernetes.yaml');
const database = manifests('kubernetes-postgres.yaml');
const all = [...cluster, ...database];
const pods = all.flatMap((one) => {
  const pod = podOf(one);
  return pod ? [[`${one.kind} ${one.metadata.name}`, one, pod] as const] : [];
});

/** The value behind an option, or true where it takes none; of one that the command does not have, an error. */
const optionsOf = async (words: readonly string[]): Promise<ReadonlyMap<string, string | true>> => {
  const [name = '', ...rest] = words;
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) throw new Error(`there is no command ${name}`);
  const { options } = await load();
  const given = new Map<string, string | true>();
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] ?? '';
    const known = options.find(({ flags }) => flags.split(/[ ,]+/).includes(word));
    if (!known) throw new Error(`${name} has no option ${word}`);
    const takes = known.flags.includes('<');
    given.set(word, takes ? (rest[++i] ?? '') : true);
  }
  return given;
};

const seconds = (duration: string | true | undefined): number => {
  const [, number, unit] = /^(\d+)([smh])$/.exec(String(duration)) ?? [];
  if (number === undefined) throw new Error(`no duration: ${String(duration)}`);
  return Number(number) * (unit === 'h' ? 3600 : unit === 'm' ? 60 : 1);
};

const isOurs = (image: string): boolean => image.startsWith('registry.example/');
const SECRET = /PASSWORD|KEY|STORE/;
/** What Kubernetes gives a pod where nothing else is said. */
const GRACE_SECONDS = 30;

describe('compose.yaml', () => {
  const { services, volumes } = compose();

  test('has the database, the migration, a web process, workers and backups', () => {
    expect(Object.keys(services).toSorted()).toEqual(['backup', 'migrate', 'postgres', 'web', 'worker']);
    expect(services['worker']?.deploy?.replicas).toBeGreaterThan(1);
  });

  test('whatever is waited for and mounted is there, and secrets come from outside', () => {
    const wrong: string[] = [];
    for (const [name, one] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(one.depends_on ?? {})) {
        const there = services[other];
        const ends =
          condition === 'service_healthy' ? there?.healthcheck !== undefined : there?.restart === 'no';
        if (!ends) wrong.push(`${name} waits for ever for ${other}`);
      }
      for (const mount of one.volumes ?? []) {
        const [from = ''] = mount.split(':');
        if (!(from.startsWith('.') ? existsSync(join(DEPLOY, from)) : from in volumes))
          wrong.push(`${name}: no ${from}`);
      }
      for (const [key, value] of Object.entries(one.environment))
        if (SECRET.test(key) && !/\$\{\w+/.test(value)) wrong.push(`${name}: ${key} stands in the file`);
    }
    const asked = [...textOf('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    for (const name of asked)
      if (!new RegExp(`^${name}=`, 'm').test(textOf('env.example')))
        wrong.push(`env.example does not say ${name}`);
    expect(wrong).toEqual([]);
  });

  test('commands and options are those of the program, and a worker is given longer than it drains', async () => {
    for (const name of ['migrate', 'web', 'worker']) await optionsOf(services[name]?.command ?? []);
    const worker = await optionsOf(services['worker']?.command ?? []);
    expect(seconds(services['worker']?.stop_grace_period)).toBeGreaterThan(seconds(worker.get('--drain')));
    expect(seconds(services['web']?.stop_grace_period) * 1000).toBeGreaterThan(CLOSE_MS + DRAIN_MS);
  });

  test('health is asked where the program answers it', async () => {
    const { routes } = (await House.open()).app;
    for (const name of ['web', 'worker']) {
      const script = services[name]?.healthcheck?.test.at(-1) ?? '';
      const [, port, path] = /127\.0\.0\.1:(\d+)(\/\w+)/.exec(script) ?? [];
      expect(routes).toContain(`GET ${path}`);
      const options = await optionsOf(services[name]?.command ?? []);
      expect(String(options.get('--probes') ?? '127.0.0.1:4280')).toBe(`127.0.0.1:${port}`);
    }
  });
});

describe.each(pods)('%s', (_, one, pod) => {
  const { spec } = pod;
  const [container] = spec.containers;

  test('mounts what it has, under labels that select it, as an account that is there', () => {
    const claimed = (one.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
    const have = [...spec.volumes.map(({ name }) => name), ...claimed];
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(have.toSorted());
    expect(pod.metadata.labels).toMatchObject(selectorOf(one) ?? {});
    const accounts = all.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
    expect([...accounts, undefined]).toContain(spec.serviceAccountName);
  });

  test('takes secrets from the secret that the file says how to make, and holds none', () => {
    const made = [...textOf('kubernetes.yaml').matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
    const wrong = container.env.filter(({ name, valueFrom }) => {
      const { name: secret, key } = valueFrom?.secretKeyRef ?? {};
      return valueFrom ? secret !== 'onrecord' || !made.includes(key) : SECRET.test(name);
    });
    expect(wrong).toEqual([]);
  });

  test('probes ask what the program answers, at a port that it has', async () => {
    const { routes } = (await House.open()).app;
    const ports = (container.ports ?? []).map(({ name }) => name);
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const asked = [startupProbe, readinessProbe, livenessProbe].flatMap((probe) => probe?.httpGet ?? []);
    expect(
      asked.filter(({ path, port }) => !routes.includes(`GET ${path}`) || !ports.includes(port)),
    ).toEqual([]);
    // Neither a store that is away nor sessions that stand still are a reason to end a process.
    expect(['/livez', undefined]).toContain(livenessProbe?.httpGet?.path);
  });
});

const ours = pods.filter(([, , { spec }]) => isOurs(spec.containers[0].image));

test.each(ours)(
  '%s: its command, ports and time to end are those of the program',
  async (_, one, { spec }) => {
    const [container] = spec.containers;
    const options = await optionsOf(container.args ?? []);
    const said = [options.get('--port'), options.get('--probes')].map((text) =>
      String(text).split(':').at(-1),
    );
    for (const { containerPort } of container.ports ?? []) expect(said).toContain(String(containerPort));
    const [, sleep = '0'] = container.lifecycle?.preStop.exec.command ?? [];
    const ends = [
      Number(sleep) + (CLOSE_MS + DRAIN_MS) / 1000,
      options.has('--drain') ? seconds(options.get('--drain')) : 0,
    ];
    // A job that is ended begins again; what serves and works is to end well.
    const grace = one.kind === 'Job' ? Infinity : (spec.terminationGracePeriodSeconds ?? GRACE_SECONDS);
    expect(grace).toBeGreaterThan(Math.max(...ends));
  },
);

describe('the manifests together', () => {
  test('services, budgets and policies select pods that are there, and claims are made', () => {
    const wrong: string[] = [];
    const names = (kind: string): readonly string[] =>
      all.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    for (const one of all) {
      const selector = podOf(one) ? undefined : selectorOf(one);
      if (!selector) continue;
      const chosen = pods.filter(([, , { metadata }]) =>
        Object.entries(selector).every(([key, value]) => metadata.labels[key] === value),
      );
      if (chosen.length !== 1) wrong.push(`${one.metadata.name} selects ${chosen.length}`);
      const ports = chosen.flatMap(([, , { spec }]) =>
        (spec.containers[0].ports ?? []).map(({ name }) => name),
      );
      for (const { targetPort } of one.kind === 'Service' ? (one.spec?.ports ?? []) : [])
        if (!ports.includes(targetPort)) wrong.push(`${one.metadata.name}: no port ${targetPort}`);
    }
    for (const [name, , { spec }] of pods)
      for (const { persistentVolumeClaim: claim } of spec.volumes)
        if (claim && !names('PersistentVolumeClaim').includes(claim.claimName))
          wrong.push(`${name}: no ${claim.claimName}`);
    expect(wrong).toEqual([]);
    expect(new Set(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(all.length);
  });

  const kubectl = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' }).status === 0;
  test.skipIf(!kubectl)(`kubectl puts them together${kubectl ? '' : ' (skipped: no kubectl)'}`, () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', DEPLOY], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split(/^---$/m)).toHaveLength(cluster.length);
  });
});

describe('Dockerfile', () => {
  const lines = textOf('Dockerfile')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => /^([A-Z]+) (.+)$/.exec(line)?.slice(1) ?? ['not an instruction', line]);
  const last = (instruction: string): string => lines.findLast(([name]) => name === instruction)?.[1] ?? '';

  test('ends as a program of the project, without root', async () => {
    const known = [
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'ENV',
      'USER',
      'EXPOSE',
      'STOPSIGNAL',
      'ENTRYPOINT',
      'CMD',
    ];
    expect(lines.map(([name]) => name).filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(last('ENTRYPOINT')).toBe('["onrecord"]');
    expect(last('ENV')).toContain(`PATH=/app/node_modules/.bin:`);
    await optionsOf(JSON.parse(last('CMD')) as string[]);
    expect(last('USER')).toBe('1000:1000');
    expect(last('STOPSIGNAL')).toBe('SIGTERM');
    // The version of Node that the package asks for.
    expect(lines.filter(([name, rest = '']) => name === 'FROM' && !rest.startsWith('node:24-'))).toEqual([]);
    expect(textOf('Dockerfile.dockerignore').split('\n')).toEqual(
      expect.arrayContaining(['.onrecord', '.env*', '**/node_modules', 'deploy']),
    );
  });
});

const reason =
  noPostgres() ??
  (existsSync(join(POSTGRES_BIN, 'pg_dump')) ? undefined : `there is no pg_dump at ${POSTGRES_BIN}`);

describe('backup.sh', () => {
  test('is shell', () => {
    const { status, stderr } = spawnSync('bash', ['-n', join(DEPLOY, 'backup.sh')], { encoding: 'utf8' });
    expect([status, stderr, (statSync(join(DEPLOY, 'backup.sh')).mode & 0o111) !== 0]).toEqual([0, '', true]);
  });

  test('gives a dump its name only when it is whole, and lets old ones go', () => {
    const folder = tempFolder();
    const bin = join(folder, 'bin');
    const write = (name: string, text: string): void => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text, { mode: 0o755 });
    };
    write(
      'bin/pg_dump',
      '#!/bin/bash\nfor word; do case "$word" in --file=*) echo half > "${word#--file=}";; esac; done\nexit ${FAIL:-0}\n',
    );
    write('bin/pg_restore', '#!/bin/bash\nexit 0\n');
    write('backups/onrecord-2020-01-01T000000Z.dump', 'old');
    spawnSync('touch', ['-d', '2020-01-01', join(folder, 'backups/onrecord-2020-01-01T000000Z.dump')]);
    const run = (FAIL: string): number | null =>
      spawnSync('bash', [join(DEPLOY, 'backup.sh')], {
        env: {
          ...process.env,
          PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
          BACKUPS: join(folder, 'backups'),
          FAIL,
        },
      }).status;
    const dumps = (): readonly string[] =>
      readdirSync(join(folder, 'backups')).filter((name) => !name.startsWith('.'));
    expect(run('1')).not.toBe(0);
    expect(dumps()).toEqual(['onrecord-2020-01-01T000000Z.dump']);
    expect(run('0')).toBe(0);
    expect(dumps()).toEqual([expect.stringMatching(/^onrecord-20[2-9]\d-.*Z\.dump$/)]);
  });

  test.skipIf(reason !== undefined)(
    `a dump restores as it was${reason === undefined ? '' : ` (skipped: ${reason})`}`,
    async () => {
      const server = await PostgresServer.start();
      try {
        const url = await server.store();
        const store = await openPostgres(url);
        const events = await grow(store, 's', ['a', 'b', 'c']);
        await store.close();
        const folder = tempFolder();
        const env = {
          ...process.env,
          PATH: `${POSTGRES_BIN}${delimiter}${process.env['PATH'] ?? ''}`,
          BACKUPS: folder,
          PGHOST: '127.0.0.1',
          PGPORT: String(server.port),
          PGUSER: 'onrecord',
          PGDATABASE: 'postgres',
        };
        const ran = (command: string, args: readonly string[]): void => {
          const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
          if (status !== 0) throw new Error(stderr);
        };
        ran('bash', [join(DEPLOY, 'backup.sh')]);
        const [dump = ''] = readdirSync(folder);
        ran('createdb', ['restored']);
        ran('pg_restore', ['--dbname=restored', '--no-owner', join(folder, dump)]);
        const restored = await openPostgres(url.replace('/postgres?', '/restored?'));
        expect(await restored.read('s')).toEqual(events);
      } finally {
        await server.stop();
      }
    },
    240_000,
  );
});
