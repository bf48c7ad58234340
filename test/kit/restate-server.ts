/** A real Restate server for a test file, of one node or of several, in a temporary folder, gone when the file is over. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './port.ts';

const BIN = join(
  import.meta.dirname,
  `../../node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);
const START_MS = 110_000;

/** Why no server can run here; undefined where one can. */
export const noRestate = (): string | undefined =>
  existsSync(BIN) ? undefined : `there is no Restate server at ${BIN}`;

type Ports = { readonly node: number; readonly admin: number; readonly ingress: number };

const portsOf = async (): Promise<Ports> => ({
  node: await freePort(),
  admin: await freePort(),
  ingress: await freePort(),
});

const settings = (name: string, folder: string, ports: Ports, all: readonly Ports[]): string => `
node-name = "${name}"
cluster-name = "onrecord-test"
base-dir = "${join(folder, name)}"
bind-address = "127.0.0.1:${ports.node}"
advertised-address = "http://127.0.0.1:${ports.node}"
listen-mode = "tcp"
disable-telemetry = true
log-filter = "warn"
auto-provision = ${ports === all[0]}
default-replication = ${Math.min(2, all.length)}
rocksdb-total-memory-size = "256 MB"
${all.length === 1 ? 'default-num-partitions = 4' : 'default-num-partitions = 3'}
[metadata-client]
addresses = [${all.map(({ node }) => `"http://127.0.0.1:${node}"`).join(', ')}]
[admin]
bind-address = "127.0.0.1:${ports.admin}"
[ingress]
bind-address = "127.0.0.1:${ports.ingress}"
`;

export class RestateNode {
  readonly ports: Ports;
  readonly #file: string;
  readonly #log: string;
  #process: ChildProcess | undefined;

  constructor(folder: string, name: string, ports: Ports, all: readonly Ports[]) {
    this.ports = ports;
    this.#file = join(folder, `${name}.toml`);
    this.#log = join(folder, `${name}.log`);
    writeFileSync(this.#file, settings(name, folder, ports, all));
  }

  get ingress(): string {
    return `http://127.0.0.1:${this.ports.ingress}`;
  }

  get admin(): string {
    return `http://127.0.0.1:${this.ports.admin}`;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  run(): void {
    const log = openSync(this.#log, 'a');
    // It leaves folders where temporary files go, also when it ends well: they go with this one.
    const env = { ...process.env, TMPDIR: dirname(this.#file) };
    this.#process = spawn(BIN, ['--config-file', this.#file], { stdio: ['ignore', log, log], env });
  }

  /** Until it takes calls. */
  async ready(): Promise<void> {
    const until = Date.now() + START_MS;
    const urls = [`${this.admin}/health`, `${this.ingress}/restate/health`];
    for (;;) {
      const answers = await Promise.all(
        urls.map((url) =>
          fetch(url, { signal: AbortSignal.timeout(2000) }).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      if (answers.every(Boolean)) return;
      if (this.#process?.exitCode !== null || Date.now() > until)
        throw new Error(`Restate did not come up: ${readFileSync(this.#log, 'utf8').slice(-2000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'exit');
    child.kill(signal);
    await closed;
  }
}

export class RestateCluster {
  readonly nodes: readonly RestateNode[];
  readonly #folder: string;

  private constructor(nodes: readonly RestateNode[], folder: string) {
    this.nodes = nodes;
    this.#folder = folder;
  }

  static async start(count = 1): Promise<RestateCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'onrecord-restate-'));
    const all: Ports[] = [];
    for (let i = 0; i < count; i++) all.push(await portsOf());
    const nodes = all.map((ports, i) => new RestateNode(folder, `node-${i + 1}`, ports, all));
    const cluster = new RestateCluster(nodes, folder);
    for (const node of nodes) node.run();
    try {
      for (const node of nodes) await node.ready();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** A node that runs. */
  get alive(): RestateNode {
    const found = this.nodes.find((node) => node.isRunning);
    if (!found) throw new Error('no node runs');
    return found;
  }

  node(index: number): RestateNode {
    const node = this.nodes[index];
    if (!node) throw new Error(`there is no node ${index}`);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
