/** Ways to tell people: a command of the operator's own, and a webhook. */
import { spawn } from 'node:child_process';
import { badInput } from '../errors.ts';
import type { Channel, Notice } from './notifier.ts';

const CHANNEL_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** Bytes of a hook's complaint that are kept. */
const COMPLAINT_BYTES_MAX = 2000;

const checkName = (name: string): string => {
  if (CHANNEL_NAME.test(name)) return name;
  throw badInput('channel-invalid', `"${name}" is no name of a channel: 1 to 64 of a-z, 0-9 and "-".`, {
    name,
  });
};

export type HookOptions = {
  readonly name?: string;
  /** The program and its arguments; no shell is in between. The notice comes as JSON through stdin. */
  readonly command: readonly string[];
  readonly cwd?: string;
};

/** Runs a command for each notice. It has told people when it ends with 0. Throws `channel-invalid`. */
export const hookChannel = ({ name = 'hook', command, cwd }: HookOptions): Channel => {
  const [program, ...args] = command;
  if (program === undefined || program === '')
    throw badInput('channel-invalid', 'A hook needs a command: ["./tell-us.sh", "--channel", "ops"].');
  return {
    name: checkName(name),
    deliver: (notice, { signal }) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          stdio: ['pipe', 'ignore', 'pipe'],
          signal,
          killSignal: 'SIGKILL',
          ...(cwd !== undefined && { cwd }),
        });
        let complaint = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          complaint = (complaint + text).slice(0, COMPLAINT_BYTES_MAX);
        });
        // A hook that does not read its input is no fault.
        child.stdin.on('error', () => undefined);
        child.stdin.end(`${JSON.stringify(notice)}\n`);
        child.on('error', reject);
        child.on('close', (code, killedBy) => {
          if (code === 0) return resolve();
          const how = code === null ? `was stopped by ${killedBy}` : `ended with ${code}`;
          reject(new Error(`${program} ${how}${complaint.trim() === '' ? '' : `: ${complaint.trim()}`}`));
        });
      }),
  };
};

export type WebhookOptions = {
  readonly name?: string;
  /** https, or http to a loopback address. */
  readonly url: string;
  /** `whsec_` and base64 of 24 to 64 bytes, as the Standard Webhooks specification has it. Never stored or printed. */
  readonly secret: string;
};

const SECRET_BYTES_MIN = 24;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Posts each notice to a URL, signed (github.com/standard-webhooks). Delivered when the answer is 2xx; a redirect
 * is not followed. Throws `channel-invalid`.
 */
export const webhookChannel = ({ name = 'webhook', url, secret }: WebhookOptions): Channel => {
  const target = checkUrl(url);
  const key = checkSecret(secret);
  return {
    name: checkName(name),
    deliver: async (notice, { signal, now }) => {
      // Loaded for the first notice: most processes never send one.
      const { Webhook } = await import('standardwebhooks');
      const body = bodyOf(notice, now);
      const at = new Date(now);
      const response = await fetch(target, {
        method: 'POST',
        redirect: 'manual',
        signal,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'onrecord',
          'webhook-id': notice.id,
          'webhook-timestamp': String(Math.floor(now / 1000)),
          'webhook-signature': new Webhook(key).sign(notice.id, at, body),
        },
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`${target.host} answered ${response.status}`);
    },
  };
};

const bodyOf = ({ kind, id, ...data }: Notice, now: number): string =>
  JSON.stringify({ type: kind, timestamp: new Date(now).toISOString(), data: { id, ...data } });

const checkUrl = (url: string): URL => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const plain = parsed?.protocol === 'http:' && LOOPBACK.has(parsed.hostname);
  if (parsed && (parsed.protocol === 'https:' || plain) && parsed.username === '') return parsed;
  throw badInput(
    'channel-invalid',
    'The webhook needs an https URL without a name and password in it; http only to this machine.',
    { origin: parsed?.origin ?? '' },
  );
};

const checkSecret = (secret: string): string => {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '';
  if (Buffer.from(encoded, 'base64').length >= SECRET_BYTES_MIN) return secret;
  throw badInput(
    'channel-invalid',
    `The secret of a webhook is "whsec_" and base64 of at least ${SECRET_BYTES_MIN} bytes.`,
  );
};
