/** Credentials: from the environment or a file of the owner's own, for one origin, shown by name only. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { anthropic } from '../../src/model/anthropic.ts';
import { Credential, findCredential } from '../../src/model/provider/credential.ts';
import { tempFolder } from '../kit/folder.ts';
import { project } from '../cli/project.ts';
import { sendTo } from './openai-stage.ts';

const KEY = 'sk-ant-file-0a1b2c3d4e5f';
const wanted = { names: ['FIRST_KEY', 'SECOND_KEY'], origin: 'https://api.example.com' };

const fileWith = (text: string, mode: number): string => {
  const path = join(tempFolder(), 'credentials');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};

const caught = (
  act: () => unknown,
): { readonly code?: string; readonly message: string; readonly hint?: string } => {
  try {
    act();
  } catch (error) {
    return error as Error & { code: string; hint: string };
  }
  throw new Error('Nothing was thrown.');
};

describe('where a credential is found', () => {
  test('in the environment by the first name that is set, before any file', () => {
    const path = fileWith(`FIRST_KEY=${KEY}-of-file`, 0o600);
    const env = { SECOND_KEY: `${KEY}\n`, FIRST_KEY: ' ', ONRECORD_CREDENTIALS: path };
    const found = findCredential(wanted, env);
    expect(found?.toJSON()).toEqual({ name: 'SECOND_KEY', from: 'environment', origin: wanted.origin });
    expect(found?.reveal(wanted.origin)).toBe(KEY);
  });

  test('in a file that only its owner can read', () => {
    const text = `# keys\n\nOTHER=abcdefgh\nSECOND_KEY = "${KEY}"\r\n`;
    for (const mode of [0o600, 0o400]) {
      const path = fileWith(text, mode);
      const found = findCredential(wanted, { ONRECORD_CREDENTIALS: path });
      expect(found?.toJSON()).toMatchObject({ name: 'SECOND_KEY', from: path });
      expect(found?.reveal(wanted.origin)).toBe(KEY);
    }
  });

  test('in the default file below the home folder', () => {
    const home = tempFolder();
    mkdirSync(join(home, '.config/onrecord'), { recursive: true });
    const path = join(home, '.config/onrecord/credentials');
    writeFileSync(path, `FIRST_KEY=${KEY}\n`, { mode: 0o600 });
    expect(findCredential(wanted, { HOME: home })?.from).toBe(path);
    expect(findCredential(wanted, { HOME: tempFolder() })).toBeUndefined();
  });

  test('a file that others can read is not used, and the way out is said', () => {
    for (const mode of [0o644, 0o640, 0o660, 0o606]) {
      const path = fileWith(`FIRST_KEY=${KEY}`, mode);
      const error = caught(() => findCredential(wanted, { ONRECORD_CREDENTIALS: path }));
      expect(error).toMatchObject({ code: 'credential-file-open', hint: `chmod 600 ${path}` });
    }
  });

  test('what is wrong with a file or a key is said without the key', () => {
    const texts = [
      `FIRST_KEY ${KEY}`,
      `export FIRST_KEY=${KEY}`,
      `FIRST_KEY=${KEY} and more`,
      'FIRST_KEY=abc',
    ];
    for (const text of texts) {
      const error = caught(() => findCredential(wanted, { ONRECORD_CREDENTIALS: fileWith(text, 0o600) }));
      expect(error.code).toMatch(/^credential(-file)?-invalid$/);
      expect(error.message).not.toContain(KEY);
    }
    const gone = join(tempFolder(), 'nowhere');
    expect(caught(() => findCredential(wanted, { ONRECORD_CREDENTIALS: gone })).message).toContain(gone);
  });
});

describe('a credential', () => {
  const credential = new Credential({
    name: 'A_KEY',
    value: KEY,
    from: 'environment',
    origin: 'https://api.example.com/v1',
  });

  test('is for its own origin, and never in the clear over a network', () => {
    expect(credential.reveal('https://api.example.com')).toBe(KEY);
    const others = [
      'https://api.example.com:8443',
      'http://api.example.com',
      'https://example.com',
      'https://evil.test',
    ];
    for (const origin of others) {
      const error = caught(() => credential.reveal(origin));
      expect(error.code).toBe('credential-not-for-origin');
      expect(error.message).not.toContain(KEY);
    }
    const at = (origin: string): Credential => new Credential({ name: 'A', value: KEY, from: 'x', origin });
    expect(caught(() => at('http://gateway.test').reveal('http://gateway.test')).message).toContain(
      'Use https',
    );
    for (const origin of ['http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:9'])
      expect(at(origin).reveal(origin)).toBe(KEY);
  });

  test('shows its name wherever it is printed', () => {
    const shown = [
      JSON.stringify({ credential }),
      inspect(credential, { depth: 9, showHidden: true }),
      String(credential),
    ];
    expect(shown.filter((text) => text.includes(KEY))).toEqual([]);
    expect(shown.filter((text) => !text.includes('A_KEY'))).toEqual([]);
  });
});

describe('a model without its credential', () => {
  test('answers with what to do, and sends nothing', async () => {
    let sent = 0;
    const fetch = (): never => {
      sent++;
      throw new Error('sent');
    };
    const env = { HOME: tempFolder() };
    const { reply } = await sendTo(anthropic({ env, fetch }).model('claude-opus-5'));
    expect(reply).toMatchObject({ kind: 'failed', maybeBilled: false, problem: { kind: 'authentication' } });
    expect(JSON.stringify(reply)).toContain('Set ANTHROPIC_API_KEY, or write it');
    const open = { ONRECORD_CREDENTIALS: fileWith(`ANTHROPIC_API_KEY=${KEY}`, 0o644) };
    const refused = await sendTo(anthropic({ env: open, fetch }).model('claude-opus-5'));
    expect(JSON.stringify(refused.reply)).toContain('can be read by others');
    expect(sent).toBe(0);
  });
});

describe('onrecord models', () => {
  const AGENT = 'name: clerk\ninstructions: Help.\nmodel: local/llama\n';
  const SERVER = `
import { createServer } from 'node:http';
import { defineConfig } from '${join(import.meta.dirname, '../../src/index.ts')}';
import { chatServer } from '${join(import.meta.dirname, '../../src/model/chat.ts')}';
const server = createServer((request, response) => {
  // Its own connections would keep this process alive.
  response.shouldKeepAlive = false;
  if (request.headers.authorization !== 'Bearer ${KEY}') return void response.writeHead(401).end('{"error":{"message":"bad ' + request.headers.authorization + '"}}');
  response.end(JSON.stringify({ data: [{ id: 'llama' }] }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
server.unref();
const baseUrl = 'http://127.0.0.1:' + server.address().port + '/v1';
export default defineConfig({ agents: [], providers: [chatServer({ name: 'local', baseUrl, credential: 'LOCAL_KEY', env: { LOCAL_KEY: process.env.LOCAL_KEY_OF_TEST } })] });
`;

  const run = async (
    key: string,
    ...words: readonly string[]
  ): ReturnType<ReturnType<typeof project>['onrecord']> => {
    const place = project({ 'onrecord.config.ts': SERVER, 'agents/clerk.yaml': AGENT });
    const env = {
      LOCAL_KEY_OF_TEST: key,
      HOME: place.folder,
      ANTHROPIC_API_KEY: undefined,
      OPENAI_API_KEY: undefined,
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    // A process of its own: the environment is what it is given.
    return place.start('models', ...words).done;
  };

  test('lists credentials by name only, and who uses a provider', async () => {
    const { stdout, code } = await run(KEY);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^provider +credential +used by +at$/m);
    expect(stdout).toMatch(/^local +✓ LOCAL_KEY +clerk \(llama\) +http:\/\/127\.0\.0\.1:\d+\/v1$/m);
    expect(stdout).toMatch(/^anthropic +none found/m);
    expect(stdout).not.toContain(KEY);
  });

  test('--check says whether each answers, and exits accordingly', async () => {
    const good = await run(KEY, '--check');
    expect(good.stdout).toMatch(/^local +✓ LOCAL_KEY +✓ [^ ]+ m?s, 1 model/m);
    expect(good.stdout).toMatch(/^anthropic +none found +not asked/m);
    expect(good.code).toBe(0);
    const bad = await run(`${KEY}-wrong`, '--check');
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('✗ authentication');
    expect(bad.stdout).toContain('[secret LOCAL_KEY]');
    expect(bad.stdout + bad.stderr).not.toContain(KEY);
    const json = await run(KEY, '--check', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      providers: [{ provider: 'local', answer: { kind: 'answers', models: ['llama'] } }, {}, {}],
    });
    expect(json.stdout).not.toContain(KEY);
  }, 120_000);

  test('an agent file with a model that nobody knows says so at its place', async () => {
    const place = project({ 'agents/clerk.yaml': 'name: clerk\ninstructions: Help.\nmodel: acme/large\n' });
    const { stderr, code } = await place.onrecord('models');
    expect(code).toBe(2);
    expect(stderr).toContain('agents/clerk.yaml:3');
    expect(stderr).toContain('There is no model "acme/large"');
  });
});
