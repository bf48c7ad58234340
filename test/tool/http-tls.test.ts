import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failure, get } from './http-world.ts';

/** DER, as far as a self-signed certificate for one name needs it (RFC 5280). */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));

const certificateFor = (host: string, keys: { publicKey: KeyObject; privateKey: KeyObject }): string => {
  const algorithm = der(0x30, oid('2a8648ce3d040302'));
  const name = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(host)))));
  const serial = createHash('sha256').update(host).digest().subarray(0, 8);
  serial[0] = 1;
  const alternative = der(0x30, oid('551d11'), der(0x04, der(0x30, der(0x82, Buffer.from(host)))));
  const authority = der(
    0x30,
    oid('551d13'),
    der(0x01, Buffer.from([255])),
    der(0x04, der(0x30, der(0x01, Buffer.from([255])))),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    der(0x30, time('200101000000Z'), time('491231235959Z')),
    name,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, alternative, authority)),
  );
  const signature = sign('sha256', body, keys.privateKey);
  const whole = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), signature));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`;
};

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ca = certificateFor('api.example', keys);
const seen: string[] = [];
const server = createServer(
  { cert: ca, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
  (request, response) => {
    seen.push(`${request.headers.host ?? ''} ${request.headers.authorization ?? ''}`);
    response.end('over TLS');
  },
);
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];

describe('the-certificate-is-the-host-s-not-the-address-s', () => {
  const credential = { header: 'authorization', name: 'KEY', value: () => 'Bearer s-0f1e2d3c4b5a' };

  test('a trusted certificate for the name is enough, whatever the address', async () => {
    const origin = `https://api.example:${port}`;
    const { result } = await get(
      { allow: [{ origin, allowPrivate: true, ca, credential }], resolve },
      { url: origin },
    );
    expect(result).toMatchObject({ text: 'over TLS', hops: [{ address: '127.0.0.1', credential: 'KEY' }] });
    expect(seen).toEqual([`api.example:${port} Bearer s-0f1e2d3c4b5a`]);
  });

  test.each([
    ['another name', 'https://other.example', { ca }],
    ['the address itself', 'https://127.0.0.1', { ca }],
    ['an authority that is not trusted', 'https://api.example', {}],
  ])('%s: refused before a request or credential is sent', async (_, host, trust) => {
    const before = seen.length;
    const origin = `${host}:${port}`;
    const error = await failure(
      get({ allow: [{ origin, allowPrivate: true, credential, ...trust }], resolve }, { url: origin }),
    );
    expect(error.code).toBe('tls-failed');
    expect(seen.length).toBe(before);
  });
});
