/** Real folders and a caller for the mail tools, shared by their tests. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/event/json.ts';
import { type MailToolOptions, mailTools } from '../../src/tool/mail/tools.ts';
import type { Preview, PreviewBlock } from '../../src/tool/preview.ts';
import { type Reconciled, type Tool, type ToolContext, ToolError } from '../../src/tool/tool.ts';

export type MailBlock = Extract<PreviewBlock, { kind: 'mail' }>;

const silent = (): void => undefined;

export class MailWorld implements AsyncDisposable {
  readonly drafts: string;
  readonly inbox: string;
  readonly #root: string;
  readonly tools: readonly Tool[];
  now: number = Date.UTC(2026, 10, 27, 14, 2, 38, 123);

  private constructor(root: string, options: Partial<MailToolOptions>) {
    this.#root = root;
    this.drafts = join(root, 'drafts');
    this.inbox = join(root, 'inbox');
    this.tools = mailTools({
      drafts: this.drafts,
      inbox: this.inbox,
      from: { name: 'Jörg Büro', address: 'desk@corp.example' },
      ...options,
    });
  }

  static async open(options: Partial<MailToolOptions> = {}): Promise<MailWorld> {
    const root = await mkdtemp(join(tmpdir(), 'onrecord-mail-'));
    await mkdir(join(root, 'drafts'));
    await mkdir(join(root, 'inbox'));
    return new MailWorld(root, options);
  }

  context(key: string, base?: Json): ToolContext {
    return {
      signal: new AbortController().signal,
      idempotencyKey: key,
      attempt: 1,
      call: 's_TEST 1.1.1',
      log: { info: silent, warn: silent },
      now: () => this.now,
      startedAt: 0,
      made: [],
      callTool: () => undefined,
      base,
    };
  }

  tool(name: string): Tool {
    const found = this.tools.find((tool) => tool.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  }

  async preview(given: object, key = 'k1'): Promise<Preview> {
    const { preview } = this.tool('mail.draft');
    if (!preview) throw new Error('no preview');
    return preview(given as never, this.context(key));
  }

  async block(given: object): Promise<MailBlock> {
    const block = (await this.preview(given)).blocks.find((one): one is MailBlock => one.kind === 'mail');
    if (!block) throw new Error('no mail block');
    return block;
  }

  async execute(given: object, base: Json | undefined, key = 'k1'): Promise<JsonObject> {
    return (await this.tool('mail.draft').execute(given as never, this.context(key, base))) as JsonObject;
  }

  async reconcile(given: object, base: Json | undefined, key = 'k1'): Promise<Reconciled> {
    const { reconcile } = this.tool('mail.draft');
    if (!reconcile) throw new Error('no reconcile');
    return reconcile(given as never, this.context(key, base));
  }

  /** Preview, execute, and the bytes of the file. */
  async save(given: object, key = 'k1'): Promise<Uint8Array> {
    const { base } = await this.preview(given, key);
    const { path } = await this.execute(given, base, key);
    if (typeof path !== 'string') throw new Error('no path');
    return readFile(join(this.drafts, path));
  }

  async read<Result>(name: string, given: object): Promise<Result> {
    return (await this.tool(name).execute(given as never, this.context('k1'))) as Result;
  }

  async receive(name: string, text: string | Uint8Array): Promise<void> {
    await writeFile(
      join(this.inbox, name),
      typeof text === 'string' ? text.replaceAll(/\r?\n/g, '\r\n') : text,
    );
  }

  async files(): Promise<readonly string[]> {
    return (await readdir(this.drafts)).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true });
  }
}

/** The ToolError that a call ends in; anything else fails the test. */
export const failure = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ToolError)) throw new Error(`expected a ToolError, got ${String(error)}`);
  return error;
};
